// Descriptions of api/kubevirt.hpp; for the .cpp files of this folder.
#pragma once

#include "api/cdi_fields.hpp"
#include "api/kubevirt.hpp"

namespace berth::api {

template <>
struct Describe<Cpu> {
    using T = Cpu;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"cores", &T::cores},
        Field{"sockets", &T::sockets},
        Field{"threads", &T::threads},
        Field{"model", &T::model},
        Field{"features", &T::features},
        Field{"dedicatedCpuPlacement", &T::dedicated_cpu_placement},
        Field{"isolateEmulatorThread", &T::isolate_emulator_thread},
    };
};

template <>
struct Describe<Memory> {
    using T = Memory;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"guest", &T::guest},
        Field{"hugepages", &T::hugepages},
    };
};

template <>
struct Describe<DomainResources> {
    using T = DomainResources;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"requests", &T::requests},
        Field{"limits", &T::limits},
        Field{"overcommitGuestOverhead", &T::overcommit_guest_overhead},
    };
};

template <>
struct Describe<DiskTarget> {
    using T = DiskTarget;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"bus", &T::bus},
        Field{"readonly", &T::read_only},
        Field{"tray", &T::tray},
        Field{"pciAddress", &T::pci_address},
    };
};

template <>
struct Describe<Disk> {
    using T = Disk;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name", &T::name},
        Field{"disk", &T::disk},
        Field{"cdrom", &T::cdrom},
        Field{"lun", &T::lun},
        Field{"bootOrder", &T::boot_order},
        Field{"serial", &T::serial},
        Field{"cache", &T::cache},
        Field{"io", &T::io},
        Field{"dedicatedIOThread", &T::dedicated_io_thread},
        Field{"blockSize", &T::block_size},
        Field{"errorPolicy", &T::error_policy},
        Field{"shareable", &T::shareable},
    };
};

template <>
struct Describe<Devices> {
    using T = Devices;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"disks", &T::disks},
        Field{"interfaces", &T::interfaces},
        Field{"filesystems", &T::filesystems},
        Field{"gpus", &T::gpus},
        Field{"hostDevices", &T::host_devices},
        Field{"tpm", &T::tpm},
        Field{"autoattachGraphicsDevice", &T::autoattach_graphics_device},
        Field{"autoattachSerialConsole", &T::autoattach_serial_console},
        Field{"logSerialConsole", &T::log_serial_console},
        Field{"autoattachPodInterface", &T::autoattach_pod_interface},
        Field{"autoattachMemBalloon", &T::autoattach_mem_balloon},
        Field{"rng", &T::rng},
    };
};

template <>
struct Describe<Machine> {
    using T = Machine;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"type", &T::type},
    };
};

template <>
struct Describe<Firmware> {
    using T = Firmware;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"uuid", &T::uuid},
        Field{"serial", &T::serial},
        Field{"bootloader", &T::bootloader},
        Field{"kernelBoot", &T::kernel_boot},
    };
};

template <>
struct Describe<Domain> {
    using T = Domain;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"cpu", &T::cpu},
        Field{"memory", &T::memory},
        Field{"resources", &T::resources},
        Field{"machine", &T::machine},
        Field{"firmware", &T::firmware},
        Field{"features", &T::features},
        Field{"clock", &T::clock},
        Field{"ioThreadsPolicy", &T::io_threads_policy},
        Field{"devices", &T::devices},
    };
};

template <>
struct Describe<ContainerDiskSource> {
    using T = ContainerDiskSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"image", &T::image},
        Field{"imagePullPolicy", &T::image_pull_policy},
        Field{"imagePullSecret", &T::image_pull_secret},
        Field{"path", &T::path},
    };
};

template <>
struct Describe<CloudInitSource> {
    using T = CloudInitSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"userData", &T::user_data},
        Field{"userDataBase64", &T::user_data_base64},
        Field{"networkData", &T::network_data},
        Field{"networkDataBase64", &T::network_data_base64},
        Field{"secretRef", &T::secret_ref},
        Field{"networkDataSecretRef", &T::network_data_secret_ref},
    };
};

