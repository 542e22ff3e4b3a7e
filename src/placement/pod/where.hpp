// Where a machine's pods may run: node selector and affinity.
// Contract: docs/spec/placement.md L-12, L-13
#pragma once

#include "placement/config.hpp"

namespace berth::placement {

std::map<std::string, std::string> node_selector_for(const api::VmiSpec& spec, const Config& config);

/// The machine's own affinity and what its CPU model adds; none when there is nothing to say.
std::optional<api::Affinity> affinity_for(const api::VmiSpec& spec, const Config& config);

}  // namespace berth::placement
