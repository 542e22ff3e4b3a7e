// Which disks a machine gets: each disk of the spec joined with its volume, where its bytes are inside the pod, what
// must be made first, and its place in the guest (bus, target).
#pragma once

#include <map>
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
    std::int64_t claim_size = 0;  ///< bytes that the node told; 0: it did not
    std::string overhead;         ///< of the file system, "0.06": that part of the claim is not the guest's
    Preparation preparation;
    bool operator==(const MachineDisk&) const = default;

    [[nodiscard]] bool is_plugged() const { return path.starts_with(kHotplugDisksDir); }
};

struct DiskPlan {
    std::vector<MachineDisk> disks;
    std::vector<std::string> waits_for;    ///< volumes whose path the node has not told yet
    std::vector<agent::DiskError> errors;  ///< a volume of a kind that cannot be a disk, a disk without a volume
};

/// Targets by disk: of those that the guest has, or is being given, or has not let go yet.
using Places = std::map<std::string, std::string>;

/// Disks in the order of the spec. Hotplugged volumes without a path are left out: they join when they are attached.
/// A disk keeps the target that it has, or had by the machine's status; another one gets the first letter that no disk
/// has (hotplug.md 8.1, R-11).
DiskPlan plan_disks(
    const api::VirtualMachineInstance& vmi, const std::vector<agent::VolumePath>& paths, const Places& places = {}
);

/// "vda", "vdb", …, "vdz", "vdaa".
std::string target_name(std::string_view prefix, int unit);

}  // namespace berth::launcher
