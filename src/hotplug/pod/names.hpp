// What attachment pods and trigger pods are called and known by.
// Contract: docs/spec/hotplug.md 5.8, 6
#pragma once

#include "api/kubevirt.hpp"

namespace berth::hotplug {

inline constexpr const char* kHotplugLabel = "hotplug-disk";  ///< value of label kubevirt.io
inline constexpr const char* kOwnerVmiName = "kubevirt.io/owner-vmi-name";
inline constexpr const char* kOwnerVmiUid = "kubevirt.io/owner-vmi-uid";
inline constexpr const char* kContainer = "hotplug-disk";
inline constexpr const char* kDisksVolume = "hotplug-disks";

/// A volume of a machine and the claim that stands behind it in one pod.
struct Mounted {
    std::string volume;
    const api::PersistentVolumeClaim* claim = nullptr;
};

enum class Purpose {
    attach,   ///< keeps claims on the launcher's node
    trigger,  ///< is the first consumer of one claim
};

/// "hp-volume-" and a hash of launcher, purpose, pairs and n, n the smallest number whose name is not in `taken`: a
/// create that is repeated meets its own pod, and a pod of that name that is going is not in the way.
std::string pod_name(
    const Uid& launcher, Purpose purpose, const std::vector<Mounted>& mounted, const std::vector<std::string>& taken
);

}  // namespace berth::hotplug