template <>
struct Describe<DataVolumeVolumeSource> {
    using T = DataVolumeVolumeSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name", &T::name},
        Field{"hotpluggable", &T::hotpluggable},
    };
};

template <>
struct Describe<VmClaimSource> {
    using T = VmClaimSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"claimName", &T::claim_name},
        Field{"readOnly", &T::read_only},
        Field{"hotpluggable", &T::hotpluggable},
    };
};

template <>
struct Describe<EphemeralSource> {
    using T = EphemeralSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"persistentVolumeClaim", &T::persistent_volume_claim},
    };
};

template <>
struct Describe<EmptyDiskSource> {
    using T = EmptyDiskSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"capacity", &T::capacity},
    };
};

template <>
struct Describe<HostDiskSource> {
    using T = HostDiskSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"path", &T::path},
        Field{"type", &T::type},
        Field{"capacity", &T::capacity},
    };
};

template <>
struct Describe<VmVolume> {
    using T = VmVolume;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name", &T::name},
        Field{"dataVolume", &T::data_volume},
        Field{"persistentVolumeClaim", &T::persistent_volume_claim},
        Field{"ephemeral", &T::ephemeral},
        Field{"memoryDump", &T::memory_dump},
        Field{"containerDisk", &T::container_disk},
        Field{"cloudInitNoCloud", &T::cloud_init_no_cloud},
        Field{"cloudInitConfigDrive", &T::cloud_init_config_drive},
        Field{"emptyDisk", &T::empty_disk},
        Field{"hostDisk", &T::host_disk},
        Field{"configMap", &T::config_map},
        Field{"secret", &T::secret},
        Field{"serviceAccount", &T::service_account},
        Field{"sysprep", &T::sysprep},
        Field{"downwardAPI", &T::downward_api},
        Field{"downwardMetrics", &T::downward_metrics},
    };
};

template <>
struct Describe<VmiSpec> {
    using T = VmiSpec;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"domain", &T::domain},
        Field{"volumes", &T::volumes},
        Field{"networks", &T::networks},
        Field{"nodeSelector", &T::node_selector},
        Field{"affinity", &T::affinity},
        Field{"tolerations", &T::tolerations},
        Field{"topologySpreadConstraints", &T::topology_spread_constraints},
        Field{"schedulerName", &T::scheduler_name},
        Field{"priorityClassName", &T::priority_class_name},
        Field{"architecture", &T::architecture},
        Field{"hostname", &T::hostname},
        Field{"subdomain", &T::subdomain},
        Field{"dnsPolicy", &T::dns_policy},
        Field{"dnsConfig", &T::dns_config},
        Field{"terminationGracePeriodSeconds", &T::termination_grace_period_seconds},
        Field{"evictionStrategy", &T::eviction_strategy},
        Field{"startStrategy", &T::start_strategy},
        Field{"livenessProbe", &T::liveness_probe},
        Field{"readinessProbe", &T::readiness_probe},
        Field{"accessCredentials", &T::access_credentials},
        Field{"resourceClaims", &T::resource_claims},
    };
};

template <>
struct Describe<PhaseTransition> {
    using T = PhaseTransition;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"phase", &T::phase},
        Field{"phaseTransitionTimestamp", &T::at},
    };
};

template <>
struct Describe<ClaimSummary> {
    using T = ClaimSummary;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"claimName", &T::claim_name},
        Field{"accessModes", &T::access_modes},
        Field{"volumeMode", &T::volume_mode},
        Field{"capacity", &T::capacity},
        Field{"requests", &T::requests},
        Field{"preallocated", &T::preallocated},
        Field{"filesystemOverhead", &T::filesystem_overhead},
    };
};

template <>
struct Describe<HotplugVolumeStatus> {
    using T = HotplugVolumeStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"attachPodName", &T::attach_pod_name},
        Field{"attachPodUID", &T::attach_pod_uid},
    };
};

