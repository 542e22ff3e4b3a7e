// The part of JSONPath that printer columns use: .a.b  [n]  [*]  ['key']  [?(@.x=='v')]
// Contract: docs/spec/kube-api.md 1.4. Pure.
#pragma once

#include "json/value.hpp"

namespace berth::apiserver {

/// The first value a path leads to, or nullptr: also for a path that cannot be read.
const json::Value* first_at(const json::Value& root, std::string_view path);

}  // namespace berth::apiserver
