#include "hotplug/pod/render.hpp"

#include <tuple>

#include "placement/names.hpp"

namespace berth::hotplug {
namespace {

constexpr std::int64_t kQemuUser = 107;

// What is given for this type of container replaces the usual value, one by one.
api::ResourceRequirements resources(const placement::Config& config) {
    api::ResourceRequirements out{
        .requests = {{"cpu", Quantity{"10m"}},  {"memory", Quantity{"2M"}} },
        .limits = {{"cpu", Quantity{"100m"}}, {"memory", Quantity{"80M"}}},
    };
    for (const placement::SupportResources& given : config.support_resources) {
        if (given.type != kContainer) continue;
        for (const auto& [name, amount] : given.resources.requests) out.requests[name] = amount;
        for (const auto& [name, amount] : given.resources.limits) out.limits[name] = amount;
    }
    return out;
}

json::Value security(const std::string& selinux_level) {
    return json::Object{
        {"allowPrivilegeEscalation", false                                              },
        {"runAsNonRoot",             true                                               },
        {"runAsUser",                kQemuUser                                          },
        {"seccompProfile",           json::Object{{"type", "RuntimeDefault"}}           },
        {"capabilities",             json::Object{{"drop", json::Array{"ALL"}}}         },
        {"seLinuxOptions",           json::Object{{"level", json::Value(selinux_level)}}},
    };
}

std::string launcher_image(const api::Pod& launcher) {
    const auto it = std::ranges::find(launcher.spec.containers, "compute", &api::Container::name);
    return it == launcher.spec.containers.end() ? std::string() : it->image;
}

// A node that takes no new work still runs the machine, and its disks belong there.
std::vector<api::Toleration> tolerations(const api::Pod& launcher) {
    std::vector<api::Toleration> out;
    for (const char* what :
         {"unschedulable", "network-unavailable", "disk-pressure", "memory-pressure", "pid-pressure"}) {
        out.push_back({.key = std::string("node.kubernetes.io/") + what, .op = "Exists", .effect = "NoSchedule"});
    }
    for (const api::Toleration& one : launcher.spec.tolerations) {
        if (std::ranges::find(out, one) == out.end()) out.push_back(one);
    }
    std::ranges::sort(out, {}, [](const api::Toleration& one) {
        return std::tie(one.key, one.op, one.value, one.effect);
    });
    return out;
}

api::Affinity on_node(const std::string& node) {
    api::NodeSelectorTerm here;
    here.match_expressions.push_back({.key = "kubernetes.io/hostname", .op = "In", .values = {node}});
    api::Affinity out;
    out.node_affinity.emplace().required.emplace().node_selector_terms.push_back(std::move(here));
    return out;
}

api::Affinity beside(const api::Pod& launcher) {
    api::PodAffinityTerm term{.topology_key = "kubernetes.io/hostname"};
    term.label_selector.emplace().match_labels = launcher.metadata.labels;
    api::Affinity out;
    out.pod_affinity.emplace().required.push_back(std::move(term));
    return out;
}

api::PodVolume claim_volume(const Mounted& mounted) {
    api::PodVolume out{.name = mounted.volume};
    out.persistent_volume_claim = api::ClaimVolumeSource{.claim_name = mounted.claim->metadata.name};
    return out;
}

// What both pods have.
api::Pod frame(const RenderInput& input) {
    api::Pod pod;
    pod.metadata.ns = input.vmi.metadata.ns;
    pod.metadata.labels[placement::kLabelApp] = kHotplugLabel;
    pod.metadata.annotations[kOwnerVmiName] = input.vmi.metadata.name;
    pod.metadata.annotations[kOwnerVmiUid] = input.vmi.metadata.uid.value;
    pod.metadata.owner_references = {
        {.api_version = "v1",
         .kind = "Pod",
         .name = input.launcher.metadata.name,
         .uid = input.launcher.metadata.uid,
         .controller = true,
         .block_owner_deletion = true}
    };
    pod.spec.termination_grace_period_seconds = 0;
    api::PodVolume disks{.name = kDisksVolume};
    disks.empty_dir.emplace();
    pod.spec.volumes.push_back(std::move(disks));
    api::Container container{.name = kContainer, .image = launcher_image(input.launcher)};
    container.resources = resources(input.config);
    container.security_context = security(input.selinux_level);
    container.volume_mounts.push_back(
        {.name = kDisksVolume, .mount_path = "/path", .mount_propagation = "HostToContainer"}
    );
    pod.spec.containers.push_back(std::move(container));
    return pod;
}

}  // namespace

std::optional<std::string> selinux_level(const api::VirtualMachineInstance& vmi) {
    std::string_view context = vmi.status.selinux_context;
    if (context.empty()) context = json::text_at(vmi.status.migration_state, "/sourceState/selinuxContext");
    if (context == "none") return "s0";
    // user:role:type:level, and the level may hold more colons.
    for (int i = 0; i < 3; ++i) {
        const std::size_t colon = context.find(':');
        if (colon == std::string_view::npos) return {};
        context.remove_prefix(colon + 1);
    }
    if (context.empty()) return {};
    return std::string(context);
}

api::Pod attachment_pod(const RenderInput& input, const std::vector<Mounted>& mounted) {
    api::Pod pod = frame(input);
    pod.metadata.name = pod_name(input.launcher.metadata.uid, Purpose::attach, mounted, input.taken);
    pod.spec.affinity = on_node(input.launcher.spec.node_name);
    pod.spec.tolerations = tolerations(input.launcher);
    api::Container& container = pod.spec.containers.front();
    container.command = {"/bin/sh", "-c", "/usr/bin/container-disk --copy-path /path/hp"};
    for (const Mounted& one : mounted) {
        pod.spec.volumes.push_back(claim_volume(one));
        if (one.claim->spec.is_block()) {
            const std::string path = "/path/" + one.volume + "/" + one.claim->metadata.uid.value;
            container.volume_devices.push_back({.name = one.volume, .device_path = path});
        } else {
            // Below a directory of its own: a volume may be called like a directory of the image.
            container.volume_mounts.push_back({.name = one.volume, .mount_path = "/hotplug/" + one.volume});
        }
    }
    return pod;
}

api::Pod trigger_pod(const RenderInput& input, const Mounted& mounted) {
    api::Pod pod = frame(input);
    pod.metadata.name = pod_name(input.launcher.metadata.uid, Purpose::trigger, {mounted}, input.taken);
    pod.metadata.annotations[placement::kTempPod] = "true";
    pod.spec.affinity = beside(input.launcher);
    pod.spec.tolerations = input.launcher.spec.tolerations;
    pod.spec.volumes.push_back(claim_volume(mounted));
    api::Container& container = pod.spec.containers.front();
    container.command = {"/bin/bash", "-c", "exit", "0"};
    if (mounted.claim->spec.is_block()) {
        container.volume_devices.push_back({.name = mounted.volume, .device_path = "/dev/hotplugblockdevice"});
        pod.spec.security_context = json::Object{
            {"runAsUser", 0}
        };
    } else {
        container.volume_mounts.push_back({.name = mounted.volume, .mount_path = "/pvc"});
    }
    return pod;
}

}  // namespace berth::hotplug
