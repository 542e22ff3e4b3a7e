// The mount table of this process, and the few changes this layer makes to it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace berth::solo {

struct MountPoint {
    int id = 0;
    int parent = 0;
    std::string device;  ///< "8:1"
    std::string root;    ///< what of its file system is seen here
    std::string path;
    int peer_group = 0;  ///< 0 = private
    std::string fs_type;
    std::string source;  ///< device, export, …
    bool operator==(const MountPoint&) const = default;
};

/// The lines of /proc/self/mountinfo, in their order. Source: proc(5)
std::vector<MountPoint> parse_mounts(std::string_view mountinfo);
Result<std::vector<MountPoint>> read_mounts();

/// The mount on exactly this path that is on top; nullptr when none is.
const MountPoint* mount_at(const std::vector<MountPoint>& mounts, std::string_view path);

/// cgroup v2 mounts beside v1 hierarchies: crun 1.8 refuses such a host unless it does not see them.
std::vector<std::string> hybrid_cgroup2_mounts(const std::vector<MountPoint>& mounts);

/// Makes `path` a mount with a peer group of its own: what is mounted below it later arrives where it is bound as a
/// slave. Idempotent. A plain folder of a shared mount does not do: the runtime makes the mount that holds the root
/// file system private, and a bind without the private step joins its parent's group and gets every mount twice.
Result<void> make_own_peer_group(const std::string& path);

Result<void> mount_tmpfs(const std::string& path, const std::string& options);
/// Read-only when `upper` is empty. `lower` are directories from top to bottom.
Result<void> mount_overlay(
    const std::vector<std::string>& lower, const std::string& upper, const std::string& work, const std::string& path
);

/// Unmounts what is mounted on `path`, if anything.
Result<void> unmount(const std::string& path);

/// Unmounts everything below `path` (and on it), deepest first. Errors  conflict: in use, with the mount's path
Result<void> unmount_below(const std::string& path);

}  // namespace berth::solo
