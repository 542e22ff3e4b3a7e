// Merge patches (RFC 7386): making and applying them. JSON patch and strategic merge patch have files of their own.
#pragma once

#include "json/value.hpp"

namespace berth::json {

/// The merge patch that turns `from` into `to`; none when they are equal. Arrays are replaced whole.
std::optional<Value> merge_patch_between(const Value& from, const Value& to);

/// Applies a merge patch in place: null deletes, objects merge, all else replaces.
void apply_merge_patch(Value& target, const Value& patch);

}  // namespace berth::json
