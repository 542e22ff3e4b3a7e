// Questions about a VM's view. Each is one question, without side effects.
#pragma once

#include "placement/vm/view.hpp"

namespace berth::placement::vm {

/// spec.runStrategy, or what spec.running means; "" when neither is set.
std::string run_strategy(const api::VirtualMachine& vm);

bool is_deleted(const View& view);
bool has_vmi(const View& view);
bool vmi_is_final(const View& view);
bool vmi_is_deleting(const View& view);
/// A Stop request that names this VMI by UID.
bool stop_is_requested(const View& view);
/// The Start request, or nullptr.
const api::StateChangeRequest* start_request(const View& view);
/// The annotation lets disks be made before the first start.
bool makes_disks_early(const View& view);
/// Not until status.startFailure.retryAfterTimestamp.
bool is_backing_off(const View& view);

/// Whether the strategy wants a machine now (docs/spec/placement.md 1.2, "set to start").
bool is_set_to_start(const View& view);

/// The VMI has been in this phase at some time.
bool has_been(const api::VirtualMachineInstance& vmi, std::string_view phase);

/// True for a reason of a DataVolume's Running condition that says its transfer failed, for now or for good.
bool is_transfer_error(std::string_view reason);

}  // namespace berth::placement::vm
