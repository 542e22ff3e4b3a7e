#include "placement/vm/sync.hpp"

#include <gtest/gtest.h>

#include <set>

#include "placement/testing/seen_vm.hpp"
#include "placement/vm/facts.hpp"

namespace berth::placement::vm {
namespace {

using namespace testing;

struct Row {
    const char* scenario;
    const char* given;
    SeenVm seen;
    std::string_view rule;
    std::string intents;
};

// Kinds and reasons, so that a row fits on a line; texts have tests of their own.
std::string shortened(const std::vector<api::Intent>& intents) {
    std::string text;
    for (const api::Intent& intent : intents) {
        if (!text.empty()) text += ", ";
        if (const auto* event = std::get_if<api::Emit>(&intent)) {
            text += event->reason;
        } else if (const auto* create = std::get_if<api::Create>(&intent)) {
            text += "create " + std::string(api::key_of(create->document).kind->singular);
        } else if (const auto* remove = std::get_if<api::Delete>(&intent)) {
            text += "delete " + std::string(remove->key.kind->singular);
        } else {
            text += api::print(intent);
        }
    }
    return text;
}

const std::string kStart = "create controllerrevision, create virtualmachineinstance, SuccessfulCreate";
const std::string kStop = "delete virtualmachineinstance, SuccessfulDelete";
const std::string kMakeDisk = "create datavolume, SuccessfulDataVolumeCreate";
const Timestamp kLater = kNow + 30s;

SeenVm of(const char* strategy) { return seen_vm(strategy); }
SeenVm stopped(const char* strategy) { return seen_vm(strategy).vmi("Running").request("Stop", "vmi-1"); }

std::vector<Row> rows() {
    std::vector<Row> out = {
        {"V-05",
         "deleted and alone", of("Always").deleted(),
         "deleted-lets-go", R"(patch virtualmachine/default/web {"metadata":{"finalizers":[]}})"},
        {"P-34",
         "R-42: deleted, orphaning its machine", of("Always").vmi("Running").finalizer("orphan").deleted(),
         "deleted-lets-go", R"(patch virtualmachine/default/web {"metadata":{"finalizers":["orphan"]}})"},
        {"P-33",
         "R-41: deleted with its machine", of("Always").disk("root", "absent").vmi("Running").deleted(),
         "deleted-stops-its-machine", kStop},
        {"P-33",
         "deleted, its machine is going", of("Always").vmi("Running").vmi_deleting().deleted(),
         "deleted-stops-its-machine", ""},
        {"V-06",
         "without marks", of("Always").unmarked(),
         "marks-itself", R"(patch virtualmachine/default/web {"metadata":{"finalizers":["kubevirt.io/virtualMachineControllerFinalize"],"annotations":{"kubevirt.io/latest-observed-api-version":"v1","kubevirt.io/storage-observed-api-version":"v1"}}})"
        },
        {"P-67",
         "two strategies", [] {
             auto vm = of("Always");
             vm.vm.spec.running = true;
             return vm;
         }(),
         "one-strategy", ""},
        {"V-07", "no strategy", of(""), "one-strategy", ""},
        {"P-01", "a new VM with a disk", of("Always").disk("root", "absent"), "disks-come-first", kMakeDisk},
        {"P-01",
         "two disks at once", of("Always").disk("a", "absent").disk("b", "absent"),
         "disks-come-first", kMakeDisk + ", " + kMakeDisk},
        {"P-18", "the disk is being filled", of("Always").disk("root", "ImportInProgress"), "disks-come-first", ""},
        {"P-30",
         "B-04: the disk failed", of("Always").disk("root", "Failed"),
         "disks-come-first", "FailedDataVolumeImport"},
        {"P-65",
         "the disk exceeds a quota", of("Always")
             .disk("root", "Pending")
             .disk_condition(condition("Bound", "False", "ErrExceededQuota", "too much")),
         "disk-error-ends-the-pass", "FailedDataVolumeImport"},
        {"V-12",
         "the disk was refused", of("Always").disk("root", "absent").create_failed("datavolume/default/root", "denied"),
         "disk-error-ends-the-pass", "FailedDataVolumeCreate, create datavolume, SuccessfulDataVolumeCreate"},
        {"V-12",
         "refused because of a claim of its name", of("Always")
             .disk("root", "absent")
             .claim_of("root", "Bound")
             .create_failed("datavolume/default/root", "PVC root already exists"),
         "disks-come-first", kMakeDisk},
        {"P-01",
         "V-13: the disk waits for its consumer", of("Always").disk("root", "WaitForFirstConsumer"),
         "start", kStart},
        {"P-44", "V-13: the disk waits for its node", of("Always").disk("root", "PendingPopulation"), "start", kStart},
        {"P-23", "V-13: the disk is filled", of("Always").disk("root", "Succeeded"), "start", kStart},
        {"V-20", "its machine runs", of("Always").vmi("Running"), "a-machine-is-there", ""},
        {"V-20", "its machine is over", of("Always").vmi("Failed"), "always-starts-over", kStop},
        {"V-20", "its machine is to stop", stopped("Always"), "always-starts-over", kStop},
        {"V-20",
         "another machine was to stop", of("Always").vmi("Running").request("Stop", "vmi-0"),
         "a-machine-is-there", ""},
        {"P-37", "it pauses", of("Always").start_failures(1, "vmi-0", kLater), "backs-off", ""},
        {"P-37", "the pause is over", of("Always").start_failures(1, "vmi-0", kNow), "start", kStart},
        {"R-33",
         "B-05: failed early, and the disk is not ready", of("Always").disk("root", "Failed").vmi("Failed"),
         "disks-come-first", "FailedDataVolumeImport"},
        {"R-32",
         "P-73: restart while a disk is filled", of("Manual").disk("root", "ImportInProgress").vmi("Pending").request("Stop", "vmi-1").request("Start"),
         "disks-come-first", ""},
        {"P-28",
         "rerun: failed", of("RerunOnFailure").acted_on("RerunOnFailure").vmi("Failed"),
         "rerun-ends-what-is-over", kStop},
        {"V-21",
         "rerun: succeeded", of("RerunOnFailure").acted_on("RerunOnFailure").vmi("Succeeded"),
         "rerun-ends-what-is-over", kStop},
        {"V-21", "rerun: going", of("RerunOnFailure").vmi("Failed").vmi_deleting(), "a-machine-is-there", ""},
        {"V-21", "rerun: never acted on", of("RerunOnFailure"), "start", kStart},
        {"V-21", "rerun: acted on, not asked", of("RerunOnFailure").acted_on("RerunOnFailure"), "rerun-starts-once", ""
        },
        {"V-21", "rerun: asked", of("RerunOnFailure").acted_on("RerunOnFailure").request("Start"), "start", kStart},
        {"P-26", "manual: not asked", of("Manual"), "manual-starts-when-asked", ""},
        {"P-26", "manual: asked", of("Manual").request("Start"), "start", kStart},
        {"V-22", "manual: to stop", stopped("Manual"), "manual-stops-when-asked", kStop},
        {"V-22", "manual: its machine is over", of("Manual").vmi("Succeeded"), "a-machine-is-there", ""},
        {"P-17", "halted with a machine", of("Halted").vmi("Pending"), "halted-stops", kStop},
        {"R-31",
         "P-36: halted while a disk is filled", of("Halted").disk("root", "ImportInProgress").vmi("Pending"),
         "halted-stops", kStop},
        {"P-24", "halted makes its disks", of("Halted").disk("root", "absent"), "halted-rests", kMakeDisk},
        {"P-25",
         "halted, disks only on start", of("Halted").disk("root", "absent").annotated(kImmediateDisks, "false"),
         "halted-rests", ""},
        {"P-25",
         "started, disks on start", of("Always").disk("root", "absent").annotated(kImmediateDisks, "false"),
         "late-disks-come-first", kMakeDisk},
        {"P-25",
         "started, a late disk was refused", of("Always")
             .disk("root", "absent")
             .annotated(kImmediateDisks, "false")
             .create_failed("datavolume/default/root", "denied"),
         "late-disk-error", "FailedDataVolumeCreate, create datavolume, SuccessfulDataVolumeCreate"},
        {"V-23",
         "halted and asked to start", of("Halted").request("Start"),
         "halted-starts-when-asked", R"(patch virtualmachine/default/web {"spec":{"runStrategy":"Always"}})"},
        {"P-27", "once: over", of("Once").vmi("Succeeded"), "a-machine-is-there", ""},
        {"V-24", "once: none", of("Once"), "start", kStart},
        {"V-25", "receiver: none", of("WaitAsReceiver"), "start", kStart},
        {"V-25", "receiver: an ordinary machine", of("WaitAsReceiver").vmi("Running"), "receiver-has-a-machine", ""},
        {"V-28",
         "it needs recovery", of("Always").has(condition("ManualRecoveryRequired", "True")),
         "recovery-comes-first", ""},
        {"V-29",
         "the last start failed", of("Always").create_failed("virtualmachineinstance/default/web", "denied"),
         "start", "FailedCreate, " + kStart},
    };
    SeenVm taken = of("Always");
    taken.name_is_taken = true;
    out.push_back({"V-02", "the name is another's", taken, "name-is-taken", "FailedCreate"});
    SeenVm orphan = of("Always").disk("root", "Succeeded").vmi("Running");
    orphan.machine_of_vm->metadata.owner_references.clear();
    orphan.data_volumes[0].metadata.owner_references.clear();
    const std::string owner =
        R"({"metadata":{"ownerReferences":[{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","name":"web","uid":"vm-1","controller":true,"blockOwnerDeletion":true}]}})";
    out.push_back(
        {"C-04",
         "a machine and a disk without an owner",
         orphan,
         "takes-orphans-in",
         "patch virtualmachineinstance/default/web " + owner + ", patch datavolume/default/root " + owner}
    );
    SeenVm clone = of("Always").disk("root", "absent");
    clone.vm.spec.data_volume_templates[0].spec.source = api::DataVolumeSource{
        .pvc = api::NamedSource{"", "golden"}
    };
    out.push_back(
        {"V-11", "the source of a clone is missing", clone, "disk-error-ends-the-pass", "SourcePVCNotAvailabe"}
    );
    SeenVm old_form = of("").request("Start");
    old_form.vm.spec.running = false;
    out.push_back(
        {"P-67",
         "running: false, asked to start",
         old_form,
         "halted-starts-when-asked",
         R"(patch virtualmachine/default/web {"spec":{"running":true}})"}
    );
    return out;
}

