#include "placement/pod/render.hpp"

#include "base/hash.hpp"
#include "placement/names.hpp"
#include "placement/pod/resources.hpp"
#include "placement/pod/volumes.hpp"
#include "placement/pod/where.hpp"

namespace berth::placement {
namespace {

constexpr std::int64_t kDefaultGrace = 30;   // seconds for the guest to shut down
constexpr std::int64_t kLauncherGrace = 15;  // and for the launcher to notice
constexpr std::int64_t kPodGrace = 30;       // and for the pod
constexpr std::int64_t kQemuUser = 107;
constexpr std::int64_t kProbeDelay = 10;
constexpr std::int64_t kTimeoutSpread = 120;  // seconds; keeps launchers of one node from timing out together
constexpr std::string_view kKubectlPrefix = "kubectl.kubernetes.io";

std::int64_t grace_of(const api::VmiSpec& spec) {
    return spec.termination_grace_period_seconds.value_or(kDefaultGrace);
}

void add_metadata(api::Pod& pod, const api::VirtualMachineInstance& vmi, const Config& config, Role role) {
    pod.metadata.ns = vmi.metadata.ns;
    pod.metadata.owner_references = {owned_by(vmi)};
    pod.metadata.labels = vmi.metadata.labels;
    pod.metadata.labels[kLabelApp] = "virt-launcher";
    pod.metadata.labels[kLabelCreatedBy] = vmi.metadata.uid.value;
    pod.metadata.labels[kLabelVmName] = hostname_of(vmi);
    pod.metadata.labels[kLabelVmiId] = vmi_id(vmi.metadata.name);
    for (const auto& [key, value] : vmi.metadata.annotations) {
        if (key.starts_with(kKubectlPrefix) || key == kLatestApiVersion || key == kStorageApiVersion) continue;
        pod.metadata.annotations[key] = value;
    }
    pod.metadata.annotations[kDomain] = vmi.metadata.name;
    pod.metadata.annotations[kTransportUnix] = "true";
    pod.metadata.annotations[kDefaultContainer] = "compute";
    pod.metadata.annotations[kEvictOnly] = "";
    pod.metadata.annotations[kMemoryOverhead] = std::to_string(memory_overhead(vmi.spec, config).value);
    if (role == Role::temp) pod.metadata.annotations[kTempPod] = "true";
}

std::vector<std::string> launcher_args(const api::VirtualMachineInstance& vmi, const Config& config) {
    const auto spread = static_cast<std::int64_t>(fnv1a64(vmi.metadata.uid.value) % kTimeoutSpread);
    std::vector<std::string> args = {
        "--qemu-timeout",
        std::to_string(config.launcher_qemu_timeout_seconds + spread) + "s",
        "--name",
        vmi.metadata.name,
        "--uid",
        vmi.metadata.uid.value,
        "--namespace",
        vmi.metadata.ns,
        "--kubevirt-share-dir",
        "/var/run/kubevirt",
        "--ephemeral-disk-dir",
        kEphemeralDiskDir,
        "--container-disk-dir",
        kContainerDiskDir,
        "--grace-period-seconds",
        std::to_string(grace_of(vmi.spec) + kLauncherGrace),
        "--hook-sidecars",
        "0",
        "--ovmf-path",
        "/usr/share/OVMF",
        "--disk-memory-limit",
        "2097152000",
        "--hypervisor",
        "kvm",
    };
    if (!config.runs_as_root) args.push_back("--run-as-nonroot");
    if (config.use_emulation) args.push_back("--allow-emulation");
    return args;
}

std::vector<api::EnvVar> environment(const PodVolumes& volumes, const Config& config) {
    std::vector<api::EnvVar> out;
    if (!config.runs_as_root) {
        out.push_back({.name = "XDG_CACHE_HOME", .value = kPrivateDir});
        out.push_back({.name = "XDG_CONFIG_HOME", .value = kPrivateDir});
        out.push_back({.name = "XDG_RUNTIME_DIR", .value = "/var/run"});
    }
    if (!volumes.shared_paths.empty()) {
        std::string paths;
        for (const std::string& path : volumes.shared_paths) paths += (paths.empty() ? "" : ":") + path;
        out.push_back({.name = "SHARED_FILESYSTEM_PATHS", .value = paths});
    }
    api::EnvVar name{.name = "POD_NAME"};
    name.value_from = json::Object{
        {"fieldRef", json::Object{{"apiVersion", "v1"}, {"fieldPath", "metadata.name"}}}
    };
    out.push_back(std::move(name));
    return out;
}

json::Value compute_security(const Config& config) {
    if (config.runs_as_root) {
        return json::Object{
            {"runAsUser",    0                                                                 },
            {"capabilities", json::Object{{"add", json::Array{"NET_BIND_SERVICE", "SYS_NICE"}}}}
        };
    }
    return json::Object{
        {"allowPrivilegeEscalation", false                                                                               },
        {"capabilities",             json::Object{{"add", json::Array{"NET_BIND_SERVICE"}}, {"drop", json::Array{"ALL"}}}},
        {"runAsUser",                kQemuUser                                                                           },
        {"runAsNonRoot",             true                                                                                },
    };
}

// A guest needs a moment before it can answer: both probes start later than the user asked.
json::Value probe_of(const json::Value& probe) {
    if (!probe.is_object()) return {};
    json::Value out = probe;
    json::set(
        out,
        "/initialDelaySeconds",
        json::Value(json::integer_at(probe, "/initialDelaySeconds").value_or(0) + kProbeDelay)
    );
    return out;
}

api::Container compute_container(const RenderInput& input, const PodVolumes& volumes, Role role) {
    api::Container out;
    out.name = "compute";
    out.image = input.config.launcher_image;
    out.image_pull_policy = input.config.launcher_pull_policy;
    if (role == Role::temp) {
        out.command = {"/bin/bash"};
        out.args = {"-c", "echo", "bound PVCs"};
    } else {
        out.command = {"/usr/bin/virt-launcher-monitor"};
        out.args = launcher_args(input.vmi, input.config);
    }
    out.env = environment(volumes, input.config);
    out.resources = compute_resources(input.vmi.spec, input.config);
    out.volume_mounts = volumes.mounts;
    out.volume_devices = volumes.devices;
    out.security_context = compute_security(input.config);
    out.readiness_probe = probe_of(input.vmi.spec.readiness_probe);
    out.liveness_probe = probe_of(input.vmi.spec.liveness_probe);
    return out;
}

// Streams the guest's serial port into the pod's log. Only on an explicit wish: each such machine costs one more
// process.
std::vector<api::Container> init_containers(const RenderInput& input) {
    if (!input.vmi.spec.domain.devices.log_serial_console.value_or(false)) return {};
    api::Container log;
    log.name = "guest-console-log";
    log.image = input.config.launcher_image;
    log.image_pull_policy = input.config.launcher_pull_policy;
    log.command = {"/usr/bin/tail"};
    log.args = {"-n", "+1", "-F", std::string(kPrivateDir) + "/" + input.vmi.metadata.uid.value + "/virt-serial0-log"};
    log.restart_policy = "Always";
    log.resources = helper_resources("guest-console-log", input.config);
    log.volume_mounts = {
        {.name = "private", .mount_path = kPrivateDir, .read_only = true}
    };
    log.security_context = json::Object{
        {"runAsUser",                kQemuUser                                 },
        {"runAsNonRoot",             true                                      },
        {"allowPrivilegeEscalation", false                                     },
        {"capabilities",             json::Object{{"drop", json::Array{"ALL"}}}},
    };
    return {std::move(log)};
}

json::Value pull_secrets(const RenderInput& input) {
    json::Array out;
    const auto add = [&](const std::string& name) {
        const json::Value entry = json::Object{
            {"name", name}
        };
        if (!name.empty() && std::ranges::find(out, entry) == out.end()) out.push_back(entry);
    };
    for (const api::VmVolume& volume : input.vmi.spec.volumes) {
        if (volume.container_disk) add(volume.container_disk->image_pull_secret);
    }
    for (const std::string& name : input.config.image_pull_secrets) add(name);
    return out.empty() ? json::Value() : json::Value(std::move(out));
}

json::Value pod_security(const Config& config) {
    if (config.runs_as_root)
        return json::Object{
            {"fsGroup",   kQemuUser},
            {"runAsUser", 0        }
        };
    return json::Object{
        {"fsGroup",      kQemuUser},
        {"runAsUser",    kQemuUser},
        {"runAsGroup",   kQemuUser},
        {"runAsNonRoot", true     }
    };
}

void add_placement(api::PodSpec& out, const RenderInput& input) {
    const api::VmiSpec& spec = input.vmi.spec;
    out.scheduler_name = spec.scheduler_name;
    out.node_selector = node_selector_for(spec, input.config);
    out.affinity = affinity_for(spec, input.config);
    out.tolerations = spec.tolerations;
    out.topology_spread_constraints = spec.topology_spread_constraints;
    out.priority_class_name = spec.priority_class_name;
    out.dns_policy = spec.dns_policy;
    out.dns_config = spec.dns_config;
    out.resource_claims = spec.resource_claims;
    out.runtime_class_name = input.config.default_runtime_class;
}

std::vector<Uid> claim_uids(const RenderInput& input) {
    std::vector<Uid> out;
    for (const api::VmVolume& volume : input.vmi.spec.volumes) {
        if (volume.claim_name().empty() || !is_mounted(input.vmi, volume)) continue;
        if (const auto* claim = find_claim(input.claims, volume.claim_name())) out.push_back(claim->metadata.uid);
    }
    return out;
}

}  // namespace

Result<api::Pod> render(const RenderInput& input, Role role) {
    TRY(const PodVolumes volumes, volumes_for(input));
    const api::VirtualMachineInstance& vmi = input.vmi;
    api::Pod pod;
    add_metadata(pod, vmi, input.config, role);
    pod.metadata.name = pod_name(vmi, role == Role::temp ? "temp" : "real", claim_uids(input));
    add_placement(pod.spec, input);
    pod.spec.termination_grace_period_seconds = grace_of(vmi.spec) + kPodGrace;
    pod.spec.restart_policy = "Never";
    pod.spec.hostname = hostname_of(vmi);
    pod.spec.subdomain = vmi.spec.subdomain;
    pod.spec.service_account_name = volumes.service_account;
    pod.spec.automount_service_account_token = !volumes.service_account.empty();
    pod.spec.enable_service_links = false;
    pod.spec.readiness_gates = json::Array{json::Object{{"conditionType", "kubevirt.io/virtual-machine-unpaused"}}};
    pod.spec.image_pull_secrets = pull_secrets(input);
    pod.spec.security_context = pod_security(input.config);
    pod.spec.volumes = volumes.volumes;
    pod.spec.init_containers = init_containers(input);
    pod.spec.containers = {compute_container(input, volumes, role)};
    for (api::Container& helper : container_disks_for(input)) pod.spec.containers.push_back(std::move(helper));
    return pod;
}

}  // namespace berth::placement
