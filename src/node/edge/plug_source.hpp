// Where a claim lies on this node, found through the attachment pod that kubelet mounted it for.
// Contract: docs/spec/hotplug.md 7.3
#pragma once

#include <sys/types.h>

#include "base/fd.hpp"
#include "node/plugs.hpp"
#include "solo/edge/mounts.hpp"

namespace berth::node {

/// What is plugged: the file disk.img of a claim, or its device.
struct PlugSource {
    Fd file;                   ///< of a file: O_PATH, in this process's mount namespace
    std::uint64_t device = 0;  ///< as in PlugEntry
    std::uint64_t inode = 0;
    mode_t mode = 0;
};

/// Errors  unavailable: the pod does not answer or show the claim yet; not_found: there is no disk.img; forbidden: what
///         answers is not the pod; io
Result<PlugSource> find_source(const std::string& pods, const Plug& plug);

/// The paths under which this process may see what another one sees at `there`, the most precise first. Mounts inside
/// `pods` count only if they are of `pod`: those of other pods may be the same device by accident.
std::vector<std::string> host_paths(
    const std::vector<solo::MountPoint>& own, const solo::MountPoint& there, const std::string& pods, const Uid& pod
);

/// A folder of a pod, opened without following a link. Errors  unavailable: it is not there (yet)
Result<Fd> open_pod_folder(const std::string& pods, const Uid& pod);

}  // namespace berth::node