TEST(VmSync, Rows) {
    for (Row& row : rows()) {
        SCOPED_TRACE(std::string(row.scenario) + ": " + row.given);
        const Pass got = sync(row.seen.view());
        EXPECT_EQ(got.outcome.plan.rule, row.rule);
        EXPECT_EQ(shortened(got.outcome.plan.intents), row.intents);
    }
}

TEST(VmSync, EveryLineIsReached) {
    std::set<std::string_view> reached;
    for (Row& row : rows()) reached.insert(sync(row.seen.view()).outcome.plan.rule);
    for (const Line<View>& line : flow()) EXPECT_TRUE(reached.contains(line.name)) << line.name;
}

TEST(VmSync, V10_ADataVolumeIsCopiedWhole) {
    SeenVm what = seen_vm("Always").disk("root", "absent");
    what.vm.spec.data_volume_templates[0].metadata.labels = {
        {"tier", "db"}
    };
    what.vm.spec.data_volume_templates[0].metadata.annotations = {
        {kAllowClaimAdoption, "false"},
        {"note",              "x"    }
    };
    what.vm.spec.vmi_template->spec.priority_class_name = "high";
    const Pass pass = sync(what.view());
    const json::Value& made = std::get<api::Create>(pass.outcome.plan.intents[0]).document;
    EXPECT_EQ(
        json::print(made.at("metadata")),
        R"({"name":"root","namespace":"default","labels":{"tier":"db","kubevirt.io/created-by":"vm-1"},"annotations":{"cdi.kubevirt.io/allowClaimAdoption":"true","note":"x"},"ownerReferences":[{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","name":"web","uid":"vm-1","controller":true,"blockOwnerDeletion":true}]})"
    );
    EXPECT_EQ(json::print(made.at("spec").at("source")), R"({"blank":{}})");
    EXPECT_EQ(json::text_at(made, "/spec/priorityClassName"), "high");
    EXPECT_EQ(std::get<api::Emit>(pass.outcome.plan.intents[1]).message, "Created DataVolume root");
}

