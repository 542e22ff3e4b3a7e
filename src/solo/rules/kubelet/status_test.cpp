// Rows of a pod's status: phases, container states, conditions, and when nothing is said.
#include "api/pod_annotations.hpp"
#include "solo/rules/kubelet/fixture.hpp"

namespace berth::solo::kubelet {
namespace {

using namespace testing;

TEST(KubeletStatus, PhasesAndStates) {
    struct Row {
        const char* scenario;
        Seen seen;
        const char* phase;
        const char* state;  ///< of the last container
        const char* ready;  ///< reason of Ready; "" = True
    };
    const auto failed = [](const char* reason, int count) {
        return [=](View& v) { v.start_failures["compute"] = {reason, "why", count, at(99)}; };
    };
    const Row rows[] = {
        {"K-94 new", Seen(never()), "Pending", R"({"waiting":{"reason":"ContainerCreating"}})", "ContainersNotReady"},
        {"L-23 waits for init",
         Seen(with_init(never())),
         "Pending", R"({"waiting":{"reason":"PodInitializing"}})",
         "ContainersNotReady"},
        {"L-23 init runs",
         Seen(with_init(never())).running("init"),
         "Pending", R"({"waiting":{"reason":"PodInitializing"}})",
         "ContainersNotReady"},
        {"I-27 runs",
         Seen(never()).running("compute"),
         "Running", R"({"running":{"startedAt":"2026-01-02T03:01:30Z"}})",
         ""},
        {"L-24 succeeded",
         Seen(never()).exited("compute", 0),
         "Succeeded", R"({"terminated":{"exitCode":0,"reason":"Completed","startedAt":"2026-01-02T03:01:30Z","finishedAt":"2026-01-02T03:01:35Z"}})",
         "PodCompleted"},
        {"R-02 failed",
         Seen(never()).exited("compute", 1),
         "Failed", R"({"terminated":{"exitCode":1,"reason":"Error","startedAt":"2026-01-02T03:01:30Z","finishedAt":"2026-01-02T03:01:35Z"}})",
         "PodFailed"},
        {"L-23 the sidecar still runs",
         Seen(with_sidecar(never())).running("log").exited("compute", 0),
         "Running", R"({"terminated":{"exitCode":0,"reason":"Completed","startedAt":"2026-01-02T03:01:30Z","finishedAt":"2026-01-02T03:01:35Z"}})",
         "ContainersNotReady"},
        {"D-13 between two tries",
         Seen(policy(pod("tp"), "OnFailure")).exited("compute", 1),
         "Running", R"({"terminated":{"exitCode":1,"reason":"Error","startedAt":"2026-01-02T03:01:30Z","finishedAt":"2026-01-02T03:01:35Z"}})",
         "ContainersNotReady"},
        {"D-13 backs off",
         Seen(policy(pod("tp"), "OnFailure")).exited("compute", 1, 95, 4),
         "Running", R"j({"waiting":{"reason":"CrashLoopBackOff","message":"back-off 8s restarting failed container=compute pod=tp_default(uid-tp)"}})j",
         "ContainersNotReady"},
        {"D-05 the same bytes cannot cure it",
         Seen(policy(pod("tp"), "OnFailure"))
             .with([](View& view) { view.pod->metadata.annotations[api::kPermanentExitCode] = "2"; })
             .exited("compute", 2),
         "Running", R"j({"waiting":{"reason":"CrashLoopBackOff","message":"back-off 300s restarting failed container=compute pod=tp_default(uid-tp)"}})j",
         "ContainersNotReady"},
        {"R-26 no image",
         Seen(never()).with(failed("ErrImagePull", 1)),
         "Pending", R"({"waiting":{"reason":"ErrImagePull","message":"why"}})",
         "ContainersNotReady"},
        {"P-69 still no image",
         Seen(never()).with(failed("ErrImagePull", 2)),
         "Pending", R"({"waiting":{"reason":"ImagePullBackOff","message":"why"}})",
         "ContainersNotReady"},
        {"K-94 bad environment",
         Seen(never()).with(failed("CreateContainerConfigError", 2)),
         "Pending", R"({"waiting":{"reason":"CreateContainerConfigError","message":"why"}})",
         "ContainersNotReady"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        const api::PodStatus status = status_of(row.seen.view);
        EXPECT_EQ(status.phase, row.phase);
        EXPECT_EQ(json::print(status.container_statuses.back().state), row.state);
        EXPECT_EQ(api::find_condition(status.conditions, "Ready")->reason, row.ready);
        EXPECT_EQ(status.pod_ip, "10.0.0.1");
    }
}

TEST(KubeletStatus, ConditionsSayWhich) {
    Seen seen = Seen(with_sidecar(with_init(never()))).running("init");
    const api::PodStatus status = status_of(seen.view);
    EXPECT_EQ(
        api::find_condition(status.conditions, "Initialized")->message, "containers with incomplete status: [init log]"
    );
    EXPECT_EQ(
        api::find_condition(status.conditions, "ContainersReady")->message,
        "containers with unready status: [log compute]"
    );
    EXPECT_EQ(api::find_condition(status.conditions, "PodScheduled")->status, "True");
}

TEST(KubeletStatus, L10_ReadinessGate) {
    api::Pod gated = never();
    gated.spec.readiness_gates = json::parse(R"([{"conditionType":"kubevirt.io/virtual-machine-unpaused"}])").value();
    Seen seen = Seen(gated).running("compute");
    api::PodStatus status = status_of(seen.view);
    EXPECT_EQ(api::find_condition(status.conditions, "ContainersReady")->status, "True") << "I-27 looks at containers";
    EXPECT_TRUE(status.container_statuses[0].ready);
    EXPECT_EQ(api::find_condition(status.conditions, "Ready")->reason, "ReadinessGatesNotReady");
    seen.view.pod->status.conditions = {
        {.type = "kubevirt.io/virtual-machine-unpaused", .status = "True"}
    };
    status = status_of(seen.view);
    EXPECT_EQ(api::find_condition(status.conditions, "Ready")->status, "True");
    EXPECT_NE(api::find_condition(status.conditions, "kubevirt.io/virtual-machine-unpaused"), nullptr)
        << "others' conditions stay";
    const api::Plan plan = sync(seen.view);
    EXPECT_EQ(status_patch(plan)->at, ResourceVersion{"5"}) << "written on the version that was read";
}

TEST(KubeletStatus, RestartsAndLastState) {
    Seen seen = Seen(policy(pod("tp"), "OnFailure")).exited("compute", 1, 80).running("compute", 1);
    const api::ContainerStatus status = status_of(seen.view).container_statuses[0];
    EXPECT_EQ(status.restart_count, 1);
    EXPECT_EQ(json::integer_at(status.last_state, "/terminated/exitCode"), 1);
    EXPECT_EQ(status.container_id, "crun://compute-1");
}

TEST(KubeletStatus, LostContainersDoNotRunAgain) {
    Seen seen = Seen(never()).running("compute").told();
    seen.view.containers.clear();  // the machine's records are gone
    const api::Plan plan = sync(seen.view);
    EXPECT_EQ(acts(plan), "") << "P-28: a guest is not started twice";
    const api::PodStatus status = status_of(seen.view);
    EXPECT_EQ(status.phase, "Failed");
    EXPECT_EQ(json::integer_at(status.container_statuses[0].state, "/terminated/exitCode"), 137);
    EXPECT_EQ(json::text_at(status.container_statuses[0].state, "/terminated/reason"), "ContainerStatusUnknown");
}

TEST(KubeletStatus, FinalStaysFinal) {
    Seen seen = Seen(never()).exited("compute", 0).told();
    seen.view.containers.clear();
    EXPECT_TRUE(sync(seen.view).intents.empty());
}

TEST(KubeletStatus, TermsOfSilence) {
    Seen seen = Seen(never());
    seen.view.has_directory = false;
    EXPECT_EQ(status_patch(sync(seen.view)), nullptr) << "it goes on at once";
    seen.view.has_directory = true;
    EXPECT_EQ(status_patch(sync(seen.view)), nullptr);
    seen.created("compute");
    EXPECT_EQ(status_patch(sync(seen.view)), nullptr) << "it comes up";
    seen.view.containers.clear();
    seen.running("compute");
    EXPECT_NE(status_patch(sync(seen.view)), nullptr);
    seen.told();
    EXPECT_TRUE(sync(seen.view).intents.empty()) << "nothing changed";
}

TEST(KubeletStatus, ToldBeforeTheObjectGoes) {
    const api::Plan plan = sync(Seen(deleted(never(), 125)).exited("compute", 0).view);
    EXPECT_TRUE(std::holds_alternative<api::Patch>(plan.intents.front()));
    EXPECT_EQ(json::text_at(status_patch(plan)->patch, "/status/phase"), "Succeeded");
}

}  // namespace
}  // namespace berth::solo::kubelet
