#include <gtest/gtest.h>

#include "placement/testing/seen_vm.hpp"
#include "placement/vm/start.hpp"
#include "placement/vm/sync.hpp"

namespace berth::placement::vm {
namespace {

using namespace testing;

api::VmStatus status_of(SeenVm what) {
    const View view = what.view();
    return status(view, sync(view));
}
std::string word_of(SeenVm what) { return status_of(std::move(what)).printable_status; }

std::string condition_of(SeenVm what, std::string_view type) {
    const api::VmStatus status = status_of(std::move(what));
    const api::Condition* one = api::find_condition(status.conditions, type);
    return one == nullptr ? "-" : one->status + (one->reason.empty() ? "" : " " + one->reason);
}

SeenVm migrating() {
    SeenVm what = seen_vm("Always").vmi("Running");
    what.machine_of_vm->status.migration_state = json::Object{
        {"startTimestamp", "2026-01-02T00:00:00Z"}
    };
    return what;
}

TEST(VmPrintable, AllRowsInOrder) {
    const char* const kWaits = "WaitForFirstConsumer";
    const struct {
        const char* scenario;
        SeenVm seen;
        const char* word;
    } rows[] = {
        {"row 1", seen_vm("Always").vmi("Running").deleted(), "Terminating"},
        {"row 2: its machine is going", seen_vm("Always").vmi("Running").vmi_deleting(), "Stopping"},
        {"row 2: its machine is stopped by this pass", seen_vm("Halted").vmi("Running"), "Stopping"},
        {"row 3", migrating(), "Migrating"},
        {"row 4", seen_vm("Always").vmi("Running").vmi_condition(condition("Paused", "True")), "Paused"},
        {"row 5", seen_vm("Always").vmi("Running"), "Running"},
        {"row 5: running comes before disk errors", seen_vm("Always").disk("root", "Failed").vmi("Running"), "Running"},
        {"row 6, P-42",
         seen_vm("Always").vmi("Pending").vmi_condition(condition("Synchronized", "False", "FailedPvcNotFound")),
         "ErrorPvcNotFound"},
        {"row 7, P-30", seen_vm("Always").disk("root", "Failed"), "DataVolumeError"},
        {"row 7, P-29, B-03",
         seen_vm("Always").disk("root", "ImportInProgress").disk_condition(condition("Running", "False", "Error")),
         "DataVolumeError"},
        {"row 7: the image cannot be pulled",
         seen_vm("Always")
             .disk("root", "ImportScheduled")
             .disk_condition(condition("Running", "False", "ImagePullFailed")),
         "DataVolumeError"},
        {"row 7: a permanent error",
         seen_vm("Always")
             .disk("root", "ImportScheduled")
             .disk_condition(condition("Running", "False", "SourceNotSupported")),
         "DataVolumeError"},
        {"row 7: a stopped VM too", seen_vm("Halted").disk("root", "Failed"), "DataVolumeError"},
        {"row 7, R-33: not a crash loop", seen_vm("Always").disk("root", "Failed").vmi("Failed"), "DataVolumeError"},
        {"row 8, P-15, B-02",
         seen_vm("Always")
             .disk("root", kWaits)
             .vmi("Pending")
             .vmi_condition(condition("PodScheduled", "False", "Unschedulable")),
         "ErrorUnschedulable"},
        {"row 8, K-32: a scheduler error is none",
         seen_vm("Always")
             .disk("root", kWaits)
             .claim_of("root", "Pending")
             .vmi("Pending")
             .vmi_condition(condition("PodScheduled", "False", "SchedulerError")),
         "WaitingForVolumeBinding"},
        {"row 9, P-18", seen_vm("Always").disk("root", "ImportInProgress"), "Provisioning"},
        {"row 9: a stopped VM too", seen_vm("Halted").disk("root", "ImportInProgress"), "Provisioning"},
        {"row 9, R-49: it cannot be scheduled",
         seen_vm("Always")
             .disk("root", "ImportScheduled")
             .disk_condition(condition("Running", "False", "Unschedulable")),
         "Provisioning"},
        {"row 9: bound, the phase lags",
         seen_vm("Always").disk("root", kWaits).disk_condition(condition("Bound", "True")).vmi("Pending"),
         "Provisioning"},
        {"row 10, P-06",
         seen_vm("Always").disk("root", kWaits).claim_of("root", "Pending").vmi("Pending"),
         "WaitingForVolumeBinding"},
        {"row 10, R-35: a bare claim",
         seen_vm("Always").bare_claim("data", "Pending").vmi("Scheduling"),
         "WaitingForVolumeBinding"},
        {"row 10: a lost claim",
         seen_vm("Always").bare_claim("data", "Lost").vmi("Scheduling"),
         "WaitingForVolumeBinding"},
        {"row 10, P-24, B-28: not of a stopped VM",
         seen_vm("Halted").disk("root", kWaits).claim_of("root", "Pending"),
         "Stopped"},
        {"row 11, P-69",
         seen_vm("Always").vmi("Scheduling").vmi_condition(condition("Synchronized", "False", "ErrImagePull")),
         "ErrImagePull"},
        {"row 12",
         seen_vm("Always").vmi("Scheduling").vmi_condition(condition("Synchronized", "False", "ImagePullBackOff")),
         "ImagePullBackOff"},
        {"row 13: this pass starts it", seen_vm("Always"), "Starting"},
        {"row 13", seen_vm("Always").disk("root", "Succeeded").claim_of("root", "Bound").vmi("Scheduled"), "Starting"},
        {"row 13, R-34: once",
         seen_vm("Once").disk("root", kWaits).claim_of("root", "Pending").vmi("Pending"),
         "Starting"},
        {"row 14, P-38", seen_vm("Always").start_failures(1, "vmi-0", kNow + 30s), "CrashLoopBackOff"},
        {"row 14: counted by this pass", seen_vm("Always").vmi("Failed"), "CrashLoopBackOff"},
        {"row 15, P-17", seen_vm("Halted"), "Stopped"},
        {"row 15, P-27", seen_vm("Once").vmi("Succeeded"), "Stopped"},
        {"row 15: manual, not asked", seen_vm("Manual"), "Stopped"},
        {"row 16", seen_vm("WaitAsReceiver").vmi("WaitingForSync"), "WaitingForReceiver"},
        {"row 17", seen_vm("Always").vmi("Unknown"), "Unknown"},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.scenario);
        EXPECT_EQ(word_of(row.seen), row.word);
    }
}

TEST(VmStatus, V40_ConditionsAreTheMachines) {
    EXPECT_EQ(condition_of(seen_vm("Halted"), "Ready"), "False VMINotExists");
    EXPECT_EQ(condition_of(seen_vm("Always").vmi("Pending"), "Ready"), "False VMIConditionMissing");
    SeenVm ready = seen_vm("Always").vmi("Running").vmi_condition(condition("Ready", "True"));
    EXPECT_EQ(condition_of(ready, "Ready"), "True");
    EXPECT_TRUE(status_of(ready).ready);
    EXPECT_TRUE(status_of(ready).created);
    SeenVm mirrored = seen_vm("Always")
                          .vmi("Running")
                          .vmi_condition(condition("LiveMigratable", "False", "DisksNotLiveMigratable"))
                          .has(condition("Paused", "True"));
    EXPECT_EQ(condition_of(mirrored, "LiveMigratable"), "False DisksNotLiveMigratable");
    EXPECT_EQ(condition_of(mirrored, "Paused"), "-") << "gone on the machine, gone here";
    SeenVm own = seen_vm("Always")
                     .vmi("Running")
                     .vmi_condition(condition("Failure", "True"))
                     .vmi_condition(condition("RestartRequired", "True"));
    EXPECT_EQ(condition_of(own, "Failure"), "-") << "never copied";
    EXPECT_EQ(condition_of(own, "RestartRequired"), "-");
    EXPECT_EQ(
        condition_of(seen_vm("Halted").has(condition("ManualRecoveryRequired", "True")), "ManualRecoveryRequired"),
        "True"
    );
}

TEST(VmStatus, V44_FailureComesAndGoes) {
    SeenVm quota =
        seen_vm("Always").disk("root", "Pending").disk_condition(condition("Bound", "False", "ErrExceededQuota"));
    EXPECT_EQ(condition_of(quota, "Failure"), "True FailedCreate") << "P-65";
    EXPECT_EQ(condition_of(seen_vm("Always").has(condition("Failure", "True", "FailedCreate")), "Failure"), "-");
}

TEST(VmStatus, V41_RequestsAreTrimmed) {
    const auto count = [](SeenVm what) { return status_of(std::move(what)).state_change_requests.size(); };
    EXPECT_EQ(count(seen_vm("Manual").request("Stop", "vmi-1")), 0u) << "no machine";
    EXPECT_EQ(count(seen_vm("Manual").vmi("Running").request("Stop", "vmi-0")), 0u) << "another machine";
    EXPECT_EQ(count(seen_vm("Manual").vmi("Running").request("Stop", "vmi-1")), 1u);
    EXPECT_EQ(count(seen_vm("Manual").vmi("Pending").request("Start")), 0u) << "P-26: it was started";
    EXPECT_EQ(count(seen_vm("Manual").vmi("Succeeded").request("Start")), 1u);
    EXPECT_EQ(count(seen_vm("Manual").vmi("Running").vmi_deleting().request("Start")), 1u) << "P-73";
    EXPECT_EQ(count(seen_vm("Manual").request("Start")), 1u);
    EXPECT_EQ(count(seen_vm("Manual").vmi("Pending").request("Stop", "vmi-1").request("Start")), 2u) << "P-73: a queue";
    EXPECT_EQ(count(seen_vm("Manual").request("Stop", "vmi-1").request("Start")), 1u) << "P-73: the machine is gone";
    EXPECT_EQ(count(seen_vm("Halted").request("Start")), 1U) << "V-23: what it says about the start is still needed";
    const auto rerun =
        status_of(seen_vm("RerunOnFailure").acted_on("RerunOnFailure").vmi("Failed")).state_change_requests;
    ASSERT_EQ(rerun.size(), 1u) << "V-21";
    EXPECT_EQ(rerun[0].action, "Start");
    EXPECT_EQ(count(seen_vm("RerunOnFailure").vmi("Succeeded")), 0u);
}

TEST(VmStatus, P38_PausesGrow) {
    const std::pair<int, std::pair<int, int>> rows[] = {
        {1, {10, 15}  },
        {2, {40, 60}  },
        {3, {90, 135} },
        {6, {300, 300}}
    };
    for (const auto& [count, range] : rows) {
        for (const char* uid : {"a", "b", "c", "d", "e", "f"}) {
            SeenVm what = seen_vm("Always").vmi("Failed");
            what.machine_of_vm->metadata.uid = Uid{uid};
            if (count > 1) what.start_failures(count - 1, "before", kNow - 1s);
            const api::StartFailure got = *status_of(what).start_failure;
            EXPECT_EQ(got.consecutive_fail_count, count);
            EXPECT_EQ(got.last_failed_vmi_uid, Uid{uid});
            const auto seconds =
                std::chrono::duration_cast<std::chrono::seconds>(*got.retry_after_timestamp - kNow).count();
            EXPECT_TRUE(seconds >= range.first && seconds <= range.second) << count << ": " << seconds;
        }
    }
}

TEST(VmStatus, V42_WhatCountsAsAFailedStart) {
    const auto failures = [](SeenVm what) {
        const auto got = status_of(std::move(what)).start_failure;
        return got ? got->consecutive_fail_count : 0;
    };
    EXPECT_EQ(failures(seen_vm("Always").vmi("Failed")), 1) << "R-02";
    EXPECT_EQ(failures(seen_vm("Always").vmi("Failed").start_failures(1, "vmi-1", kNow)), 1) << "counted already";
    EXPECT_EQ(failures(seen_vm("Always").vmi("Failed").has_run()), 0) << "it has run";
    EXPECT_EQ(failures(seen_vm("Always").vmi("Failed").vmi_deleting()), 0)
        << "somebody took it away, as a restart does";
    EXPECT_EQ(failures(seen_vm("Always").vmi("Running").start_failures(2, "vmi-0", kNow)), 0) << "cleared by running";
    EXPECT_EQ(failures(seen_vm("Always").vmi("Pending").start_failures(2, "vmi-0", kNow)), 2);
    EXPECT_EQ(failures(seen_vm("Halted").start_failures(2, "vmi-0", kNow)), 0) << "another strategy";
    EXPECT_EQ(failures(seen_vm("Manual").vmi("Failed")), 0);
    EXPECT_EQ(failures(seen_vm("Always").vmi("Succeeded")), 0);
}

TEST(VmStatus, RestartRequired) {
    SeenVm what = seen_vm("Always").vmi("Running");
    api::ControllerRevision& started = what.revisions.emplace_back();
    started.metadata = meta(revision_name(Uid{"vm-1"}, 1), "rev-1");
    started.data = json::Object{
        {"spec", what.view().document->at("spec")}
    };
    EXPECT_EQ(condition_of(what, "RestartRequired"), "-");
    SeenVm plugged = what;
    plugged.vm.spec.vmi_template->spec.volumes.push_back(claim_volume("later"));
    plugged.vm.spec.vmi_template->spec.volumes.back().persistent_volume_claim->hotpluggable = true;
    EXPECT_EQ(condition_of(plugged, "RestartRequired"), "-") << "a plugged volume reaches the machine";
    what.bare_claim("data", "Bound");
    EXPECT_TRUE(condition_of(what, "RestartRequired").starts_with("True")) << "1.8";
    what.machine_of_vm.reset();
    what.has(condition("RestartRequired", "True"));
    EXPECT_EQ(condition_of(what, "RestartRequired"), "-");
}

TEST(VmStatus, H52_H53_ADriveIsThereFromBootItsMediumIsNot) {
    SeenVm started = seen_vm("Always").vmi("Running");
    api::VmiSpec& spec = started.vm.spec.vmi_template->spec;
    const auto drive = [](const char* name) {
        api::Disk out{.name = name};
        out.cdrom.emplace().bus = "sata";
        return out;
    };
    const auto medium = [](const char* claim) {
        api::VmVolume out = claim_volume(claim);
        out.name = "cd";
        out.persistent_volume_claim->hotpluggable = true;
        return out;
    };
    spec.domain.devices.disks.push_back(drive("cd"));
    api::ControllerRevision& revision = started.revisions.emplace_back();
    revision.metadata = meta(revision_name(Uid{"vm-1"}, 1), "rev-1");
    revision.data = json::Object{
        {"spec", started.view().document->at("spec")}
    };
    SeenVm what = started;
    api::VmiSpec& now = what.vm.spec.vmi_template->spec;
    for (const char* claim : {"one", "two"}) {
        now.volumes = {medium(claim)};
        EXPECT_EQ(condition_of(what, "RestartRequired"), "-") << claim << " in the drive";
        now.volumes.clear();
        EXPECT_EQ(condition_of(what, "RestartRequired"), "-") << claim << " out of it";
    }
    now.domain.devices.disks.clear();
    EXPECT_TRUE(condition_of(what, "RestartRequired").starts_with("True")) << "the drive goes";
    now.domain.devices.disks = {drive("cd"), drive("second")};
    EXPECT_TRUE(condition_of(what, "RestartRequired").starts_with("True")) << "another drive";
}

TEST(VmStatus, AFailedPlugStaysInTheConditions) {
    SeenVm what = seen_vm("Always").vmi("Running");
    what.has(condition("Failure", "True", "HotPlugVolumeError", "no"));
    EXPECT_TRUE(condition_of(what, "Failure").starts_with("True")) << "its own rules take it back";
    what.vm.status.conditions.clear();
    what.has(condition("Failure", "True", "FailedCreate", "no"));
    EXPECT_EQ(condition_of(what, "Failure"), "-");
}

TEST(VmPlan, V43_AFinishedMachineIsReleased) {
    SeenVm what = seen_vm("Once").vmi("Succeeded");
    const std::string got = api::print(plan(what.view()).intents);
    EXPECT_NE(
        got.find(
            R"(patch virtualmachineinstance/default/web {"metadata":{"finalizers":["kubevirt.io/foregroundDeleteVirtualMachine"]}})"
        ),
        std::string::npos
    ) << got;
}

TEST(VmPlan, AFailureIsCountedBeforeItsMachineIsDeleted) {
    const api::Plan got = plan(seen_vm("Always").vmi("Failed").view());
    ASSERT_GE(got.intents.size(), 2u);
    const auto& status = std::get<api::Patch>(got.intents[0]);
    EXPECT_EQ(status.part, api::Part::status);
    EXPECT_EQ(json::integer_at(status.patch, "/status/startFailure/consecutiveFailCount"), 1);
    EXPECT_EQ(status.at, ResourceVersion{"7"});
    const auto is_delete = [](const api::Intent& intent) { return std::holds_alternative<api::Delete>(intent); };
    EXPECT_TRUE(std::ranges::any_of(got.intents, is_delete));
}

TEST(VmPlan, ASettledVmIsNotWritten) {
    for (SeenVm what :
         {seen_vm("Halted"), seen_vm("Always").disk("root", "ImportInProgress"), seen_vm("Always").vmi("Running")}) {
        what.vm.status = status_of(what);
        EXPECT_EQ(api::print(plan(what.view()).intents), "");
    }
}

}  // namespace
}  // namespace berth::placement::vm
