// The rules by which conditions of VMs and VMIs change; they decide how often a status is written.
// Contract: docs/spec/placement.md 1.3
#pragma once

#include "api/meta.hpp"

namespace berth::placement {

/// Adds a condition or replaces the one of its type, but only when status or reason differ: another message alone is
/// no change. Returns whether something changed.
bool update_condition(std::vector<api::Condition>& conditions, api::Condition condition);

/// The same, and another message counts too.
bool refresh_condition(std::vector<api::Condition>& conditions, api::Condition condition);

void remove_condition(std::vector<api::Condition>& conditions, std::string_view type);

/// True when there is a condition of this type with this status.
bool has_condition(const std::vector<api::Condition>& conditions, std::string_view type, std::string_view status);

}  // namespace berth::placement