TEST(VmSync, P30_P65_TextsOfDisksThatFail) {
    Pass pass = sync(seen_vm("Always").disk("root", "Failed").view());
    EXPECT_EQ(std::get<api::Emit>(pass.outcome.plan.intents[0]).message, "DataVolume root failed to import disk image");
    EXPECT_FALSE(pass.outcome.error.has_value());
    SeenVm quota = seen_vm("Always")
                       .disk("root", "Pending")
                       .disk_condition(condition("Bound", "False", "ErrExceededQuota", "5Gi is too much"));
    pass = sync(quota.view());
    EXPECT_EQ(std::get<api::Emit>(pass.outcome.plan.intents[0]).message, "DataVolume root exceeds quota limits");
    EXPECT_EQ(
        pass.outcome.error,
        (SyncError{
            "FailedCreate",
            "Error encountered while creating DataVolumes: DataVolume root importer is not running due to an error: "
            "5Gi is too much"
        })
    );
}

TEST(VmSync, V29_WhatAStartMakes) {
    SeenVm what = seen_vm("Always").request("Start");
    what.vm.status.state_change_requests[0].data["paused"] = "true";
    what.vm.metadata.generation = 3;
    what.vm.spec.vmi_template->metadata.labels = {
        {"app", "db"}
    };
    what.revisions.emplace_back().metadata = meta(revision_name(Uid{"vm-1"}, 2), "rev-2");
    const Pass pass = sync(what.view());
    ASSERT_EQ(shortened(pass.outcome.plan.intents), "delete controllerrevision, " + kStart);
    const json::Value& revision = std::get<api::Create>(pass.outcome.plan.intents[1]).document;
    EXPECT_EQ(json::text_at(revision, "/metadata/name"), "revision-start-vm-vm-1-3");
    EXPECT_EQ(json::text_at(revision, "/data/spec/runStrategy"), "Always");
    const json::Value& made = std::get<api::Create>(pass.outcome.plan.intents[2]).document;
    EXPECT_EQ(json::text_at(made, "/metadata/name"), "web");
    EXPECT_EQ(json::text_at(made, "/metadata/labels/app"), "db");
    EXPECT_EQ(json::text_at(made, "/metadata/annotations/kubevirt.io~1vm-generation"), "3");
    EXPECT_EQ(json::text_at(made, "/metadata/finalizers/0"), kVmFinalizer);
    EXPECT_EQ(json::text_at(made, "/metadata/ownerReferences/0/uid"), "vm-1");
    EXPECT_EQ(json::text_at(made, "/spec/startStrategy"), "Paused");
    EXPECT_EQ(json::text_at(made, "/spec/domain/firmware/uuid").size(), 36u);
    EXPECT_EQ(json::text_at(made, "/status/virtualMachineRevisionName"), "revision-start-vm-vm-1-3");
    EXPECT_EQ(
        std::get<api::Emit>(pass.outcome.plan.intents[3]).message,
        "Started the virtual machine by creating the new virtual machine instance web"
    );
    EXPECT_TRUE(pass.starts);
}

