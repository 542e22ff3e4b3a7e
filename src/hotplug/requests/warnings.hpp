// What a request that is accepted should still be told.
// Contract: docs/spec/hotplug.md 8.4
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/kubevirt.hpp"

namespace berth::hotplug {

/// `free_ports` is how many more disks on bus virtio the running machine takes; none: it does not run.
std::vector<std::string> warnings_of(const api::Disk& disk, std::optional<std::int64_t> free_ports);

}  // namespace berth::hotplug
