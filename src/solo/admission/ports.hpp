// How many more disks on bus virtio a running machine takes: a word of warning for who asks for one.
#pragma once

#include <optional>

#include "json/value.hpp"

namespace berth::solo {

/// none: the instance does not run, or its machine type has no PCIe ports.
std::optional<std::int64_t> free_ports(const json::Value& vmi);

}  // namespace berth::solo
