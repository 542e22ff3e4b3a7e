// kubevirt.io/v1 as rules see it (docs/spec/placement.md 1, hotplug.md).
#pragma once

#include "api/cdi.hpp"
#include "api/core.hpp"

namespace berth::api {

// --- The machine
// ---------------------------------------------------------------------------------------------------------

struct Cpu {
    std::int64_t cores = 0;
    std::int64_t sockets = 0;
    std::int64_t threads = 0;
    std::string model;
    json::Value features;  ///< [{name, policy}]
    bool dedicated_cpu_placement = false;
    bool isolate_emulator_thread = false;
    std::int64_t max_sockets = 0;
    json::Value numa;
    json::Value realtime;
    bool operator==(const Cpu&) const = default;
};

struct Memory {
    Quantity guest;
    json::Value hugepages;  ///< {pageSize}
    Quantity max_guest;
    json::Value reserved_overhead;
    bool operator==(const Memory&) const = default;
};

struct DomainResources {
    std::map<std::string, Quantity> requests;
    std::map<std::string, Quantity> limits;
    bool overcommit_guest_overhead = false;
    bool operator==(const DomainResources&) const = default;
};

struct DiskTarget {
    std::string bus;  ///< virtio, sata, scsi, usb
    bool read_only = false;
    std::string tray;
    std::string pci_address;
    bool reservation = false;  ///< of a LUN
    bool operator==(const DiskTarget&) const = default;
};

struct Disk {
    std::string name;
    std::optional<DiskTarget> disk;
    std::optional<DiskTarget> cdrom;
    std::optional<DiskTarget> lun;
    std::optional<std::int64_t> boot_order;
    std::string serial;
    std::string cache;
    std::string io;
    std::optional<bool> dedicated_io_thread;
    json::Value block_size;
    std::string error_policy;
    std::optional<bool> shareable;
    std::string tag;
    std::optional<bool> changed_block_tracking;
    bool operator==(const Disk&) const = default;
};

struct Devices {
    std::vector<Disk> disks;
    json::Value interfaces;
    json::Value filesystems;
    json::Value gpus;
    json::Value host_devices;
    json::Value tpm;
    std::optional<bool> autoattach_graphics_device;
    std::optional<bool> autoattach_serial_console;
    std::optional<bool> log_serial_console;
    std::optional<bool> autoattach_pod_interface;
    std::optional<bool> autoattach_mem_balloon;
    json::Value rng;
    json::Value inputs;
    json::Value watchdog;
    json::Value sound;
    json::Value video;
    json::Value panic_devices;
    json::Value downward_metrics;
    json::Value client_passthrough;
    std::optional<bool> autoattach_input_device;
    std::optional<bool> autoattach_vsock;
    std::optional<bool> block_multi_queue;
    std::optional<bool> network_interface_multiqueue;
    std::optional<bool> use_virtio_transitional;
    bool disable_hotplug = false;
    bool operator==(const Devices&) const = default;
};

struct Machine {
    std::string type;
    bool operator==(const Machine&) const = default;
};

struct Firmware {
    std::string uuid;
    std::string serial;
    json::Value bootloader;
    json::Value kernel_boot;
    json::Value acpi;
    bool operator==(const Firmware&) const = default;
};

struct Domain {
    std::optional<Cpu> cpu;
    std::optional<Memory> memory;
    std::optional<DomainResources> resources;
    std::optional<Machine> machine;
    std::optional<Firmware> firmware;
    json::Value features;
    json::Value clock;
    std::string io_threads_policy;
    Devices devices;
    json::Value io_threads;
    json::Value chassis;
    json::Value launch_security;
    std::string reboot_policy;
    bool operator==(const Domain&) const = default;
};

struct ContainerDiskSource {
    std::string image;
    std::string image_pull_policy;
    std::string image_pull_secret;
    std::string path;
    bool operator==(const ContainerDiskSource&) const = default;
};

struct CloudInitSource {
    std::string user_data;
    std::string user_data_base64;
    std::string network_data;
    std::string network_data_base64;
    json::Value secret_ref;
    json::Value network_data_secret_ref;
    bool operator==(const CloudInitSource&) const = default;
};

struct DataVolumeVolumeSource {
    std::string name;
    bool hotpluggable = false;
    bool operator==(const DataVolumeVolumeSource&) const = default;
};

struct VmClaimSource {
    std::string claim_name;
    bool read_only = false;
    bool hotpluggable = false;
    bool operator==(const VmClaimSource&) const = default;
};

struct EphemeralSource {
    std::optional<VmClaimSource> persistent_volume_claim;
    bool operator==(const EphemeralSource&) const = default;
};

struct EmptyDiskSource {
    Quantity capacity;
    bool operator==(const EmptyDiskSource&) const = default;
};

struct HostDiskSource {
    std::string path;
    std::string type;
    Quantity capacity;
    std::optional<bool> shared;
    bool operator==(const HostDiskSource&) const = default;
};

/// spec.volumes[] of a VMI: a name and exactly one source.
struct VmVolume {
    std::string name;
    std::optional<DataVolumeVolumeSource> data_volume;
    std::optional<VmClaimSource> persistent_volume_claim;
    std::optional<EphemeralSource> ephemeral;
    std::optional<VmClaimSource> memory_dump;
    std::optional<ContainerDiskSource> container_disk;
    std::optional<CloudInitSource> cloud_init_no_cloud;
    std::optional<CloudInitSource> cloud_init_config_drive;
    std::optional<EmptyDiskSource> empty_disk;
    std::optional<HostDiskSource> host_disk;
    json::Value config_map;
    json::Value secret;
    json::Value service_account;
    json::Value sysprep;
    json::Value downward_api;
    json::Value downward_metrics;
    json::Value container_path;
    bool operator==(const VmVolume&) const = default;

