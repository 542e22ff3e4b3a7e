// The entries of plugged volumes in a machine's volumeStatus, as far as the controller writes them.
// Contract: docs/spec/hotplug.md 2.7, 2.8, 5.5, 9.0
#pragma once

#include "hotplug/attach/facts.hpp"

namespace berth::hotplug::attach {

/// The whole list as it should be, in order of name; entries of permanent volumes as they are.
std::vector<api::VmVolumeStatus> volume_status(const View& view);

/// What is said about the step from the list in the view to this one.
std::vector<api::Emit> events(const View& view, const std::vector<api::VmVolumeStatus>& desired);

}  // namespace berth::hotplug::attach
