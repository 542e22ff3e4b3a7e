// One pass over a VMI: what to do next, and the whole status.
#pragma once

#include <span>

#include "placement/vmi/view.hpp"

namespace berth::placement::vmi {

/// What to do next; without the status.
Outcome sync(const View& view);

/// The lines of the flow, in order: for documents and for the test that each is reached.
std::span<const Line<View>> flow();

/// The status as it should be, computed from the view and the outcome of sync().
api::VmiStatus status(const View& view, const Outcome& outcome);

/// Both together: status first, so that what is about to be deleted has been recorded.
api::Plan plan(const View& view);

}  // namespace berth::placement::vmi
