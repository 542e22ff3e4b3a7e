// The folder of a pod on its node, in the kubelet's layout. Blocking calls; linux_volumes.hpp puts them off the loop.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "solo/edge/data_dir.hpp"

namespace berth::solo {

struct EmptyDirWish {
    std::string volume;
    bool in_memory = false;
    std::optional<std::int64_t> fs_group;
    bool propagates = false;
};

struct FilesWish {
    std::string volume;
    std::map<std::string, std::string> files;  ///< by path below the volume, folders allowed
    std::int64_t mode = 0644;
    std::optional<std::int64_t> fs_group;
};

/// "pods/<uid>": made with what the runtime puts below it.
Result<std::string> make_pod_folder(const NodeDir& node, const Uid& pod);

/// "pods/<uid>/volumes/kubernetes.io~empty-dir/<volume>". Idempotent: a volume that is there keeps its content.
Result<std::string> make_empty_folder(const NodeDir& node, const Uid& pod, const EmptyDirWish& wish);

/// "pods/<uid>/volumes/kubernetes.io~projected/<volume>": each file is replaced as a whole; others are removed.
Result<std::string> write_folder(const NodeDir& node, const Uid& pod, const FilesWish& wish);

/// Checks a path of the machine against a hostPath type; makes it for the …OrCreate types.
/// Errors  not_found, invalid: with what is there
Result<std::string> check_path(const std::string& path, const std::string& type);

/// Unmounts what is below the pod's folder, then removes folder and control groups ("/berth-x2vq1/<uid>").
/// Errors  conflict: something is still in use; nothing was deleted below it
Result<void> remove_pod_folder(const NodeDir& node, const Uid& pod, const std::string& cgroup);

}  // namespace berth::solo
