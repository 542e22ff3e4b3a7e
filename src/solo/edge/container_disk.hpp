// The program "container-disk". In a containerDisk's container it hands the image's disk to the launcher; in an
// attachment pod it only keeps the pod alive. Either way the pod's end is its end.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace berth::solo {

struct ContainerDiskWish {
    std::string copy_path;   ///< "/var/run/kubevirt/container-disks/disk_0", "/path/hp"
    std::string target;      ///< where the disk goes; "" = "<copy_path>.img"
    std::string image_path;  ///< the file in the image; "" = the one in /disk
    bool operator==(const ContainerDiskWish&) const = default;
};

/// Reads `--copy-path P [--target T] [--image-path I]`; "--flag=value" too. Errors  invalid: with the usage
Result<ContainerDiskWish> container_disk_wish(const std::vector<std::string>& words);

/// Copies the disk from `folder` (or image_path) to its target: sparse, whole or not at all, mode 0660.
/// One that is there already stays. Errors  not_found: no disk, or more than one without --image-path; io
Result<void> copy_container_disk(const ContainerDiskWish& wish, const std::string& folder);

/// The program. With a /disk it copies it and waits for SIGTERM. Without one it listens on "<copy-path>.sock" and waits
/// for SIGTERM or for somebody to remove the socket. Returns the exit code: 0, or 1 with the reason on standard error.
int container_disk_main(int argc, char** argv);

}  // namespace berth::solo
