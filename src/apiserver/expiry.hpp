// Events are kept for an hour after they were last written (docs/spec/kube-api.md 2.21).
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

inline constexpr std::chrono::hours kEventLife{1};

/// Nobody has written this event for so long that it may go. Pure.
bool is_expired(const json::Value& event, Timestamp now);

/// Removes what has expired, once.
Task<void> expire_events(Core& core);

}  // namespace berth::apiserver
