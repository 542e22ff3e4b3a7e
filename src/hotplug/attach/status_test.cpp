#include "hotplug/attach/status.hpp"

#include <gtest/gtest.h>

#include "api/codec.hpp"
#include "hotplug/testing/seen_plugs.hpp"

namespace berth::hotplug::attach {
namespace {

using namespace testing;

enum class PodIs { absent, pending, ready, going };

const char* const kPhases[] = {
    "", "Pending", "Bound", "AttachedToNode", "MountedToPod", "Ready", "UnMountedFromPod", "Detaching"
};

SeenPlugs with(const std::string& phase, PodIs pod, bool in_spec) {
    SeenPlugs out;
    out.has_claim("v");
    if (in_spec) out.volume("v", "v");
    if (!phase.empty()) out.entry("v", phase);
    if (phase == "MountedToPod" || phase == "Ready") out.through("p");
    if (pod == PodIs::pending) out.attached("p", {"v"}, "Pending");
    if (pod == PodIs::ready) out.attached("p", {"v"});
    if (pod == PodIs::going) out.attached("p", {"v"}).going();
    return out;
}

std::string phase_after(const SeenPlugs& seen) {
    const auto list = volume_status(seen.view());
    return list.empty() ? "gone" : list.front().phase;
}

// 9.0, the controller's half: every phase, with and without a pod, in the spec and out of it.
TEST(VolumeStatus, TransitionTable) {
    struct Row {
        PodIs pod;
        bool in_spec;
        std::vector<std::string> to;  ///< by kPhases
    };
    const Row rows[] = {
        {PodIs::absent,  true,  {"Bound", "Bound", "Bound", "Bound", "MountedToPod", "Ready", "Bound", "Bound"}                        },
        {PodIs::pending,
         true,                  {"AttachedToNode",
          "AttachedToNode",
          "AttachedToNode",
          "AttachedToNode",
          "MountedToPod",
          "Ready",
          "Bound",
          "Bound"}                                                                                                       },
        {PodIs::ready,
         true,                  {"AttachedToNode",
          "AttachedToNode",
          "AttachedToNode",
          "AttachedToNode",
          "MountedToPod",
          "Ready",
          "Bound",
          "Bound"}                                                                                                       },
        {PodIs::going,   true,  {"Bound", "Bound", "Bound", "Bound", "MountedToPod", "Ready", "Bound", "Bound"}                        },
        {PodIs::absent,  false, {"gone", "gone", "gone", "gone", "MountedToPod", "Ready", "gone", "gone"}                              },
        {PodIs::pending,
         false,                 {"gone", "Detaching", "Detaching", "Detaching", "MountedToPod", "Ready", "Detaching", "Detaching"}     },
        {PodIs::ready,
         false,                 {"gone", "Detaching", "Detaching", "AttachedToNode", "MountedToPod", "Ready", "Detaching", "Detaching"}},
    };
    for (const Row& row : rows) {
        for (std::size_t i = 0; i < std::size(kPhases); ++i) {
            SCOPED_TRACE(
                std::string("from \"") + kPhases[i] + "\", pod " + std::to_string(static_cast<int>(row.pod)) +
                (row.in_spec ? ", in the spec" : ", not in the spec")
            );
            EXPECT_EQ(phase_after(with(kPhases[i], row.pod, row.in_spec)), row.to[i]);
        }
    }
}

api::VmVolumeStatus entry_after(const SeenPlugs& seen) { return volume_status(seen.view()).front(); }

TEST(VolumeStatus, H25_ReasonsAndMessages) {
    struct Row {
        const char* given;
        SeenPlugs seen;
        const char* phase;
        const char* reason;
        const char* message;
    };
    const Row rows[] = {
        {"missing", seen().volume("v", "c"), "Pending", "FailedPvcNotFound", "PVC c not found"},
        {"unbound", seen().disk("v", "WaitForFirstConsumer"), "Pending", "PVCNotReady", "PVC is in phase ClaimPending"},
        {"lost", seen().volume("v", "c").has_claim("c", "Lost"), "Pending", "PVCNotReady", "PVC is in phase Lost"},
        {"bound", seen().plugged("v"), "Bound", "PVCNotReady", "PVC is in phase Bound"},
        {"held",
         seen().plugged("v").held_by("v", "default/other"),
         "Pending", "PVCNotReady",
         "PVC v is in use by VMI other"},
        {"pod",
         seen().plugged("v").attached("p", {"v"}, "Pending"),
         "AttachedToNode", "SuccessfulCreate",
         "Created hotplug attachment pod p, for volume v"},
        {"pod goes",
         seen().has_claim("v").entry("v", "Detaching").attached("p", {"v"}).going(),
         "Detaching", "SuccessfulDelete",
         "Deleted hotplug attachment pod p, for volume v"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.given);
        const api::VmVolumeStatus got = entry_after(row.seen);
        EXPECT_EQ(got.phase, row.phase);
        EXPECT_EQ(got.reason, row.reason);
        EXPECT_EQ(got.message, row.message);
    }
}

TEST(VolumeStatus, H39_SortedUniqueAndWithTarget) {
    const auto list = volume_status(seen()
                                        .plugged("z")
                                        .plugged("b")
                                        .permanent("root")
                                        .entry("m", "Ready", "m")
                                        .entry("b", "Ready")
                                        .through("p")
                                        .view());
    api::VmiStatus status;
    status.volume_status = list;
    const json::Value document = api::encode(status);
    std::vector<std::string> names;
    for (const json::Value& entry : json::find(document, "/volumeStatus")->get_array()) {
        names.emplace_back(json::text_at(entry, "/name"));
        EXPECT_NE(json::find(entry, "/target"), nullptr) << names.back();
    }
    EXPECT_EQ(names, (std::vector<std::string>{"b", "m", "root", "z"}));
    EXPECT_EQ(list[2], (api::VmVolumeStatus{.name = "root", .target = "vda"})) << "what is not plugged is left alone";
    EXPECT_EQ(json::print(*json::find(document, "/volumeStatus/3/hotplugVolume")), "{}") << "no pod yet, and plugged";
}

TEST(VolumeStatus, R15_UidsOfRunningPodsOnly) {
    const auto uids = [](const SeenPlugs& seen) {
        std::string out;
        for (const auto& entry : volume_status(seen.view()))
            out += "[" + entry.hotplug_volume->attach_pod_uid.value + "]";
        return out;
    };
    EXPECT_EQ(
        uids(seen()
                 .plugged("a")
                 .plugged("b")
                 .plugged("c")
                 .attached("p", {"a"})
                 .attached("q", {"b"}, "Pending")
                 .attached("r", {"c"})),
        "[p][][r]"
    );
    EXPECT_EQ(uids(seen().plugged("a").entry("a", "Ready").through("p").attached("p", {"a"}).going()), "[]")
        << "R-17: never of a pod that goes";
    EXPECT_EQ(
        uids(seen().plugged("a").entry("a", "Ready").through("p").attached("p", {"a"}).attached("z", {"a"})), "[p]"
    ) << "5.8: the one that the status names already";
    SeenPlugs sidecar = seen().plugged("a").attached("p", {"a"});
    sidecar.pods.back().status.container_statuses.push_back({.name = "istio-proxy"});
    EXPECT_EQ(uids(sidecar), "[p]") << "hotplug/R-09: container hotplug-disk counts";
}

TEST(VolumeStatus, H28_NoPodOfAVolumeThatIsNotReady) {
    EXPECT_EQ(phase_after(seen().disk("v", "ImportInProgress")), "Bound");
    EXPECT_EQ(phase_after(seen().disk("v", "WaitForFirstConsumer").trigger("t", "v")), "Pending")
        << "R-19: a trigger pod is no attachment pod";
}

// hotplug/R-02, R-03: it comes back, whatever was under way, one step at a time.
TEST(VolumeStatus, R02_R03_AddedAgain) {
    for (const char* phase : {"Detaching", "UnMountedFromPod"}) {
        SeenPlugs seen = testing::seen().plugged("v").entry("v", phase).through("p").attached("p", {"v"});
        EXPECT_EQ(entry_after(seen).phase, "Bound") << phase;
        EXPECT_EQ(entry_after(seen).hotplug_volume->attach_pod_uid, Uid());
        seen.vmi.status.volume_status = volume_status(seen.view());
        EXPECT_EQ(entry_after(seen).phase, "AttachedToNode") << phase;
        EXPECT_EQ(entry_after(seen).hotplug_volume->attach_pod_uid, Uid{"p"});
    }
}

// hotplug/R-08: until the old claim is reported out, the entry is about the old claim.
TEST(VolumeStatus, R08_AnotherClaimUnderTheSameName) {
    SeenPlugs seen = testing::seen().volume("v", "c2").has_claim("c1").has_claim("c2");
    seen.entry("v", "Ready", "c1").through("p").attached("p", {"v=c1"}).attached("q", {"v=c2"});
    EXPECT_EQ(entry_after(seen), seen.vmi.status.volume_status.front());
    seen.vmi.status.volume_status.front().phase = "UnMountedFromPod";
    const api::VmVolumeStatus next = entry_after(seen);
    EXPECT_EQ(next.phase, "AttachedToNode");
    EXPECT_EQ(next.hotplug_volume->attach_pod_uid, Uid{"q"});
    EXPECT_EQ(next.persistent_volume_claim_info->claim_name, "c2");
}

// hotplug/R-36, R-04: what the launcher sees is not taken back.
TEST(VolumeStatus, R36_NeverDemotedWhileWanted) {
    for (const char* phase : {"MountedToPod", "Ready"}) {
        EXPECT_EQ(
            phase_after(seen().plugged("a").entry("a", phase).through("p").attached("q", {"b"}).plugged("b")), phase
        );
        EXPECT_EQ(phase_after(seen().volume("a", "a").entry("a", phase).through("p")), phase)
            << "its claim cannot be seen";
    }
}

TEST(VolumeStatus, EventsAreSaidOnce) {
    const auto said = [](const SeenPlugs& seen) {
        std::string out;
        for (const api::Emit& event : events(seen.view(), volume_status(seen.view()))) out += event.reason + " ";
        return out;
    };
    SeenPlugs seen = testing::seen().plugged("v").attached("p", {"v"});
    EXPECT_EQ(said(seen), "SuccessfulCreate ");
    seen.vmi.status.volume_status = volume_status(seen.view());
    EXPECT_EQ(said(seen), "");
    SeenPlugs going = testing::seen().has_claim("v").entry("v", "Detaching").attached("p", {"v"}).going();
    EXPECT_EQ(said(going), "SuccessfulDelete ");
    going.vmi.status.volume_status = volume_status(going.view());
    EXPECT_EQ(said(going), "");
    going.pods.clear();
    EXPECT_EQ(said(going), "VolumeUnplugged ");
}

}  // namespace
}  // namespace berth::hotplug::attach
