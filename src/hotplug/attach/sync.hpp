// One pass over a machine's plugged volumes: which pods come and go, and what the status says.
#pragma once

#include <span>

#include "hotplug/attach/view.hpp"

namespace berth::hotplug::attach {

/// The whole plan: status first, so that what is about to go has been recorded.
api::Plan plan(const View& view);

/// The lines of the flow, in order: for documents and for the test that each is reached.
std::span<const api::Rule<View>> flow();

}  // namespace berth::hotplug::attach
