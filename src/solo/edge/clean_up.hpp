// The end of a data directory's life on the machine: for `berth down`, and for tests.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

namespace berth::solo {

/// Asks every container of a data directory to end (SIGTERM), waits up to `grace` for all together, ends the rest, and
/// takes away mounts, loop devices and control groups, the directory's own mount last. Files stay. Touches nothing of
/// other directories. Idempotent; blocks.
/// Errors  conflict: a berth process still has the directory; another kind: what could not be removed
Result<void> clean_up(const std::string& path, Duration grace);

/// clean_up(), then removes the files that Berth made for its pods: nodes with their volumes, caches, run-time state.
/// Leaves images/ and what it does not know (`berth down --purge` removes its own database and kubeconfig).
Result<void> purge(const std::string& path, Duration grace);

}  // namespace berth::solo
