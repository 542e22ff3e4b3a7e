// The lines of one plugged volume, from the request to the guest and back: volume request, claim, trigger pod,
// attachment pod, mount, disk of the guest. Contract: docs/spec/hotplug.md 2.8, 9.0
#pragma once

#include "explain/line.hpp"
#include "explain/view.hpp"

namespace berth::explain {

/// The volume comes and goes while the machine runs: not part of what it boots with.
bool is_plugged_in(const View& view, const api::VmVolume& volume);
/// An attachment pod or a trigger pod.
bool is_plug_pod(const api::Pod& pod);

/// The volumes that are plugged, are asked for or are on their way out.
std::vector<std::string> plugs_of(const View& view);

/// The machine runs, so that a request has something to act on now.
bool is_running(const View& view);
/// The guest has the disk, of the claim that is asked for, and nobody takes it away.
bool is_attached(const View& view, const std::string& volume);
/// Nothing of it is left: its claim is free.
bool is_released(const View& view, const std::string& volume);

/// The volume's entry in the machine's status; nullptr when there is none.
const api::VmVolumeStatus* status_of(const View& view, const std::string& volume);

std::vector<Line> plug_lines(const View& view, const std::string& volume, int depth);

}  // namespace berth::explain
