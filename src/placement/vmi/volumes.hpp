// status.volumeStatus of the volumes a machine starts with. Entries of plugged volumes belong to the hotplug rules.
// Contract: docs/spec/placement.md 1.3
#pragma once

#include "placement/vmi/view.hpp"

namespace berth::placement::vmi {

/// Sorted by name; target and size are kept as the node's agent wrote them.
std::vector<api::VmVolumeStatus> volume_status(const View& view);

/// The filesystem overhead that a claim's file must leave free, as a decimal text: "0.06".
std::string filesystem_overhead(const api::PersistentVolumeClaim& claim, const api::CdiConfig* config);

api::ClaimSummary summary_of(const api::PersistentVolumeClaim& claim, const api::CdiConfig* config);

}  // namespace berth::placement::vmi
