// Sending addvolume and removevolume: which disk is meant, which endpoint takes it, and how often it is tried.
// Contract: docs/spec/hotplug.md 10
#pragma once

#include "cli/client.hpp"
#include "cli/volume_request.hpp"
#include "cli/words.hpp"

namespace berth::cli {

enum class VolumeVerb { add, remove };

/// "addvolume", "removevolume"
const char* to_string(VolumeVerb verb);

/// Looks for the disk to add, then asks the VM, and when there is none of that name the VMI. The one that took it.
///
/// Errors  not_found: the disk (with the namespace that has it) or the machine; conflict: refused now, or others
/// changed
///         the machine in each of 15 tries; otherwise as the server refuses
Task<Result<MachineName>> submit_volume(Client& client, MachineName machine, VolumeVerb verb, VolumeFlags flags);

}  // namespace berth::cli
