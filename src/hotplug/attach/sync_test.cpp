#include "hotplug/attach/sync.hpp"

#include <gtest/gtest.h>

#include <set>

#include "hotplug/testing/seen_plugs.hpp"

namespace berth::hotplug::attach {
namespace {

using namespace testing;

// "status", "create v=c w=d", "trigger v=c", "delete pod", "Reason", one after the other.
std::string shortened(const api::Plan& plan) {
    std::string out;
    for (const api::Intent& intent : plan.intents) {
        if (!out.empty()) out += ", ";
        if (const auto* made = std::get_if<api::Create>(&intent)) {
            const auto pod = api::decode<api::Pod>(made->document);
            out += placement::is_temp(*pod) ? "trigger" : "create";
            for (const api::PodVolume& volume : pod->spec.volumes) {
                if (volume.persistent_volume_claim)
                    out += " " + volume.name + "=" + volume.persistent_volume_claim->claim_name;
            }
        } else if (const auto* gone = std::get_if<api::Delete>(&intent)) {
            out += "delete " + gone->key.name;
            EXPECT_EQ(gone->grace_seconds, 0);
        } else if (const auto* said = std::get_if<api::Emit>(&intent)) {
            out += said->reason;
        } else {
            out += "status";
        }
    }
    return out;
}

struct Row {
    const char* scenario;
    const char* given;
    SeenPlugs seen;
    const char* rule;
    const char* intents;
};

// A machine with v ready through pod p, in the spec or not.
SeenPlugs ready() { return seen().plugged("v").entry("v", "Ready").through("p").attached("p", {"v"}); }
SeenPlugs removed(const char* phase) {
    return seen().has_claim("v").entry("v", phase).through("p").attached("p", {"v"});
}

std::vector<Row> gate_rows() {
    SeenPlugs deleted = ready();
    deleted.vmi.metadata.deletion_timestamp = kNow;
    SeenPlugs over = ready().trigger("t", "w");
    over.vmi.status.phase = "Failed";
    SeenPlugs starting = seen().plugged("v");
    starting.launcher_is_ready = false;
    SeenPlugs unlabelled = seen().plugged("v");
    unlabelled.vmi.status.selinux_context.clear();
    SeenPlugs passed = seen().plugged("v");
    passed.vmi.spec.domain.devices.gpus = json::Array{
        json::Object{{"name", "gpu"}, {"deviceName", "vendor.com/gpu"}}
    };
    passed.vmi.spec.domain.devices.host_devices = json::Array{
        json::Object{{"name", "usb"}, {"deviceName", "vendor.com/usb"}}
    };
    const char* create = "needed-volumes-get-a-pod";
    const char* await = "each-volume-on-its-way";
    return {
        {"hotplug/R-28", "a machine with devices of the host", passed, create, "status, create v=v, SuccessfulCreate"},
        {"H-40", "deleted: pods go with the launcher", deleted, "deleted-leaves-it-to-the-collector", ""},
        {"H-41",
         "over: every pod goes at once", over,
         "finished-drops-its-pods", "delete p, SuccessfulDelete, delete t, SuccessfulDelete"},
        {"5.7",
         "a launcher of an earlier migration has ended", ready().left_pod("old"),
         "left-pods-go", "delete old, SuccessfulDelete"},
        {"5.1", "nothing was ever plugged", seen().permanent("root"), "nothing-is-plugged", ""},
        {"5.1", "the launcher is not ready", starting, "launcher-comes-first", "status"},
        {"H-22", "the node has not said how files are labelled", unlabelled, "files-need-their-label", "status"},
        {"H-21", "a claim is ready", seen().plugged("v"), create, "status, create v=v, SuccessfulCreate"},
        {"H-30",
         "an unbound claim without DataVolume", seen().volume("v", "c").has_claim("c", "Pending"),
         create, "status, create v=c, SuccessfulCreate"},
        {"9.4",
         "a population waits for the attachment pod", seen().disk("v", "PendingPopulation"),
         create, "status, create v=v, SuccessfulCreate"},
        {"H-28", "an import runs", seen().disk("v", "ImportInProgress"), await, "status"},
        {"H-34", "the claim is missing", seen().volume("v", "c"), await, "status"},
        {"R-06",
         "one claim is missing, another is there", seen().volume("b", "c").plugged("v"),
         create, "status, create v=v, SuccessfulCreate"},
        {"R-05",
         "one imports, another is ready", seen().disk("b", "ImportInProgress").plugged("v"),
         create, "status, create v=v, SuccessfulCreate"},
        {"R-10",
         "another machine still has the claim", seen().plugged("v").held_by("v", "default/other"),
         await, "status"},
        {"R-21", "a volume is called like a directory of the pod", seen().plugged("hotplug-disks"), await, "status"},
    };
}

std::vector<Row> pod_rows() {
    const char* create = "needed-volumes-get-a-pod";
    const char* await = "each-volume-on-its-way";
    const char* drop = "pods-nobody-needs-go";
    SeenPlugs injected = ready();
    injected.pods.back().spec.volumes.push_back({.name = "kube-api-access-x"});
    injected.pods.back().status.container_statuses.insert(
        injected.pods.back().status.container_statuses.begin(), {.name = "istio-proxy"}
    );
    const SeenPlugs two =
        seen().plugged("v").plugged("w").entry("v", "Ready").through("p").entry("w", "Ready").through("q");
    SeenPlugs one_left = seen().has_claim("v").plugged("w");
    one_left.entry("v", "Ready").through("p").entry("w", "Ready").through("p").attached("p", {"v", "w"});
    SeenPlugs released = seen().has_claim("v").plugged("w");
    released.entry("v", "UnMountedFromPod").through("p").entry("w", "Ready").through("p").attached("p", {"v", "w"});
    SeenPlugs one_each = two;
    one_each.attached("p", {"v"}).attached("q", {"w"});
    SeenPlugs swapped = seen().volume("v", "c2").has_claim("c1").has_claim("c2");
    swapped.entry("v", "Ready", "c1").through("p").attached("p", {"v=c1"});
    SeenPlugs remade = ready();
    remade.claims.back().metadata.creation_timestamp = kNow + 5s;
    remade.after(5s);
    return {
        {"H-25",
         "the pod is there and not ready", seen().plugged("v").attached("p", {"v"}, "Pending"),
         await, "status, SuccessfulCreate"},
        {"H-25", "all is well", ready(), await, ""},
        {"R-09", "a webhook put a volume and a container in", injected, await, ""},
        {"H-26",
         "another volume gets a pod of its own", SeenPlugs(ready()).plugged("w"),
         create, "status, create w=w, SuccessfulCreate"},
        {"H-35", "the pod is going", SeenPlugs(ready()).going(), create, "status, create v=v, SuccessfulCreate"},
        {"R-17",
         "the pod is gone", seen().plugged("v").entry("v", "Ready").through("p"),
         create, "status, create v=v, SuccessfulCreate"},
        {"R-12", "removed, the guest has it", removed("Ready"), await, ""},
        {"H-31", "removed, the launcher still sees it", removed("MountedToPod"), await, ""},
        {"H-31", "removed, the node may have mounted it", removed("AttachedToNode"), await, ""},
        {"H-31", "the node says that it is out", removed("UnMountedFromPod"), drop, "status, delete p, SuccessfulDelete"
        },
        {"H-33",
         "removed, the pod never started", seen().has_claim("v").entry("v", "AttachedToNode").attached("p", {"v"}, "Pending"),
         drop, "status, delete p, SuccessfulDelete"},
        {"H-31", "the pod is going", SeenPlugs(removed("Detaching")).going(), await, "status, SuccessfulDelete"},
        {"H-31", "the pod is gone", seen().entry("v", "Detaching"), await, "status, VolumeUnplugged"},
        {"R-12",
         "its pod was taken away while the guest has it", seen().has_claim("v").entry("v", "Ready"),
         create, "create v=v, SuccessfulCreate"},
        {"H-32", "one of two leaves: the other gets a pod at once", one_left, create, "create w=w, SuccessfulCreate"},
        {"H-32", "its pod is not ready yet", SeenPlugs(one_left).attached("q", {"w"}, "Pending"), await, ""},
        {"H-32",
         "it is out, and the other is not safe yet", SeenPlugs(released).attached("q", {"w"}, "Pending"),
         await, "status"},
        {"H-32", "the other is safe, it is not out", SeenPlugs(one_left).attached("q", {"w"}), await, ""},
        {"H-32",
         "it is out and the other is safe", SeenPlugs(released).attached("q", {"w"}),
         drop, "status, delete p, SuccessfulDelete"},
        {"H-26", "two pods, and a moment has passed", SeenPlugs(one_each).after(29s), await, ""},
        {"H-26",
         "two pods, and it is quiet", SeenPlugs(one_each).after(30s),
         "quiet-pods-become-one", "create v=v w=w, SuccessfulCreate"},
        {"H-26",
         "their successor is not ready", SeenPlugs(one_each).attached("r", {"v", "w"}, "Pending").after(90s),
         await, ""},
        {"H-26",
         "it is", SeenPlugs(one_each).attached("r", {"v", "w"}).after(90s),
         drop, "delete p, SuccessfulDelete, delete q, SuccessfulDelete"},
        {"9.5",
         "a claim of one pod is never merged", SeenPlugs(one_each).mode("ReadWriteOncePod").after(90s),
         await, "status"},
        {"9.5",
         "and has a pod of its own", seen().plugged("v").plugged("w").mode("ReadWriteOncePod"),
         create, "status, create v=v, SuccessfulCreate, create w=w, SuccessfulCreate"},
        {"R-08", "another claim under the same name", swapped, create, "create v=c2, SuccessfulCreate"},
        {"R-08", "the new one has its pod", SeenPlugs(swapped).attached("q", {"v=c2"}), await, ""},
        {"R-08", "a pod from before its claim was made again", remade, create, "status, create v=v, SuccessfulCreate"},
        {"5.8", "the pod was refused by its node", SeenPlugs(ready()).attached("q", {"v"}, "Failed"), await, ""},
        {"5.8",
         "a pod that failed is in the way for a moment", seen().plugged("v").attached("p", {"v"}, "Failed").after(9s),
         await, "status"},
        {"5.8",
         "then it goes", seen().plugged("v").attached("p", {"v"}, "Failed").after(10s),
         drop, "status, delete p, SuccessfulDelete"},
    };
}

std::vector<Row> trigger_rows() {
    SeenPlugs bound = seen().disk("v", "WaitForFirstConsumer").trigger("t", "v");
    bound.claims.back().status.phase = "Bound";
    return {
        {"H-29",
         "its DataVolume waits for a consumer", seen().disk("v", "WaitForFirstConsumer"),
         "needed-volumes-get-a-pod", "status, trigger v=v, SuccessfulCreate"},
        {"R-19",
         "three of them", seen()
             .disk("u", "WaitForFirstConsumer")
             .disk("v", "WaitForFirstConsumer")
             .trigger("t", "v")
             .disk("w", "WaitForFirstConsumer"),
         "needed-volumes-get-a-pod", "status, trigger u=u, SuccessfulCreate, trigger w=w, SuccessfulCreate"},
        {"R-19",
         "the trigger pod is there", seen().disk("v", "WaitForFirstConsumer").trigger("t", "v", "Pending"),
         "each-volume-on-its-way", "status"},
        {"placement/R-58",
         "the claim is bound: the worker needs it", bound,
         "pods-nobody-needs-go", "status, delete t, SuccessfulDelete"},
        {"H-29",
         "the volume was removed meanwhile", seen().trigger("t", "v"),
         "pods-nobody-needs-go", "delete t, SuccessfulDelete"},
    };
}

TEST(Attach, Rows) {
    std::set<std::string_view> reached;
    for (const auto& rows : {gate_rows(), pod_rows(), trigger_rows()}) {
        for (const Row& row : rows) {
            SCOPED_TRACE(std::string(row.scenario) + ": " + row.given);
            const api::Plan got = plan(row.seen.view());
            reached.insert(got.rule);
            EXPECT_EQ(got.rule, row.rule);
            std::string intents = shortened(got);
            EXPECT_EQ(intents, row.intents);
        }
    }
    for (const api::Rule<View>& line : flow()) EXPECT_TRUE(reached.contains(line.name)) << line.name;
}

TEST(Attach, APlanThatDoesNothingSaysWhy) {
    for (const auto& rows : {gate_rows(), pod_rows(), trigger_rows()}) {
        for (const Row& row : rows) {
            const api::Plan got = plan(row.seen.view());
            const bool is_done = std::ranges::all_of(row.seen.vmi.spec.volumes, [&](const auto& volume) {
                const auto& list = row.seen.vmi.status.volume_status;
                const auto it = std::ranges::find(list, volume.name, &api::VmVolumeStatus::name);
                return it != list.end() && it->phase == "Ready";
            });
            if (got.intents.empty() && !is_done) {
                EXPECT_TRUE(got.wait.has_value() || got.look_again_at) << row.given;
            }
        }
    }
}

TEST(Attach, H86_OnePodPerChangeAndOneMore) {
    SeenPlugs seen = testing::seen();
    int created = 0;
    const auto settle = [&] {
        for (int pass = 0; pass < 10; ++pass) {
            const api::Plan got = plan(seen.view());
            bool changed = false;
            for (const api::Intent& intent : got.intents) {
                if (const auto* made = std::get_if<api::Create>(&intent)) {
                    ++created;
                    std::vector<std::string> volumes;
                    const auto pod = api::decode<api::Pod>(made->document);
                    for (const auto& one : pod->spec.volumes) {
                        if (one.persistent_volume_claim) volumes.push_back(one.name);
                    }
                    seen.attached(pod->metadata.name, volumes).made(0s);
                    changed = true;
                }
                if (const auto* gone = std::get_if<api::Delete>(&intent)) {
                    std::erase_if(seen.pods, [&](const api::Pod& pod) { return pod.metadata.name == gone->key.name; });
                    changed = true;
                }
            }
            if (!changed) return;
        }
        FAIL() << "it does not come to rest";
    };
    for (int i = 0; i < 20; ++i) {
        seen.plugged("v" + std::to_string(i)).after(1s);
        settle();
    }
    EXPECT_EQ(created, 20);
    const auto again_at = plan(seen.view()).look_again_at;
    ASSERT_TRUE(again_at.has_value());
    seen.now = *again_at;
    settle();
    EXPECT_EQ(created, 21);
    EXPECT_EQ(seen.pods.size(), 1U);
}

TEST(Attach, H36_RefusedPods) {
    SeenPlugs seen = testing::seen().plugged("v").plugged("w").mode("ReadWriteOncePod");
    const api::Plan first = plan(seen.view());
    const auto& refused = std::get<api::Create>(first.intents[1]).document;
    seen.failed = placement::Failed{
        "create pod/default/" + std::string(json::text_at(refused, "/metadata/name")),
        ErrorKind::forbidden,
        "exceeded quota: pods"
    };
    const api::Plan again = plan(seen.view());
    const auto& said = std::get<api::Emit>(again.intents.front());
    EXPECT_TRUE(said.is_warning);
    EXPECT_EQ(said.reason, "FailedCreate");
    EXPECT_EQ(said.message, "Error creating hotplug pod: exceeded quota: pods");
    EXPECT_EQ(shortened(again), "FailedCreate, status, create w=w, SuccessfulCreate, create v=v, SuccessfulCreate")
        << "the pod that is refused does not keep the other from being made";
    seen.failed->intent = "delete pod/default/p";
    EXPECT_EQ(std::get<api::Emit>(plan(seen.view()).intents.front()).reason, "FailedDelete");
}

}  // namespace
}  // namespace berth::hotplug::attach
