// The objects that a start makes: the machine, and the record of the spec it was started with.
// Contract: docs/spec/placement.md V-29
#pragma once

#include "placement/vm/view.hpp"

namespace berth::placement::vm {

json::Value vmi_for(const View& view);
json::Value revision_for(const View& view);
bool has_revision(const View& view);

/// The running machine was started with a template that differs in what it cannot take over while it runs.
/// Plugged volumes do not count: they reach it by themselves.
bool needs_restart(const View& view);

}  // namespace berth::placement::vm
