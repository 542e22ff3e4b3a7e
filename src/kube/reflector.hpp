// Feeds one cache: list, then watch, then list again when the history is gone.
// Contract: docs/spec/kube-api.md 4.3
#pragma once

#include "base/async/clock.hpp"
#include "base/async/entropy.hpp"
#include "base/async/log.hpp"
#include "kube/cache.hpp"

namespace berth::kube {

/// Runs until cancelled. The first list asks for the newest state; errors are retried after 0.8 s doubling to 30 s,
/// jittered.
Task<void> reflect(CacheBase& cache, Api api, ListOptions options, Clock& clock, Entropy& entropy, Log& log);

}  // namespace berth::kube