TEST(VmSync, V29_FieldsNobodyKnowsReachTheMachine) {
    SeenVm what = seen_vm("Always");
    View view = what.view();
    json::set(
        what.document,
        "/spec/template/spec/domain/devices/watchdog",
        json::Object{
            {"name", "w"}
    }
    );
    const Pass pass = sync(view);
    EXPECT_EQ(
        json::text_at(
            std::get<api::Create>(pass.outcome.plan.intents[1]).document, "/spec/domain/devices/watchdog/name"
        ),
        "w"
    );
}

TEST(VmSync, V30_TextOfAStop) {
    const Pass pass = sync(seen_vm("Halted").vmi("Running").view());
    EXPECT_TRUE(pass.stops);
    EXPECT_EQ(std::get<api::Delete>(pass.outcome.plan.intents[0]).uid, Uid{"vmi-1"});
    EXPECT_EQ(
        std::get<api::Emit>(pass.outcome.plan.intents[1]).message,
        "Stopped the virtual machine by deleting the virtual machine instance vmi-1"
    );
}

TEST(VmSync, P37_ThePauseHasAnEnd) {
    const Pass pass = sync(seen_vm("Always").start_failures(2, "vmi-0", kLater).view());
    EXPECT_EQ(pass.outcome.plan.look_again_at, kLater);
    ASSERT_TRUE(pass.outcome.plan.wait.has_value());
    EXPECT_NE(pass.outcome.plan.wait->why.find("2026-01-02T00:00:30Z"), std::string::npos);
}

