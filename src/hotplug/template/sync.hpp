// One pass over a VM: waiting requests first, then what differs between its template and its running machine.
// Contract: docs/spec/hotplug.md 4
#pragma once

#include <span>

#include "api/plan.hpp"
#include "hotplug/template/view.hpp"

namespace berth::hotplug::tmpl {

api::Plan sync(const View& view);

/// The lines of the flow, in order: for documents and for the test that each is reached.
std::span<const api::Rule<View>> flow();

/// sync(), and the VM's condition Failure while that does not succeed.
api::Plan plan(const View& view);

}  // namespace berth::hotplug::tmpl
