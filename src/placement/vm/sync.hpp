// One pass over a VM: what to do next, and the whole status.
#pragma once

#include <span>

#include "placement/vm/view.hpp"

namespace berth::placement::vm {

/// What a pass decides that the status must know.
struct Pass {
    Outcome outcome;
    bool starts = false;          ///< creates the VMI
    bool stops = false;           ///< deletes the VMI
    bool restarts_later = false;  ///< appends a Start request: the strategy reruns a machine that failed
};

Pass sync(const View& view);

/// The lines of the flow, in order: for documents and for the test that each is reached.
std::span<const Line<View>> flow();

/// The status as it should be, computed from the view and what the pass does.
api::VmStatus status(const View& view, const Pass& pass);

/// status.printableStatus (docs/spec/placement.md 1.2), with the start failures as counted by this pass.
std::string printable_status(const View& view, const Pass& pass, const std::optional<api::StartFailure>& start_failure);

/// Both together: status first, so that a failure is counted before its machine is deleted.
api::Plan plan(const View& view);

}  // namespace berth::placement::vm
