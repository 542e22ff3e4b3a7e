#include "hotplug/attach/facts.hpp"

#include "base/ranges.hpp"
#include "placement/vmi/facts.hpp"

namespace berth::hotplug::attach {
namespace {

using namespace std::chrono_literals;
using placement::vmi::Readiness;

constexpr Duration kFailedPodPause = 10s;

bool is_in(const api::VmVolumeStatus& entry, std::initializer_list<std::string_view> phases) {
    return contains(phases, std::string_view(entry.phase));
}

const api::ContainerStatus* container_status(const api::Pod& pod) {
    const auto it = std::ranges::find(pod.status.container_statuses, kContainer, &api::ContainerStatus::name);
    return it == pod.status.container_statuses.end() ? nullptr : &*it;
}

// Whether a pod that is older than its newest claim tells the two apart only down to a second.
bool is_older_than(const api::Pod& pod, const api::PersistentVolumeClaim& claim) {
    const auto& made = pod.metadata.creation_timestamp;
    return made && claim.metadata.creation_timestamp && *made < *claim.metadata.creation_timestamp;
}

bool is_newer(const api::Pod& a, const api::Pod& b) {
    return std::pair(a.metadata.creation_timestamp, a.metadata.name) >
           std::pair(b.metadata.creation_timestamp, b.metadata.name);
}

}  // namespace

// --- the status ------------------------------------------------------------------------------------------------------

const api::VmVolumeStatus* entry_of(const View& view, std::string_view volume) {
    const auto& entries = view.vmi->status.volume_status;
    const auto it = std::ranges::find(entries, volume, &api::VmVolumeStatus::name);
    return it == entries.end() || !it->hotplug_volume ? nullptr : &*it;
}

std::string claim_of(const api::VmVolumeStatus& entry) {
    return entry.persistent_volume_claim_info ? entry.persistent_volume_claim_info->claim_name : std::string();
}

bool is_in_guest_or_pod(const api::VmVolumeStatus& entry) { return is_in(entry, {"MountedToPod", "Ready"}); }

bool is_released(const api::VmVolumeStatus& entry) { return is_in(entry, {"UnMountedFromPod", "Detaching"}); }

bool is_about(const api::VmVolumeStatus& entry, const Disk& disk) {
    const std::string claim = claim_of(entry);
    return claim.empty() || claim == disk.volume->claim_name();
}

bool may_be_mounted(const View& view, const api::VmVolumeStatus& entry) {
    if (is_in_guest_or_pod(entry)) return true;
    if (entry.phase != "AttachedToNode") return false;
    // The node mounts only from a pod whose UID the status has named, and that happens once its container runs.
    if (!entry.hotplug_volume->attach_pod_uid.empty()) return true;
    return std::ranges::any_of(view.pods, [&](const api::Pod* pod) {
        return has_started(*pod) && mentions_volume(*pod, entry.name);
    });
}

// --- the spec --------------------------------------------------------------------------------------------------------

const Disk* disk_of(const View& view, std::string_view volume) {
    const auto it = std::ranges::find_if(view.disks, [&](const Disk& disk) { return disk.volume->name == volume; });
    return it == view.disks.end() ? nullptr : &*it;
}

bool is_ready(const Disk& disk) {
    // A volume of this name cannot be in a pod that has a directory called so.
    return disk.held_by.empty() && disk.volume->name != kDisksVolume &&
           placement::vmi::readiness_of(disk) == Readiness::ready;
}

bool awaits_consumer(const Disk& disk) {
    return disk.held_by.empty() && placement::vmi::readiness_of(disk) == Readiness::awaits_consumer &&
           disk.claim->status.phase != "Bound";
}

bool is_wanted(const View& view, const Disk& disk) {
    if (disk.claim == nullptr) return false;
    if (is_ready(disk)) return true;
    const api::VmVolumeStatus* entry = entry_of(view, disk.volume->name);
    return entry != nullptr && is_about(*entry, disk) && is_in_guest_or_pod(*entry);
}

Pair pair_of(const Disk& disk) { return {disk.volume->name, disk.volume->claim_name()}; }

std::vector<Pair> wanted(const View& view) {
    std::vector<Pair> out;
    for (const Disk& disk : view.disks) {
        if (is_wanted(view, disk)) out.push_back(pair_of(disk));
    }
    return out;
}

std::vector<Pair> unreleased(const View& view) {
    std::vector<Pair> out;
    for (const api::VmVolumeStatus& entry : view.vmi->status.volume_status) {
        if (!entry.hotplug_volume || !may_be_mounted(view, entry)) continue;
        const Disk* disk = disk_of(view, entry.name);
        if (disk != nullptr && is_about(entry, *disk) && is_wanted(view, *disk)) continue;
        const std::string claim = claim_of(entry);
        if (!claim.empty()) out.push_back({entry.name, claim});
    }
    return out;
}

const api::PersistentVolumeClaim* find_claim(const View& view, std::string_view name) {
    const auto it = std::ranges::find_if(view.claims, [&](const auto* claim) { return claim->metadata.name == name; });
    return it == view.claims.end() ? nullptr : *it;
}

bool needs_own_pod(const View& view, const Pair& pair) {
    const api::PersistentVolumeClaim* claim = find_claim(view, pair.claim);
    return claim != nullptr && contains(claim->spec.access_modes, "ReadWriteOncePod");
}

// --- pods ------------------------------------------------------------------------------------------------------------

std::vector<Pair> pairs_of(const api::Pod& pod) {
    std::vector<Pair> out;
    for (const api::PodVolume& volume : pod.spec.volumes) {
        if (volume.persistent_volume_claim) out.push_back({volume.name, volume.persistent_volume_claim->claim_name});
    }
    return out;
}

bool mentions(const api::Pod& pod, const Pair& pair) {
    return std::ranges::any_of(pod.spec.volumes, [&](const api::PodVolume& one) {
        return one.name == pair.volume && one.persistent_volume_claim &&
               one.persistent_volume_claim->claim_name == pair.claim;
    });
}

bool mentions_volume(const api::Pod& pod, std::string_view volume) {
    return std::ranges::any_of(pod.spec.volumes, [&](const api::PodVolume& one) {
        return one.persistent_volume_claim && one.name == volume;
    });
}

bool is_live(const api::Pod& pod) { return !pod.metadata.is_deleting() && !pod.is_terminal(); }

bool has_started(const api::Pod& pod) {
    const api::ContainerStatus* status = container_status(pod);
    if (status == nullptr) return false;
    const api::ContainerState state = api::container_state(status->state);
    return status->ready || status->restart_count > 0 || state.running_since || state.exit_code;
}

bool is_ready(const api::Pod& pod) {
    const api::ContainerStatus* status = container_status(pod);
    return is_live(pod) && pod.status.phase == "Running" && status != nullptr && status->ready;
}

bool serves(const View& view, const api::Pod& pod, const Pair& pair) {
    if (!is_live(pod) || !mentions(pod, pair)) return false;
    const api::PersistentVolumeClaim* claim = find_claim(view, pair.claim);
    return claim == nullptr || !is_older_than(pod, *claim);
}

Timestamp retry_at(const api::Pod& pod) {
    return pod.metadata.creation_timestamp.value_or(Timestamp{}) + kFailedPodPause;
}

bool has_just_failed(const View& view, const api::Pod& pod) {
    return pod.is_terminal() && !pod.metadata.is_deleting() && view.now < retry_at(pod);
}

const api::Pod* pod_for(const View& view, const Disk& disk) {
    const api::VmVolumeStatus* entry = entry_of(view, disk.volume->name);
    const api::Pod* best = nullptr;
    for (const api::Pod* pod : view.pods) {
        if (!serves(view, *pod, pair_of(disk))) continue;
        const bool is_known = entry != nullptr && entry->hotplug_volume->attach_pod_name == pod->metadata.name;
        if (is_known && is_ready(*pod)) return pod;
        const bool is_better =
            best == nullptr || (is_ready(*pod) != is_ready(*best) ? is_ready(*pod) : is_newer(*pod, *best));
        if (is_better) best = pod;
    }
    return best;
}

// --- the machine -----------------------------------------------------------------------------------------------------

bool is_on_node(const View& view) {
    return view.vmi->status.phase == "Scheduled" || view.vmi->status.phase == "Running";
}

}  // namespace berth::hotplug::attach
