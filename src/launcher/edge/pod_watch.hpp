// Says when files or mounts of the pod may have changed: the node brings disks into a pod that is already running.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/async/task.hpp"

namespace berth::launcher {

/// Calls `on_change` when something was put into one of the folders. Returns at once when there is none; until
/// cancelled.
Task<void> watch_folders(std::vector<std::string> folders, std::function<void()> on_change);
/// Calls `on_change` when the table of mounts changed; until cancelled.
Task<void> watch_mounts(std::function<void()> on_change);

}  // namespace berth::launcher
