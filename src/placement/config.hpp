// What an installation may choose about placement: the switches of docs/spec/placement.md 1.7.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/kubevirt.hpp"

namespace berth::placement {

/// Resources of one kind of helper container, from supportContainerResources.
struct SupportResources {
    std::string type;  ///< "container-disk", "guest-console-log", …
    api::ResourceRequirements resources;
    bool operator==(const SupportResources&) const = default;
};

struct Config {
    std::string launcher_image = "berth.local/launcher";
    std::string launcher_pull_policy = "IfNotPresent";
    std::vector<std::string> image_pull_secrets;
    std::int64_t cpu_allocation_ratio = 10;
    std::int64_t memory_overcommit = 100;      ///< percent
    std::int64_t overhead_ratio_milli = 1000;  ///< additionalGuestMemoryOverheadRatio in thousandths
    bool use_emulation = false;
    bool offers_kvm_device = true;       ///< nodes have devices.kubevirt.io/kvm
    bool offers_network_devices = true;  ///< nodes have devices.kubevirt.io/{tun,vhost-net}
    bool runs_as_root = false;
    std::map<std::string, std::string> node_selectors;  ///< for every pod of a machine
    std::string default_architecture = "amd64";
    std::map<std::string, std::string> machine_types;  ///< by architecture; missing: the usual one
    std::string default_cpu_model = "host-model";
    std::string default_runtime_class;
    std::string default_network_interface = "bridge";
    std::string eviction_strategy;
    std::int64_t launcher_qemu_timeout_seconds = 240;
    std::int64_t max_crash_loop_backoff_seconds = 300;
    std::vector<SupportResources> support_resources;

    [[nodiscard]] std::string machine_type_for(const std::string& architecture) const;
    bool operator==(const Config&) const = default;
};

/// A machine without device plugins: the launcher reaches /dev/kvm or emulates, and networking needs no device.
Config solo_config();

/// `base` with what the installation's KubeVirt object says (spec.configuration). Unreadable settings are left as they
/// are.
Config config_from(Config base, const api::KubeVirt& kubevirt);

}  // namespace berth::placement
