// The volumes of a machine's pods and where its containers find them.
// Contract: docs/spec/placement.md 3.4
#pragma once

#include "placement/pod/render.hpp"

namespace berth::placement {

inline constexpr const char* kPrivateDir = "/var/run/kubevirt-private";
inline constexpr const char* kContainerDiskDir = "/var/run/kubevirt/container-disks";
inline constexpr const char* kEphemeralDiskDir = "/var/run/kubevirt-ephemeral-disks";
inline constexpr const char* kHotplugDir = "/var/run/kubevirt/hotplug-disks";

struct PodVolumes {
    std::vector<api::PodVolume> volumes;
    std::vector<api::VolumeMount> mounts;    ///< of compute
    std::vector<api::VolumeDevice> devices;  ///< of compute
    std::vector<std::string> shared_paths;   ///< mounts of ReadWriteMany filesystem claims
    std::string service_account;             ///< from a serviceAccount volume
};

/// Errors  not_found: a claim that must be mounted does not exist
Result<PodVolumes> volumes_for(const RenderInput& input);

/// The containers that bring container disks, in order of the volumes.
std::vector<api::Container> container_disks_for(const RenderInput& input);

/// The claim of that name, or nullptr.
const api::PersistentVolumeClaim* find_claim(
    const std::vector<const api::PersistentVolumeClaim*>& claims, std::string_view name
);

/// True for a volume whose claim both pods carry: hotplugged ones never do (L-29).
bool is_mounted(const api::VirtualMachineInstance& vmi, const api::VmVolume& volume);

}  // namespace berth::placement
