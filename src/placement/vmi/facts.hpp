// Questions about a VMI's view. Each is one question, without side effects.
#pragma once

#include "placement/vmi/view.hpp"

namespace berth::placement::vmi {

// --- Pods ------------------------------------------------------------------------------------------------------------

/// The newest pod of the machine; once it has a node, only pods there count. nullptr: none.
const api::Pod* current_pod(const View& view);
/// The current pod when it hosts the guest; nullptr otherwise.
const api::Pod* launcher(const View& view);
/// The current pod when it only binds claims; nullptr otherwise.
const api::Pod* temp_pod(const View& view);

bool is_down(const api::Pod& pod);                  ///< Succeeded or Failed
bool has_ended(const api::Pod& pod);                ///< compute has, helpers may still run
bool is_down_or_going_down(const api::Pod& pod);    ///< or compute has ended, or it is being deleted
bool is_failed_or_going_down(const api::Pod& pod);  ///< Failed, compute ended badly, or it is being deleted
bool is_ready(const api::Pod& pod);                 ///< runs, and every helper is ready
const api::ContainerStatus* compute_status(const api::Pod& pod);
/// Reason and message of a container that waits for its image; none when there is none.
std::optional<SyncError> image_error(const api::Pod& pod);

/// Temporary pods of the machine that have done their work; those of its launcher are hotplug's.
std::vector<const api::Pod*> finished_temp_pods(const View& view);

// --- Disks -----------------------------------------------------------------------------------------------------------

/// Whether a disk lets a pod be created (I-01 to I-06).
enum class Readiness {
    ready,
    awaits_consumer,  ///< a pod must be scheduled before it is filled
    not_ready,
    claim_missing,
    owner_missing,  ///< the claim's DataVolume does not exist
    claim_is_deleting,
};
Readiness readiness_of(const Disk& disk);
/// A dataVolume or persistentVolumeClaim that is there from the start.
bool is_gated(const Disk& disk);

struct Gate {
    bool ready = false;
    bool any_awaits_consumer = false;
    const Disk* missing = nullptr;  ///< the first whose claim is missing
    const Disk* owner_missing = nullptr;
    const Disk* not_ready = nullptr;  ///< the first that is not ready
};
Gate gate_of(const View& view);

/// Any DataVolume behind a disk is Failed.
bool has_failed_disk(const View& view);
/// None is Failed, and one waits for its first consumer.
bool has_waiting_disk(const View& view);
/// The DataVolumes behind the disks, each once, in order.
std::vector<const api::DataVolume*> data_volumes(const View& view);
/// The first disk that another machine has and this one cannot start without; nullptr: none.
const Disk* held_disk(const View& view);

// --- The machine -----------------------------------------------------------------------------------------------------

bool is_deleted(const View& view);
bool is_final(const View& view);
bool is_unprocessed(const View& view);  ///< phase empty or Pending
bool is_on_node(const View& view);      ///< Scheduled or Running: the node's agent has it
bool needs_backend(const View& view);   ///< keeps TPM or EFI state

}  // namespace berth::placement::vmi
