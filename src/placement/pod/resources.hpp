// What a machine asks of its node: CPU, memory with the overhead of everything around the guest, devices.
// Contract: docs/spec/placement.md 3.5
#pragma once

#include "placement/config.hpp"

namespace berth::placement {

/// sockets · cores · threads; what is not given counts as one.
std::int64_t vcpu_count(const api::VmiSpec& spec);

/// Memory the guest sees: memory.guest, else the requested memory, else the limit.
Bytes guest_memory(const api::VmiSpec& spec);

/// Memory needed beside the guest's own (L-32).
Bytes memory_overhead(const api::VmiSpec& spec, const Config& config);

/// Requests and limits of the compute container (L-30 to L-34).
api::ResourceRequirements compute_resources(const api::VmiSpec& spec, const Config& config);

/// Requests and limits of a helper container of this type (L-35).
api::ResourceRequirements helper_resources(std::string_view type, const Config& config);

}  // namespace berth::placement