TEST(VmSync, ARefusedDiskDoesNotHoldUpTheOthers) {
    SeenVm what =
        seen_vm("Always").disk("a", "absent").disk("b", "absent").create_failed("datavolume/default/a", "denied");
    const Pass pass = sync(what.view());
    std::vector<std::string> made;
    for (const api::Intent& intent : pass.outcome.plan.intents) {
        if (const auto* create = std::get_if<api::Create>(&intent)) made.push_back(api::key_of(create->document).name);
    }
    EXPECT_EQ(made, (std::vector<std::string>{"b", "a"}));
}

TEST(VmFacts, SetToStart) {
    const auto is = [](SeenVm what) { return is_set_to_start(what.view()); };
    EXPECT_TRUE(is(seen_vm("Always")));
    EXPECT_FALSE(is(seen_vm("Halted")));
    EXPECT_FALSE(is(seen_vm("Manual")));
    EXPECT_TRUE(is(seen_vm("Manual").request("Start")));
    EXPECT_TRUE(is(seen_vm("Manual").vmi("Pending")));
    EXPECT_FALSE(is(stopped("Manual")));
    EXPECT_TRUE(is(seen_vm("RerunOnFailure")));
    EXPECT_FALSE(is(seen_vm("RerunOnFailure").acted_on("RerunOnFailure")));
    EXPECT_FALSE(is(seen_vm("RerunOnFailure").vmi("Succeeded")));
    EXPECT_TRUE(is(seen_vm("RerunOnFailure").vmi("Failed")));
    EXPECT_TRUE(is(seen_vm("Once")));
    EXPECT_FALSE(is(seen_vm("Once").vmi("Pending"))) << "R-34";
    EXPECT_FALSE(is(seen_vm("WaitAsReceiver")));
}

TEST(VmFacts, TransferErrors) {
    for (const char* reason :
         {"Error",
          "ImagePullFailed",
          "ErrImagePull",
          "ImagePullBackOff",
          "CreateContainerConfigError",
          "SourceNotSupported",
          "ChecksumError",
          "OOMKilled"}) {
        EXPECT_TRUE(is_transfer_error(reason)) << reason;
    }
    for (const char* reason :
         {"", "Completed", "Pending", "Unschedulable", "Pod is running", "Scratch space required", "ContainerCreating"
         }) {
        EXPECT_FALSE(is_transfer_error(reason)) << reason;
    }
}

}  // namespace
}  // namespace berth::placement::vm
