// The control groups of pods: a directory of ours in every hierarchy, made by the runtime and removed here.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace berth::solo {

/// Directories under /sys/fs/cgroup that are the root of a hierarchy ("/sys/fs/cgroup/memory", or "/sys/fs/cgroup"
/// itself).
std::vector<std::string> cgroup_hierarchies();

/// Processes in a group and the groups below it, over all hierarchies, each once.
std::vector<int> cgroup_processes(const std::string& group);

/// Removes a group ("/berth-x2vq1/<pod>") with those below it from every hierarchy.
/// Errors  conflict: processes still run in it
Result<void> remove_cgroup(const std::string& group);

}  // namespace berth::solo
