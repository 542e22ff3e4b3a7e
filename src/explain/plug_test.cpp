// Rows: what is said of a plugged volume at each step of its way into the guest and out of it.
#include "explain/plug.hpp"

#include "explain/chain.hpp"

namespace berth::explain {
namespace {

api::VirtualMachineInstance machine() {
    api::VirtualMachineInstance out;
    out.metadata.name = "web";
    out.status.phase = "Running";
    out.status.node_name = "n1";
    out.spec.volumes.push_back({
        .name = "data", .data_volume = api::DataVolumeVolumeSource{"data", true}
    });
    return out;
}

api::VmVolumeStatus status(
    std::string phase, std::string target = "", std::string reason = "", std::string message = ""
) {
    api::VmVolumeStatus out;
    out.name = "data";
    out.phase = std::move(phase);
    out.target = std::move(target);
    out.reason = std::move(reason);
    out.message = std::move(message);
    out.hotplug_volume.emplace();
    return out;
}

api::Pod plug_pod(const std::string& name, const std::string& phase) {
    api::Pod pod;
    pod.metadata.name = name;
    pod.metadata.labels["kubevirt.io"] = "hotplug-disk";
    pod.status.phase = phase;
    api::PodVolume volume{.name = "data"};
    volume.persistent_volume_claim.emplace().claim_name = "data";
    pod.spec.volumes.push_back(std::move(volume));
    return pod;
}

api::Pod unschedulable_pod(const std::string& name, const std::string& message) {
    api::Pod pod = plug_pod(name, "Pending");
    pod.status.conditions.push_back(
        {.type = "PodScheduled", .status = "False", .reason = "Unschedulable", .message = message}
    );
    return pod;
}

api::PersistentVolumeClaim claim(const std::string& phase) {
    api::PersistentVolumeClaim out;
    out.metadata.name = "data";
    out.status.phase = phase;
    if (phase == "Bound") out.spec.volume_name = "pv-1";
    return out;
}

api::PersistentVolume volume_on(const std::string& node) {
    api::PersistentVolume out;
    out.metadata.name = "pv-1";
    out.status.phase = "Bound";
    api::SelectorRequirement hostname;
    hostname.key = "kubernetes.io/hostname";
    hostname.op = "In";
    hostname.values = {node};
    api::NodeSelectorTerm term;
    term.match_expressions.push_back(hostname);
    out.spec.node_affinity.emplace().required.emplace().node_selector_terms.push_back(term);
    return out;
}

api::DataVolume data_volume(const std::string& phase) {
    api::DataVolume out;
    out.metadata.name = "data";
    out.status.phase = phase;
    return out;
}

View ready_claim() {
    return {
        .vmi = machine(),
        .data_volumes = {data_volume("Succeeded")},
        .claims = {claim("Bound")},
        .volumes = {volume_on("n1")}
    };
}

// The one that must act, or that failed.
Line acting(const View& view) {
    for (const Line& line : chain(view)) {
        if (line.mark == Mark::next || (line.mark == Mark::failed && !line.why.empty())) return line;
    }
    return {.object = "nobody"};
}

TEST(Plug, NamesWhoMustActAtEachStep) {
    struct Row {
        std::string step;
        std::function<void(View&)> at;
        std::string object;
        std::string why;  // a part of it
    };
    const auto attachment = [](const std::string& phase, bool ready) {
        api::Pod pod = plug_pod("hp-volume-a", phase);
        pod.spec.node_name = "n1";
        if (ready) pod.status.container_statuses.push_back({.name = "hotplug-disk", .ready = true});
        return pod;
    };
    const Row rows[] = {
        {"requested",        [](View&) {},                                                                 "attachment pod", "waits for the controller to make it"},
        {"claim missing",
         [](View& view) {
             view.claims.clear();
             view.data_volumes.clear();
             view.vmi->spec.volumes[0] = {
                 .name = "data", .persistent_volume_claim = api::VmClaimSource{     "data",     false,         true}
             };
             view.vmi->status.volume_status = {status("Pending", "", "FailedPvcNotFound", "PVC data not found")};
         },                                                                                                          "volume/data",
         "PVC data not found: create the claim"                                                                                                                                                                },
        {"in use elsewhere",
         [](View& view) {
             view.vmi->status.volume_status = {status("Pending", "", "PVCNotReady", "PVC data is in use by VMI db")};
         },                                                           "volume/data",
         "in use by VMI db: take it out there"},
        {"importing",
         [](View& view) {
             view.data_volumes[0].status.phase = "ImportInProgress";
             view.vmi->status.volume_status = {status("Bound", "", "PVCNotReady", "PVC is in phase Bound")};
         },                                                            "dv/data",
         "waits for the worker pod importer-data"                                                                                                                                                                        },
        {"no node for the trigger pod",
         [](View& view) {
             view.data_volumes[0].status.phase = "WaitForFirstConsumer";
             view.claims = {claim("Pending")};
             view.pods = {unschedulable_pod("hp-volume-t", "0/2 nodes are available: 1 no room")};
             view.pods[0].metadata.annotations["kubevirt.io/ephemeral-provisioning"] = "true";
         },                                                         "pod/hp-volume-t",
         "no room for its pod on node n1, where the guest runs: 0/2 nodes"},
        {"the volume is on another node",
         [](View& view) {
             view.volumes = {volume_on("n2")};
             view.pods = {unschedulable_pod("hp-volume-a", "0/2 nodes are available")};
             view.vmi->status.volume_status = {status("AttachedToNode")};
         },                                "pod/hp-volume-a",
         "lies on node n2 and the guest runs on node n1, so it cannot be reached: berth removevolume web"                                                                                                                                             },
        {"the pod starts",
         [&](View& view) { view.pods = {attachment("Pending", false)}; },
         "pod/hp-volume-a",                 "waits for the kubelet of node n1 to start it"},
        {"the pod is ready",
         [&](View& view) {
             view.pods = {attachment("Running", true)};
             view.vmi->status.volume_status = {status("AttachedToNode")};
         },                                "mount",
         "waits for the agent of node n1"                                                                                                                                                          },
        {"no disk.img",
         [&](View& view) {
             view.pods = {attachment("Running", true)};
             view.vmi->status.volume_status = {status("AttachedToNode")};
             view.warnings["virtualmachineinstance/web"] = {"volume other: x", "volume data: no disk.img"};
         },                                                                 "mount",
         "volume data: no disk.img"},
        {"mounted",
         [&](View& view) {
             view.pods = {attachment("Running", true)};
             view.vmi->status.volume_status = {status("MountedToPod")};
         },                                                                       "guest disk",
         "waits for the launcher to attach it"                                                                                                                                                                    },
        {"attached",
         [&](View& view) {
             view.pods = {attachment("Running", true)};
             view.vmi->status.volume_status = {status("Ready", "sda")};
         },                                                            "nobody",
         ""},
        {"taken out",
         [&](View& view) {
             view.pods = {attachment("Running", true)};
             view.vmi->status.volume_status = {status("Ready", "sda")};
             view.vmi->spec.volumes.clear();
         },                                                                                               "guest disk",
         "waits for the launcher to ask"                                                                                                                                                                                                      },
        {"the guest holds it",
         [&](View& view) {
             view.pods = {attachment("Running", true)};
             view.vmi->status.volume_status = {
                 status("Ready", "sda", "DetachPending", "waiting for the guest to release data since T, 3 requests")
             };
             view.vmi->spec.volumes.clear();
         },                                                                  "guest disk",
         "waiting for the guest to release data since T, 3 requests: see in the guest what uses it"},
        {"released and mounted",
         [&](View& view) {
             view.pods = {attachment("Running", true)};
             view.vmi->status.volume_status = {status("Ready")};
             view.vmi->spec.volumes.clear();
         },       "mount",
         "waits for the node's agent"                                                                                                                                         },
        {"unmounted",
         [&](View& view) {
             view.pods = {attachment("Running", true)};
             view.vmi->status.volume_status = {status("UnMountedFromPod")};
             view.vmi->spec.volumes.clear();
         },                                                                     "pod/hp-volume-a",
         "waits for the controller to delete it"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.step);
        View view = ready_claim();
        row.at(view);
        const Line line = acting(view);
        EXPECT_EQ(line.object, row.object) << print(chain(view), view.now);
        EXPECT_NE(line.why.find(row.why), std::string::npos) << line.why;
    }
}

TEST(Plug, IsAttachedOnlyWithItsOwnClaim) {
    struct Row {
        std::string step;
        std::function<void(View&)> at;
        bool is_attached, is_released;
    };
    const auto of_claim = [](const std::string& name) {
        api::VmVolumeStatus out = status("Ready", "sda");
        out.persistent_volume_claim_info.emplace().claim_name = name;
        return out;
    };
    const Row rows[] = {
        {"requested",     [](View&) {},                                                            false, false},
        {"mounted",       [](View& v) { v.vmi->status.volume_status = {status("MountedToPod")}; }, false, false},
        {"attached",      [&](View& v) { v.vmi->status.volume_status = {of_claim("data")}; },      true,  false},
        {"an older plug", [&](View& v) { v.vmi->status.volume_status = {of_claim("old")}; },       false, false},
        {"being let go",
         [](View& v) { v.vmi->status.volume_status = {status("Ready", "sda", "DetachPending")}; },
         false,                                                                                           false},
        {"no entry",      [](View& v) { v.vmi->spec.volumes.clear(); },                            false, true },
        {"entry left",
         [](View& v) {
             v.vmi->spec.volumes.clear();
             v.vmi->status.volume_status = {status("Detaching")};
         },                                                                                        false,
         false                                                                                                 },
        {"machine gone",  [](View& v) { v.vmi.reset(); },                                          false, true },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.step);
        View view = ready_claim();
        row.at(view);
        EXPECT_EQ(is_attached(view, "data"), row.is_attached);
        EXPECT_EQ(is_released(view, "data"), row.is_released);
    }
}

TEST(Plug, OfAVmWaitsToBePassedOn) {
    View view = ready_claim();
    view.vm.emplace().metadata.name = "web";
    view.vm->status.printable_status = "Running";
    view.vm->spec.vmi_template.emplace().spec.volumes = view.vmi->spec.volumes;
    view.vmi->spec.volumes.clear();
    EXPECT_EQ(acting(view).object, "volume/data");
    EXPECT_NE(acting(view).why.find("waits for the controller to pass it"), std::string::npos) << acting(view).why;
    view.vmi.reset();
    view.vm->status.printable_status = "Stopped";
    EXPECT_EQ(acting(view).object, "nobody") << print(chain(view), view.now);
}

}  // namespace
}  // namespace berth::explain