    /// The claim behind the volume, or "".
    [[nodiscard]] std::string claim_name() const;
    [[nodiscard]] bool is_hotpluggable() const;
};

struct VmiSpec {
    Domain domain;
    std::vector<VmVolume> volumes;
    json::Value networks;
    std::map<std::string, std::string> node_selector;
    std::optional<Affinity> affinity;
    std::vector<Toleration> tolerations;
    std::vector<TopologySpreadConstraint> topology_spread_constraints;
    std::string scheduler_name;
    std::string priority_class_name;
    std::string architecture;
    std::string hostname;
    std::string subdomain;
    std::string dns_policy;
    json::Value dns_config;
    std::optional<std::int64_t> termination_grace_period_seconds;
    std::string eviction_strategy;
    std::string start_strategy;
    json::Value liveness_probe;
    json::Value readiness_probe;
    json::Value access_credentials;
    json::Value resource_claims;
    std::string service_account_name;
    json::Value utility_volumes;
    bool operator==(const VmiSpec&) const = default;
};

struct PhaseTransition {
    std::string phase;
    std::optional<Timestamp> at;
    bool operator==(const PhaseTransition&) const = default;
};

struct ClaimSummary {
    std::string claim_name;
    std::vector<std::string> access_modes;
    std::string volume_mode;
    std::map<std::string, Quantity> capacity;
    std::map<std::string, Quantity> requests;
    bool preallocated = false;
    std::string filesystem_overhead;
    bool operator==(const ClaimSummary&) const = default;
};

struct HotplugVolumeStatus {
    std::string attach_pod_name;
    Uid attach_pod_uid;
    bool operator==(const HotplugVolumeStatus&) const = default;
};

struct VmVolumeStatus {
    std::string name;
    std::string target;
    std::string phase;
    std::string reason;
    std::string message;
    std::int64_t size = 0;
    std::optional<ClaimSummary> persistent_volume_claim_info;
    std::optional<HotplugVolumeStatus> hotplug_volume;
    json::Value container_disk_volume;
    bool operator==(const VmVolumeStatus&) const = default;
};

struct VmiStatus {
    std::string phase;
    std::vector<PhaseTransition> phase_transition_timestamps;
    std::string reason;
    std::string node_name;
    std::vector<Condition> conditions;
    std::map<std::string, std::string> active_pods;  ///< pod UID → node name
    std::vector<VmVolumeStatus> volume_status;
    std::string qos_class;
    std::string launcher_container_image_version;
    std::string virtual_machine_revision_name;
    std::int64_t runtime_user = 0;
    std::string migration_transport;
    json::Value migration_state;
    std::string selinux_context;  ///< "none": the node has no SELinux
    json::Value interfaces;
    json::Value guest_os_info;
    json::Value memory;
    json::Value current_cpu_topology;
    std::optional<Machine> machine;
    bool operator==(const VmiStatus&) const = default;
};

struct VirtualMachineInstance {
    ObjectMeta metadata;
    VmiSpec spec;
    VmiStatus status;
    bool operator==(const VirtualMachineInstance&) const = default;
    [[nodiscard]] bool is_final() const { return status.phase == "Succeeded" || status.phase == "Failed"; }
};

// --- VirtualMachine
// ------------------------------------------------------------------------------------------------------

struct VmiTemplateMeta {
    std::map<std::string, std::string> labels;
    std::map<std::string, std::string> annotations;
    bool operator==(const VmiTemplateMeta&) const = default;
};

struct VmiTemplate {
    VmiTemplateMeta metadata;
    VmiSpec spec;
    bool operator==(const VmiTemplate&) const = default;
};

struct DataVolumeTemplate {
    ObjectMeta metadata;
    DataVolumeSpec spec;
    std::string api_version;
    std::string kind;
    json::Value status;
    bool operator==(const DataVolumeTemplate&) const = default;
};

struct VmSpec {
    std::string run_strategy;
    std::optional<bool> running;
    std::optional<VmiTemplate> vmi_template;
    std::vector<DataVolumeTemplate> data_volume_templates;
    std::string update_volumes_strategy;
    json::Value instancetype;
    json::Value preference;
    bool operator==(const VmSpec&) const = default;
};

struct StateChangeRequest {
    std::string action;  ///< Start, Stop
    Uid uid;
    std::map<std::string, std::string> data;
    bool operator==(const StateChangeRequest&) const = default;
};

struct StartFailure {
    std::int64_t consecutive_fail_count = 0;
    Uid last_failed_vmi_uid;
    std::optional<Timestamp> retry_after_timestamp;
    bool operator==(const StartFailure&) const = default;
};

struct VmStatus {
    bool created = false;
    bool ready = false;
    std::string printable_status;
    std::vector<Condition> conditions;
    std::vector<StateChangeRequest> state_change_requests;
    std::optional<StartFailure> start_failure;
    std::string run_strategy;
    std::int64_t observed_generation = 0;
    std::int64_t desired_generation = 0;
    json::Value volume_requests;
    bool operator==(const VmStatus&) const = default;
};

struct VirtualMachine {
    ObjectMeta metadata;
    VmSpec spec;
    VmStatus status;
    bool operator==(const VirtualMachine&) const = default;
};

struct ControllerRevision {
    ObjectMeta metadata;
    json::Value data;
    std::int64_t revision = 0;
    bool operator==(const ControllerRevision&) const = default;
};

/// The installation's configuration object (KubeVirt "kubevirt").
struct KubeVirt {
    ObjectMeta metadata;
    json::Value spec;
    json::Value status;
    bool operator==(const KubeVirt&) const = default;
};

}  // namespace berth::api
