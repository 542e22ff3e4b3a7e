// Questions about one machine's plugged volumes and its attachment pods. Each is one question, without side effects.
// Contract: docs/spec/hotplug.md 5.2, 5.8
#pragma once

#include "hotplug/attach/view.hpp"
#include "hotplug/pod/names.hpp"

namespace berth::hotplug::attach {

/// A volume on a claim: what a pod mentions, and what a guest has.
struct Pair {
    std::string volume;
    std::string claim;
    auto operator<=>(const Pair&) const = default;
};

// --- the status ------------------------------------------------------------------------------------------------------

/// The entry of a plugged volume; nullptr: none.
const api::VmVolumeStatus* entry_of(const View& view, std::string_view volume);
/// The claim that the entry is about, or "".
std::string claim_of(const api::VmVolumeStatus& entry);
bool is_in_guest_or_pod(const api::VmVolumeStatus& entry);  ///< MountedToPod or Ready
bool is_released(const api::VmVolumeStatus& entry);         ///< UnMountedFromPod was reported, or nothing ever mounted
/// The entry is about the claim that the spec names now; false after a swap of claims under one name.
bool is_about(const api::VmVolumeStatus& entry, const Disk& disk);
/// The node may have put the claim into the launcher pod and has not said that it is out again.
bool may_be_mounted(const View& view, const api::VmVolumeStatus& entry);

// --- the spec --------------------------------------------------------------------------------------------------------

const Disk* disk_of(const View& view, std::string_view volume);
/// A pod may mention it now (5.2).
bool is_ready(const Disk& disk);
bool awaits_consumer(const Disk& disk);
/// It belongs on the node: ready, or the guest has it already.
bool is_wanted(const View& view, const Disk& disk);
Pair pair_of(const Disk& disk);
/// Pairs of the spec that belong on the node, in order of the spec.
std::vector<Pair> wanted(const View& view);
/// Pairs that must stay on the node although the spec has dropped them: nobody has said that they are out.
std::vector<Pair> unreleased(const View& view);

const api::PersistentVolumeClaim* find_claim(const View& view, std::string_view name);
/// ReadWriteOncePod: no two pods have it, so it shares no pod.
bool needs_own_pod(const View& view, const Pair& pair);

// --- pods ------------------------------------------------------------------------------------------------------------

std::vector<Pair> pairs_of(const api::Pod& pod);
bool mentions(const api::Pod& pod, const Pair& pair);
bool mentions_volume(const api::Pod& pod, std::string_view volume);
bool is_live(const api::Pod& pod);      ///< neither going nor ended
bool has_started(const api::Pod& pod);  ///< its container runs or ran
bool is_ready(const api::Pod& pod);     ///< live, and the container `hotplug-disk` is ready, whatever else is in it
/// Live, and mentions the pair as it is now: a pod older than its claim was made for another one of that name.
bool serves(const View& view, const api::Pod& pod, const Pair& pair);
/// Ended a moment ago: its successor would end the same way.
bool has_just_failed(const View& view, const api::Pod& pod);
Timestamp retry_at(const api::Pod& pod);

/// The pod through which the volume reaches its machine (P of 5.5); nullptr: none.
const api::Pod* pod_for(const View& view, const Disk& disk);

// --- the machine -----------------------------------------------------------------------------------------------------

bool is_on_node(const View& view);  ///< Scheduled or Running

}  // namespace berth::hotplug::attach