template <>
struct Describe<VmVolumeStatus> {
    using T = VmVolumeStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name", &T::name},
        Field{"target", &T::target},
        Field{"phase", &T::phase},
        Field{"reason", &T::reason},
        Field{"message", &T::message},
        Field{"size", &T::size},
        Field{"persistentVolumeClaimInfo", &T::persistent_volume_claim_info},
        Field{"hotplugVolume", &T::hotplug_volume},
        Field{"containerDiskVolume", &T::container_disk_volume},
    };
};

template <>
struct Describe<VmiStatus> {
    using T = VmiStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"phase", &T::phase},
        Field{"phaseTransitionTimestamps", &T::phase_transition_timestamps},
        Field{"reason", &T::reason},
        Field{"nodeName", &T::node_name},
        Field{"conditions", &T::conditions},
        Field{"activePods", &T::active_pods},
        Field{"volumeStatus", &T::volume_status},
        Field{"qosClass", &T::qos_class},
        Field{"launcherContainerImageVersion", &T::launcher_container_image_version},
        Field{"virtualMachineRevisionName", &T::virtual_machine_revision_name},
        Field{"runtimeUser", &T::runtime_user},
        Field{"migrationTransport", &T::migration_transport},
        Field{"interfaces", &T::interfaces},
        Field{"guestOSInfo", &T::guest_os_info},
        Field{"memory", &T::memory},
        Field{"currentCPUTopology", &T::current_cpu_topology},
        Field{"machine", &T::machine},
    };
};

template <>
struct Describe<VirtualMachineInstance> {
    using T = VirtualMachineInstance;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec", &T::spec},
        Field{"status", &T::status},
    };
};

template <>
struct Describe<VmiTemplateMeta> {
    using T = VmiTemplateMeta;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"labels", &T::labels},
        Field{"annotations", &T::annotations},
    };
};

template <>
struct Describe<VmiTemplate> {
    using T = VmiTemplate;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec", &T::spec},
    };
};

template <>
struct Describe<DataVolumeTemplate> {
    using T = DataVolumeTemplate;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec", &T::spec},
    };
};

template <>
struct Describe<VmSpec> {
    using T = VmSpec;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"runStrategy", &T::run_strategy},
        Field{"running", &T::running},
        Field{"template", &T::vmi_template},
        Field{"dataVolumeTemplates", &T::data_volume_templates},
        Field{"updateVolumesStrategy", &T::update_volumes_strategy},
        Field{"instancetype", &T::instancetype},
        Field{"preference", &T::preference},
    };
};

template <>
struct Describe<StateChangeRequest> {
    using T = StateChangeRequest;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"action", &T::action},
        Field{"uid", &T::uid},
        Field{"data", &T::data},
    };
};

template <>
struct Describe<StartFailure> {
    using T = StartFailure;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"consecutiveFailCount", &T::consecutive_fail_count},
        Field{"lastFailedVMIUID", &T::last_failed_vmi_uid},
        Field{"retryAfterTimestamp", &T::retry_after_timestamp},
    };
};

template <>
struct Describe<VmStatus> {
    using T = VmStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"created", &T::created},
        Field{"ready", &T::ready},
        Field{"printableStatus", &T::printable_status},
        Field{"conditions", &T::conditions},
        Field{"stateChangeRequests", &T::state_change_requests},
        Field{"startFailure", &T::start_failure},
        Field{"runStrategy", &T::run_strategy},
        Field{"observedGeneration", &T::observed_generation},
        Field{"desiredGeneration", &T::desired_generation},
        Field{"volumeRequests", &T::volume_requests},
    };
};

template <>
struct Describe<VirtualMachine> {
    using T = VirtualMachine;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec", &T::spec},
        Field{"status", &T::status},
    };
};

template <>
struct Describe<ControllerRevision> {
    using T = ControllerRevision;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"data", &T::data},
        Field{"revision", &T::revision},
    };
};

template <>
struct Describe<KubeVirt> {
    using T = KubeVirt;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec", &T::spec},
        Field{"status", &T::status},
    };
};

}  // namespace berth::api
