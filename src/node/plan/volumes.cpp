#include "node/plan/volumes.hpp"

#include <algorithm>

namespace berth::node {
namespace {

/// The volume's plug, in place and of the claim that the spec names. A claim that cannot be seen proves nothing.
const Plug* plug_of(
    const std::vector<Plug>& plugs, const api::VmVolume& volume, const api::PersistentVolumeClaim* claim
) {
    const auto plug = std::ranges::find(plugs, volume.name, &Plug::volume);
    if (plug == plugs.end() || !plug->in_place) return nullptr;
    const bool is_same = claim == nullptr || plug->claim.empty() || plug->claim == claim->metadata.uid;
    return is_same ? &*plug : nullptr;
}

std::int64_t size_of(const api::PersistentVolumeClaim& claim) {
    const auto capacity = claim.status.capacity.find("storage");
    return (capacity == claim.status.capacity.end() ? claim.spec.request() : bytes_or_zero(capacity->second)).value;
}

agent::VolumePath plugged_path(const api::VmVolume& volume, const Plug& plug, const api::PersistentVolumeClaim* claim) {
    agent::VolumePath out{.name = volume.name, .path = "/var/run/kubevirt/hotplug-disks/" + volume.name};
    out.block = plug.block;
    if (!plug.block) out.path += ".img";
    out.read_only = volume.persistent_volume_claim && volume.persistent_volume_claim->read_only;
    if (claim != nullptr) out.size = size_of(*claim);
    return out;
}

agent::VolumePath claim_path(const api::VmVolume& volume, const api::PersistentVolumeClaim& claim) {
    agent::VolumePath out{.name = volume.name};
    out.block = claim.spec.is_block();
    out.path = out.block ? "/dev/" + volume.name : "/var/run/kubevirt-private/vmi-disks/" + volume.name + "/disk.img";
    // An ephemeral volume writes to an overlay: its claim is only read.
    out.read_only =
        (volume.persistent_volume_claim && volume.persistent_volume_claim->read_only) || volume.ephemeral.has_value();
    out.size = size_of(claim);
    // A file that a DataVolume should have filled and that is not there is an error, never a blank disk.
    const api::OwnerReference* owner = claim.metadata.controller();
    const bool is_filled = owner != nullptr && owner->kind == "DataVolume";
    out.create_if_absent = !out.block && !is_filled && !out.read_only;
    return out;
}

}  // namespace

std::vector<agent::VolumePath> volume_paths(
    const api::VirtualMachineInstance& vmi,
    const std::vector<api::PersistentVolumeClaim>& claims,
    const std::vector<Plug>& plugs
) {
    std::vector<agent::VolumePath> out;
    for (const api::VmVolume& volume : vmi.spec.volumes) {
        const std::string name = volume.claim_name();
        const auto found = std::ranges::find_if(claims, [&](const auto& one) { return one.metadata.name == name; });
        const api::PersistentVolumeClaim* const claim = name.empty() || found == claims.end() ? nullptr : &*found;
        if (volume.is_hotpluggable()) {
            const Plug* plug = plug_of(plugs, volume, claim);
            if (plug != nullptr) out.push_back(plugged_path(volume, *plug, claim));
        } else if (claim != nullptr) {
            out.push_back(claim_path(volume, *claim));
        } else if (volume.container_disk) {
            // Whatever format the image holds: the launcher probes it.
            const std::string path = "/var/run/kubevirt/container-disks/" + volume.name + ".img";
            out.push_back({.name = volume.name, .path = path, .format = ""});
        } else if (volume.host_disk) {
            const std::string& path = volume.host_disk->path;
            const std::string dir = "/var/run/kubevirt-private/vmi-disks/" + volume.name;
            agent::VolumePath disk{.name = volume.name, .path = dir + path.substr(path.rfind('/'))};
            disk.create_if_absent = volume.host_disk->type == "DiskOrCreate";
            disk.size = bytes_or_zero(volume.host_disk->capacity).value;
            out.push_back(std::move(disk));
        }
    }
    return out;
}

}  // namespace berth::node
