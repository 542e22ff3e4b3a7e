#include <gtest/gtest.h>

#include "placement/testing/seen_vmi.hpp"
#include "placement/vmi/facts.hpp"
#include "placement/vmi/sync.hpp"

namespace berth::placement::vmi {
namespace {

using namespace testing;

api::VmiStatus status_of(const SeenVmi& what) {
    const View view = what.view();
    return status(view, sync(view));
}

std::string show(const std::vector<api::Condition>& conditions, std::string_view type) {
    const api::Condition* one = api::find_condition(conditions, type);
    if (one == nullptr) return "-";
    return one->status + (one->reason.empty() ? "" : " " + one->reason);
}
std::string condition_of(const SeenVmi& what, std::string_view type) { return show(status_of(what).conditions, type); }

const char* const kWaits = "WaitForFirstConsumer";

TEST(VmiStatus, Phases) {
    const struct {
        const char* scenario;
        const char* given;
        SeenVmi seen;
        const char* phase;
    } rows[] = {
        {"I-22", "new", seen().phase(""), "Pending"},
        {"I-20", "its launcher is there", seen().launcher("Pending"), "Scheduling"},
        {"I-20", "its launcher is there, and it is deleted", seen().launcher("Pending").deleted(), "Scheduling"},
        {"I-21", "P-32: deleted", seen().deleted(), "Failed"},
        {"I-21", "P-30: a disk failed", seen().disk("root", "Failed"), "Failed"},
        {"I-21", "a disk failed, another waits", seen().disk("a", kWaits).disk("b", "Failed"), "Failed"},
        {"I-22", "a disk waits", seen().disk("root", kWaits), "Pending"},
        {"I-22", "P-29: a disk is being filled", seen().disk("root", "ImportInProgress"), "Pending"},
        {"R-01",
         "the temp pod ended well, the disk still waits", seen().disk("root", kWaits).temp_pod("Succeeded"),
         "Pending"},
        {"R-02", "P-37: the temp pod failed", seen().disk("root", kWaits).temp_pod("Failed"), "Failed"},
        {"I-24",
         "its compute ended badly", seen().disk("root", kWaits).temp_pod("Running").compute(exited_state(1)),
         "Failed"},
        {"I-24",
         "its compute ended well, a helper still runs", seen().disk("root", kWaits).temp_pod("Running").compute(exited_state(0)).helper(true),
         "Pending"},
        {"R-29",
         "P-40: the temp pod is being deleted", seen().disk("root", kWaits).temp_pod("Running").pod_deleting(),
         "Failed"},
        {"R-03", "the temp pod failed after binding", seen().disk("root", "PVCBound").temp_pod("Failed"), "Pending"},
        {"I-27", "the launcher is ready", seen().phase("Scheduling").launcher("Running"), "Scheduled"},
        {"I-27", "a helper is not ready", seen().phase("Scheduling").launcher("Running").helper(false), "Scheduling"},
        {"I-27", "a helper is ready", seen().phase("Scheduling").launcher("Running").helper(true), "Scheduled"},
        {"I-27",
         "the launcher is ready, the machine deleted", seen().phase("Scheduling").launcher("Running").deleted(),
         "Scheduling"},
        {"I-27",
         "dedicated CPUs without a guarantee", seen().dedicated().phase("Scheduling").launcher("Running").quality("Burstable"),
         "Scheduling"},
        {"I-27",
         "dedicated CPUs, guaranteed", seen().dedicated().phase("Scheduling").launcher("Running").quality("Guaranteed"),
         "Scheduled"},
        {"I-28", "the launcher failed", seen().phase("Scheduling").launcher("Failed"), "Failed"},
        {"I-28",
         "the launcher is being deleted", seen().phase("Scheduling").launcher("Running").pod_deleting(),
         "Failed"},
        {"R-64", "the launcher is gone", seen().phase("Scheduling"), "Failed"},
        {"P-80",
         "B-31: a disk failed while the launcher waits", seen().disk("root", "Failed").phase("Scheduling").launcher("Pending"),
         "Scheduling"},
        {"I-29", "the launcher of a running machine is gone", seen().phase("Running"), "Failed"},
        {"I-29", "of a scheduled one too", seen().phase("Scheduled"), "Failed"},
        {"I-30", "it runs", seen().phase("Running").launcher("Running"), "Running"},
        {"I-30",
         "a claim of a running machine was deleted", seen().missing_claim("c").phase("Running").launcher("Running"),
         "Running"},
        {"I-31", "over is over", seen().phase("Failed").launcher("Running"), "Failed"},
        {"I-31", "over is over", seen().phase("Succeeded"), "Succeeded"},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(std::string(row.scenario) + ": " + row.given);
        EXPECT_EQ(status_of(row.seen).phase, row.phase);
    }
}

TEST(VmiStatus, P07_Provisioning) {
    EXPECT_EQ(condition_of(seen().disk("root", kWaits).temp_pod("Pending"), "Provisioning"), "True");
    const SeenVmi bound = seen().disk("root", "PVCBound").has(condition("Provisioning", "True"));
    EXPECT_EQ(condition_of(bound, "Provisioning"), "True") << "kept while Pending";
    EXPECT_EQ(condition_of(seen().launcher("Pending").has(condition("Provisioning", "True")), "Provisioning"), "-");
    EXPECT_EQ(condition_of(seen().disk("root", "Succeeded"), "Provisioning"), "-");
}

TEST(VmiStatus, P07_ReadyReasonsInOrder) {
    EXPECT_EQ(condition_of(seen(), "Ready"), "False PodNotExists");
    EXPECT_EQ(condition_of(seen().disk("root", kWaits).temp_pod("Running"), "Ready"), "False PodNotExists");
    EXPECT_EQ(
        condition_of(seen().phase("Running").launcher("Running").pod_deleting(), "Ready"), "False PodTerminating"
    );
    EXPECT_EQ(condition_of(seen().phase("Scheduling").launcher("Running"), "Ready"), "False GuestNotRunning");
    EXPECT_EQ(condition_of(seen().phase("Running").launcher("Running"), "Ready"), "False PodConditionMissing");
    const SeenVmi ready = seen().phase("Running").launcher("Running").pod_condition(condition("Ready", "True"));
    EXPECT_EQ(condition_of(ready, "Ready"), "True");
    const SeenVmi gate =
        seen().phase("Running").launcher("Running").pod_condition(condition("Ready", "False", "ReadinessGatesNotReady")
        );
    EXPECT_EQ(condition_of(gate, "Ready"), "False ReadinessGatesNotReady");
}

TEST(VmiStatus, P15_PodScheduled) {
    const api::Condition no_node = condition("PodScheduled", "False", "Unschedulable", "0/3 nodes are available");
    const SeenVmi waiting = seen().disk("root", kWaits).temp_pod("Pending").pod_condition(no_node);
    EXPECT_EQ(condition_of(waiting, "PodScheduled"), "False Unschedulable") << "B-01";
    const SeenVmi retried = seen()
                                .disk("root", kWaits)
                                .temp_pod("Pending")
                                .has(no_node)
                                .pod_condition(condition("PodScheduled", "False", "SchedulerError"));
    EXPECT_EQ(condition_of(retried, "PodScheduled"), "False SchedulerError") << "P-48 P-74: another reason is shown";
    const SeenVmi scheduled =
        seen().disk("root", kWaits).temp_pod("Running").has(no_node).pod_condition(condition("PodScheduled", "True"));
    EXPECT_EQ(condition_of(scheduled, "PodScheduled"), "-");
    const SeenVmi launcher = seen().phase("Scheduling").launcher("Pending").pod_condition(no_node);
    EXPECT_EQ(condition_of(launcher, "PodScheduled"), "False Unschedulable") << "B-02";
    const SeenVmi placed =
        seen().phase("Scheduling").launcher("Running").has(no_node).pod_condition(condition("PodScheduled", "True"));
    EXPECT_EQ(condition_of(placed, "PodScheduled"), "-");
}

TEST(VmiStatus, P41_AMissingClaimIsShownAndCleared) {
    EXPECT_EQ(condition_of(seen().missing_claim("c"), "PodScheduled"), "False Unschedulable");
    EXPECT_EQ(condition_of(seen().missing_claim("c"), "Synchronized"), "False FailedPvcNotFound");
    const SeenVmi back = seen().bare_claim("c", "Bound").has(condition("Synchronized", "False", "FailedPvcNotFound"));
    EXPECT_EQ(condition_of(back, "Synchronized"), "-") << "R-09";
    EXPECT_EQ(condition_of(seen().ownerless_disk("root"), "Synchronized"), "False FailedDataVolumeImport") << "P-43";
}

TEST(VmiStatus, P69_ImageErrorsAreShown) {
    const json::Value waits = waiting_state("ErrImagePull", "no such image");
    EXPECT_EQ(
        condition_of(seen().phase("Scheduling").launcher("Pending").compute(waits), "Synchronized"),
        "False ErrImagePull"
    );
    const SeenVmi temp = seen().disk("root", kWaits).temp_pod("Pending").compute(waits);
    EXPECT_EQ(condition_of(temp, "Synchronized"), "False ErrImagePull") << "R-26";
    EXPECT_EQ(status_of(temp).phase, "Pending");
    const SeenVmi other =
        seen().phase("Scheduling").launcher("Pending").compute(waiting_state("ContainerCreating", ""));
    EXPECT_EQ(condition_of(other, "Synchronized"), "-");
}

TEST(VmiStatus, SynchronizedBelongsToTheNodeOnceItRuns) {
    const SeenVmi what = seen().phase("Running").launcher("Running").has(
        condition("Synchronized", "False", "Synchronizing with the Domain failed.")
    );
    EXPECT_EQ(condition_of(what, "Synchronized"), "False Synchronizing with the Domain failed.");
    EXPECT_EQ(condition_of(seen().missing_claim("c").phase("Running").launcher("Running"), "Synchronized"), "-");
}

TEST(VmiStatus, DataVolumesReady) {
    EXPECT_EQ(condition_of(seen().bare_claim("c"), "DataVolumesReady"), "-");
    EXPECT_EQ(condition_of(seen().disk("a", "Succeeded").disk_ready("True"), "DataVolumesReady"), "True AllDVsReady");
    EXPECT_EQ(
        condition_of(seen().disk("a", "Succeeded").disk_ready("True").disk("b", "Pending"), "DataVolumesReady"),
        "Unknown NotAllDVsReady"
    );
    EXPECT_EQ(
        condition_of(seen().disk("a", "Succeeded").disk("b", "Pending").disk_ready("False"), "DataVolumesReady"),
        "False NotAllDVsReady"
    );
}

TEST(VmiStatus, P75_ActivePods) {
    const std::map<std::string, std::string> temp = {
        {"virt-launcher-web-temp", "n1"}
    };
    EXPECT_EQ(status_of(seen().disk("root", kWaits).temp_pod("Running")).active_pods, temp);
    EXPECT_TRUE(status_of(seen().phase("Failed")).active_pods.empty());
}

TEST(VmiStatus, P09_P68_VolumeStatusAtTheHandOver) {
    SeenVmi what = seen().phase("Scheduling").disk("root", "Succeeded").bare_claim("logs", "Bound").launcher("Running");
    what.claims[1].spec.volume_mode = "Block";
    api::VmiStatus got = status_of(what);
    ASSERT_EQ(got.phase, "Scheduled");
    EXPECT_EQ(got.node_name, "n1");
    EXPECT_EQ(got.migration_transport, "Unix");
    ASSERT_EQ(got.volume_status.size(), 2u);
    EXPECT_EQ(got.volume_status[0].name, "logs");
    EXPECT_EQ(got.volume_status[0].persistent_volume_claim_info->filesystem_overhead, "0");
    EXPECT_EQ(got.volume_status[0].persistent_volume_claim_info->volume_mode, "Block");
    const api::ClaimSummary& root = *got.volume_status[1].persistent_volume_claim_info;
    EXPECT_EQ(root.claim_name, "root");
    EXPECT_EQ(root.access_modes, (std::vector<std::string>{"ReadWriteOnce"}));
    EXPECT_EQ(root.volume_mode, "Filesystem");
    EXPECT_EQ(root.capacity.at("storage").written, "1Gi");
    EXPECT_EQ(root.filesystem_overhead, "0.055");
    EXPECT_EQ(got.volume_status[1].phase, "");

    what.cdi_config.emplace().status.filesystem_overhead =
        api::FilesystemOverhead{.global = "0.06", .storage_class = {{"fast", "0.1"}}};
    EXPECT_EQ(status_of(what).volume_status[1].persistent_volume_claim_info->filesystem_overhead, "0.06");
    what.claims[0].spec.storage_class_name = "fast";
    EXPECT_EQ(status_of(what).volume_status[1].persistent_volume_claim_info->filesystem_overhead, "0.1");
}

TEST(VmiStatus, PluggedVolumesAreLeftAlone) {
    SeenVmi what = seen().phase("Running").disk("root", "Succeeded").plugged_claim("data").launcher("Running");
    api::VmVolumeStatus plugged{.name = "data", .target = "sda", .phase = "Ready", .reason = "VolumeReady"};
    plugged.hotplug_volume = api::HotplugVolumeStatus{.attach_pod_name = "hp-1"};
    api::VmVolumeStatus removed{.name = "older", .phase = "Detaching"};
    removed.hotplug_volume.emplace();
    api::VmVolumeStatus known{.name = "root", .target = "vda", .size = 5};
    what.vmi.status.volume_status = {plugged, removed, known};
    const auto got = status_of(what).volume_status;
    ASSERT_EQ(got.size(), 3u);
    EXPECT_EQ(got[0], plugged);
    EXPECT_EQ(got[1], removed);
    EXPECT_EQ(got[2].target, "vda") << "the node's agent wrote it";
    EXPECT_EQ(got[2].size, 5);
    EXPECT_TRUE(got[2].persistent_volume_claim_info.has_value());
}

TEST(VmiStatus, EachPhaseIsDatedOnce) {
    SeenVmi what = seen().launcher("Pending");
    what.now = kNow + 5s;
    const auto got = status_of(what).phase_transition_timestamps;
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[1].phase, "Scheduling");
    EXPECT_EQ(got[1].at, what.now);
    what.vmi.status.phase_transition_timestamps = got;
    what.now = kNow + 9s;
    EXPECT_EQ(status_of(what).phase_transition_timestamps, got);
}

// --- the whole plan
// ------------------------------------------------------------------------------------------------------

std::string plan_of(const SeenVmi& what) { return api::print(plan(what.view()).intents); }

// What a machine that is settled shows: the status applied to itself.
SeenVmi settled(SeenVmi what) {
    what.vmi.status = status_of(what);
    return what;
}

TEST(VmiPlan, ASettledMachineIsNotWritten) {
    for (SeenVmi what :
         {seen().disk("root", kWaits).temp_pod("Pending"),
          seen().disk("root", "ImportInProgress"),
          seen().missing_claim("c")}) {
        EXPECT_EQ(plan_of(settled(what)), "");
    }
}

TEST(VmiPlan, P75_FinalizersGoWithThePods) {
    EXPECT_EQ(plan_of(settled(seen().phase("Failed").launcher("Failed"))), "") << "a pod that ended still counts";
    const std::string freed = plan_of(settled(seen().phase("Failed")));
    EXPECT_EQ(freed, R"(patch virtualmachineinstance/default/web {"metadata":{"finalizers":[]}})") << "I-31";
    const std::string kept = plan_of(settled(seen().phase("Failed").of_vm(true)));
    EXPECT_EQ(
        kept,
        R"(patch virtualmachineinstance/default/web {"metadata":{"finalizers":["kubevirt.io/virtualMachineControllerFinalize"]}})"
    );
    const std::string orphaned = plan_of(settled(seen().phase("Succeeded").of_vm(false)));
    EXPECT_EQ(orphaned, freed) << "I-32 R-42 P-34: its VM is gone";
}

TEST(VmiPlan, P33_ADeletedMachineWithoutPodsIsFreedInOneWrite) {
    const api::Plan got = plan(seen().deleted().view());
    ASSERT_EQ(got.intents.size(), 1u);
    const auto& patch = std::get<api::Patch>(got.intents[0]);
    EXPECT_EQ(json::text_at(patch.patch, "/status/phase"), "Failed");
    EXPECT_NE(json::find(patch.patch, "/metadata/finalizers"), nullptr);
    EXPECT_EQ(patch.at, ResourceVersion{"7"}) << "lists are replaced whole: only on this version";
}

TEST(VmiPlan, HandOverLabelsTheMachineAndThenItsPod) {
    SeenVmi what = seen().phase("Scheduling").launcher("Running");
    const api::Plan got = plan(what.view());
    ASSERT_EQ(got.intents.size(), 3u);
    const auto& machine_patch = std::get<api::Patch>(got.intents[0]);
    EXPECT_EQ(json::text_at(machine_patch.patch, "/metadata/labels/kubevirt.io~1nodeName"), "n1");
    EXPECT_EQ(json::text_at(machine_patch.patch, "/status/phase"), "Scheduled");
    const auto& gate = std::get<api::Patch>(got.intents[1]);
    EXPECT_EQ(gate.part, api::Part::status);
    EXPECT_EQ(json::text_at(gate.patch, "/status/conditions/0/type"), "kubevirt.io/virtual-machine-unpaused");
    EXPECT_EQ(json::text_at(gate.patch, "/status/conditions/0/status"), "True");
    EXPECT_EQ(
        json::text_at(std::get<api::Patch>(got.intents[2]).patch, "/metadata/labels/kubevirt.io~1nodeName"), "n1"
    );
}

TEST(VmiPlan, APassThatMakesAPodLeavesTheStatusToTheNext) {
    const api::Plan got = plan(seen().disk("root", kWaits).view());
    ASSERT_EQ(got.intents.size(), 2U);
    EXPECT_TRUE(std::holds_alternative<api::Create>(got.intents[0]));
    const api::Plan failing = plan(seen().create_failed(ErrorKind::forbidden, "exceeded quota").view());
    EXPECT_TRUE(std::holds_alternative<api::Patch>(failing.intents[0]))
        << "P-62: an error is shown before the next try";
}

TEST(VmiPlan, StatusIsWrittenBeforePodsAreMade) {
    const api::Plan got = plan(seen().phase("").disk("root", kWaits).view());
    ASSERT_GE(got.intents.size(), 2u);
    EXPECT_TRUE(std::holds_alternative<api::Patch>(got.intents[0]));
    EXPECT_TRUE(std::holds_alternative<api::Create>(got.intents[1]));
    EXPECT_EQ(got.spec, "I-13");
}

}  // namespace
}  // namespace berth::placement::vmi
