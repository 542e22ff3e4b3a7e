// Ends everything that runs for a data directory.
#pragma once

#include <string>

#include "base/result.hpp"

namespace berth::cli {

/// Asks `berth up` and the guests to end, waits for the grace period, then ends what is left and takes mounts, loop
/// devices and control groups away. Errors  not_found: no such directory; conflict: something cannot be removed
Result<void> stop_everything(const std::string& data_dir, bool purges, int grace_seconds);

}  // namespace berth::cli
