// Rows: what a machine's timeline says, from what objects and Events keep.
#include "explain/history.hpp"

namespace berth::explain {
namespace {

const Timestamp kBorn = *from_rfc3339("2026-01-02T00:00:00Z");

View machine() {
    View view;
    view.vmi.emplace().metadata.name = "web";
    view.vmi->metadata.uid = Uid{"u1"};
    view.vmi->metadata.creation_timestamp = kBorn;
    view.vmi->status.phase = "Running";
    view.vmi->status.node_name = "n1";
    view.vmi->status.phase_transition_timestamps = {
        {"Running", kBorn + std::chrono::seconds(3)}
    };
    return view;
}

json::Value event(const std::string& kind, const std::string& name, const std::string& uid, const std::string& more) {
    const std::string version = kind == "Pod" ? "v1" : "kubevirt.io/v1";
    return json::parse(
               R"({"involvedObject":{"apiVersion":")" + version + R"(","kind":")" + kind + R"(","name":")" + name +
               R"(","uid":")" + uid + R"("},)" + more + "}"
    )
        .value();
}

std::vector<std::string> lines(const View& view, const std::vector<json::Value>& events) {
    std::vector<std::string> out;
    for (const Step& step : history(view, events)) {
        out.push_back(to_rfc3339_micro(step.at).substr(17, 9) + (step.is_exact ? " " : "~") + step.what);
    }
    return out;
}

TEST(History, TakesTheExactTimeWhereAnEventHasIt) {
    const std::vector<json::Value> events{
        event("VirtualMachineInstance", "web", "u1", R"("reason":"Started","eventTime":"2026-01-02T00:00:03.250000Z")"),
    };
    EXPECT_EQ(
        lines(machine(), {}), (std::vector<std::string>{"00.000000~vmi/web created", "03.000000~guest started on n1"})
    );
    EXPECT_EQ(
        lines(machine(), events),
        (std::vector<std::string>{"00.000000~vmi/web created", "03.250000 guest started on n1"})
    );
}

TEST(History, TellsOfPodsThatAreGone) {
    const std::vector<json::Value> events{
        event(
            "VirtualMachineInstance",
            "web",
            "u1",
            R"("reason":"SuccessfulCreate","message":"Created attachment pod hp-volume-x","eventTime":"2026-01-02T00:00:04.000001Z")"
        ),
        event(
            "Pod",
            "hp-volume-x",
            "p1",
            R"("reason":"Scheduled","message":"on n1","eventTime":"2026-01-02T00:00:04.100000Z")"
        ),
        event(
            "Pod",
            "hp-volume-y",
            "p2",
            R"("reason":"Scheduled","message":"of another","eventTime":"2026-01-02T00:00:04.100000Z")"
        ),
        event(
            "Pod",
            "virt-launcher-web-abcde",
            "p3",
            R"("reason":"Scheduled","message":"on n1","eventTime":"2026-01-02T00:00:01.500000Z")"
        ),
        event(
            "Pod",
            "virt-launcher-web-older",
            "p4",
            R"("reason":"Scheduled","message":"on n2","eventTime":"2026-01-01T00:00:01.500000Z")"
        ),
        event(
            "VirtualMachineInstance",
            "web",
            "u1",
            R"("reason":"VolumeReady","message":"v","eventTime":"2026-01-02T00:00:05.500000Z","count":3,"lastTimestamp":"2026-01-02T00:00:09Z")"
        ),
    };
    EXPECT_EQ(
        lines(machine(), events),
        (std::vector<std::string>{
            "00.000000~vmi/web created",
            "01.500000 launcher pod Scheduled: on n1",
            "03.000000~guest started on n1",
            "04.000001 vmi/web SuccessfulCreate: Created attachment pod hp-volume-x",
            "04.100000 pod hp-volume-x Scheduled: on n1",
            "05.500000 vmi/web VolumeReady: v",
            "09.000000~vmi/web VolumeReady: v (3 times by then)",
        })
    );
}

TEST(History, SaysHowLongEachStepTook) {
    const std::vector<Step> steps{
        {kBorn,                                  true,  "a"},
        {kBorn + std::chrono::milliseconds(250), true,  "b"},
        {kBorn + std::chrono::seconds(2),        false, "c"},
    };
    EXPECT_EQ(
        print(steps),
        "     0.000 s               a\n"
        "     0.250 s  +  0.250 s   b\n"
        "     2.000 s  +  1.750 s ~ c\n"
    );
    const json::Value document = to_json(steps);
    EXPECT_EQ(json::text_at(document, "/1/at"), "2026-01-02T00:00:00.250000Z");
    EXPECT_EQ(json::text_at(document, "/2/step"), "c");
    EXPECT_FALSE(json::bool_at(document, "/2/exact"));
}

}  // namespace
}  // namespace berth::explain
