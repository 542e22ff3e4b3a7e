// The part of a machine's volumeStatus that its node writes: targets, and how far each plugged volume is.
// Contract: docs/spec/hotplug.md 2.8, 7.9, 9.0
#pragma once

#include "node/plan/vmi.hpp"

namespace berth::node {

/// Takes over targets and sizes, and moves the phases of plugged volumes.
void set_volume_status(const View& view, api::VmiStatus& status);

/// Adds an event for each plugged volume whose phase or reason differs between the two.
void add_phase_events(const View& view, api::Plan& plan, const api::VmiStatus& desired);

}  // namespace berth::node
