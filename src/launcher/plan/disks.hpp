// Which disks a machine gets: each disk of the spec joined with its volume, where its bytes are inside the pod, what
// must be made first, and its place in the guest (bus, target).
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "agent/link.hpp"
#include "api/kubevirt.hpp"
#include "launcher/plan/cloud_init.hpp"

namespace berth::launcher {

inline constexpr std::string_view kContainerDisksDir = "/var/run/kubevirt/container-disks";
inline constexpr std::string_view kEphemeralDisksDir = "/var/run/kubevirt-ephemeral-disks";
inline constexpr std::string_view kHotplugDisksDir = "/var/run/kubevirt/hotplug-disks";

/// Somebody else fills it: it must be there.
struct Present {
    bool operator==(const Present&) const = default;
};
/// A sparse file of this size, made only if there is none.
struct SparseFile {
    std::int64_t size = 0;  ///< bytes
    bool operator==(const SparseFile&) const = default;
};
/// A qcow2 file that holds the changes to an image which itself stays as it is.
struct Overlay {
    std::string image;
    std::string format;  ///< of the image; "" = look at it. A claim's is never guessed: a guest could have written it
    bool operator==(const Overlay&) const = default;
};
/// Made before the source can be used. Everything but Present dies with the pod, unless the source is a claim.
using Preparation = std::variant<Present, SparseFile, Overlay, Seed>;

struct MachineDisk {
    api::Disk spec;
    std::string device;  ///< "disk", "cdrom", "lun"
    std::string bus;     ///< "virtio", "scsi", "sata", "usb"
    std::string target;  ///< "vda", "sdb"
    int unit = 0;        ///< place of the target's letter: a is 0
    std::string path;    ///< "" = a drive without a medium
    bool block = false;
    std::string format = "raw";
    bool read_only = false;
    bool preallocated = false;
    Preparation preparation;
    bool operator==(const MachineDisk&) const = default;
};

struct DiskPlan {
    std::vector<MachineDisk> disks;
    std::vector<std::string> waits_for;  ///< volumes whose path the node has not told yet
};

/// Disks in the order of the spec. Hotplugged volumes without a path are left out: they join when they are attached.
/// Errors  invalid: a volume of a kind that cannot be a disk, or a disk whose volume is not in the spec
Result<DiskPlan> plan_disks(const api::VirtualMachineInstance& vmi, const std::vector<agent::VolumePath>& paths);

/// "vda", "vdb", …, "vdz", "vdaa".
std::string target_name(std::string_view prefix, int unit);

}  // namespace berth::launcher
