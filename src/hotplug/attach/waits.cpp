#include "hotplug/attach/waits.hpp"

#include "hotplug/attach/facts.hpp"
#include "placement/names.hpp"
#include "placement/vmi/facts.hpp"

namespace berth::hotplug::attach {
namespace {

using placement::vmi::Readiness;

api::Key vmi_key(const View& view) { return placement::key_of(*view.vmi); }

api::Key claim_key(const View& view, const Disk& disk) {
    return {&api::kClaim, view.vmi->metadata.ns, disk.volume->claim_name()};
}

// Why no pod may mention it.
api::Wait await_readiness(const View& view, const Disk& disk) {
    const std::string claim = disk.volume->claim_name();
    const std::string volume = "volume " + disk.volume->name + ": ";
    const api::Key key = claim_key(view, disk);
    if (disk.volume->name == kDisksVolume) {
        return {"user", vmi_key(view), volume + "no volume can have this name: remove it and add it with another one"};
    }
    if (disk.claim == nullptr) return {"user", key, volume + "PVC " + claim + " not found: create it"};
    if (!disk.held_by.empty()) {
        const std::string text = "PVC " + claim + " is in use by VMI " + disk.held_by;
        return {"user", key, volume + text + ": unplug it there, or use a claim with access mode ReadWriteMany"};
    }
    switch (placement::vmi::readiness_of(disk)) {
        case Readiness::awaits_consumer: return {"scheduler", key, volume + "its claim waits for its trigger pod"};
        case Readiness::owner_missing: return {"garbage collector", key, volume + "the claim's DataVolume is gone"};
        case Readiness::claim_is_deleting: return {"garbage collector", key, volume + "the claim is being deleted"};
        case Readiness::claim_missing:
        case Readiness::ready:
        case Readiness::not_ready: break;
    }
    const std::string& phase = disk.owner->status.phase;
    const api::Key owner{&api::kDataVolume, view.vmi->metadata.ns, disk.owner->metadata.name};
    return {
        "datavolume controller", owner, volume + "the disk is not ready: " + (phase.empty() ? "not started" : phase)
    };
}

api::Wait await_pod(const View& view, const Disk& disk) {
    const std::string volume = "volume " + disk.volume->name + ": ";
    const api::Pod* pod = pod_for(view, disk);
    if (pod == nullptr) return {"hotplug", vmi_key(view), volume + "its attachment pod ended and is made again"};
    const std::string who = pod->spec.node_name.empty() ? "scheduler" : "kubelet";
    return {who, placement::key_of(*pod), volume + "its attachment pod must run on the machine's node"};
}

std::optional<api::Wait> await_plugged(const View& view, const Disk& disk) {
    const std::string volume = "volume " + disk.volume->name + ": ";
    const api::VmVolumeStatus* entry = entry_of(view, disk.volume->name);
    if (entry != nullptr && !is_about(*entry, disk) && may_be_mounted(view, *entry)) {
        return api::Wait{"node agent", vmi_key(view), volume + "claim " + claim_of(*entry) + " must be out before"};
    }
    if (!is_wanted(view, disk)) return await_readiness(view, disk);
    if (entry != nullptr && entry->phase == "Ready") return {};
    if (entry != nullptr && entry->phase == "MountedToPod") {
        return api::Wait{"launcher", vmi_key(view), volume + "the guest gets it next"};
    }
    const api::Pod* pod = pod_for(view, disk);
    if (pod == nullptr || !is_ready(*pod)) return await_pod(view, disk);
    return api::Wait{"node agent", vmi_key(view), volume + "it must be put into the launcher pod"};
}

std::optional<api::Wait> await_unplugged(const View& view, const api::VmVolumeStatus& entry) {
    const std::string volume = "volume " + entry.name + ": ";
    if (may_be_mounted(view, entry)) {
        const bool in_guest = entry.phase == "Ready";
        return api::Wait{
            in_guest ? "guest" : "node agent", vmi_key(view), volume + "it was removed and is not out yet"
        };
    }
    for (const api::Pod* pod : view.pods) {
        if (mentions_volume(*pod, entry.name)) return await_end(*pod);
    }
    return {};
}

}  // namespace

api::Wait await_end(const api::Pod& pod) {
    return {"kubelet", placement::key_of(pod), "a pod that is not needed any more must end"};
}

std::optional<api::Wait> next_wait(const View& view) {
    for (const Disk& disk : view.disks) {
        if (auto wait = await_plugged(view, disk)) return wait;
    }
    for (const api::VmVolumeStatus& entry : view.vmi->status.volume_status) {
        if (!entry.hotplug_volume || disk_of(view, entry.name) != nullptr) continue;
        if (auto wait = await_unplugged(view, entry)) return wait;
    }
    return {};
}

}  // namespace berth::hotplug::attach
