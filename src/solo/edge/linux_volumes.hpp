// The VolumeHost port on Linux: pod folders in the kubelet's layout, volumes as folders and loop devices.
#pragma once

#include "base/async/blocking.hpp"
#include "solo/edge/data_dir.hpp"
#include "solo/runtime.hpp"

namespace berth::solo {

class LinuxVolumes final : public VolumeHost {
public:
    LinuxVolumes(Blocking& blocking, const DataPaths& paths, const NodeName& node)
        : blocking_(blocking), node_(paths.node(node)), cgroup_(paths.cgroup()) {}

    Task<Result<std::string>> make_pod_dir(Uid pod) override;
    Task<Result<std::string>> make_empty_dir(
        Uid pod, std::string volume, bool in_memory, std::optional<std::int64_t> fs_group, bool propagates
    ) override;
    Task<Result<std::string>> write_files(
        Uid pod,
        std::string volume,
        std::map<std::string, std::string> files,
        std::int64_t mode,
        std::optional<std::int64_t> fs_group
    ) override;
    Task<Result<std::string>> open_path(std::string path, std::string type, std::optional<std::int64_t> fs_group)
        override;
    /// Also removes the pod's control groups. Errors  conflict: a mount or a process is still in use, and which
    Task<Result<void>> remove_pod_dir(Uid pod) override;
    Task<Result<std::vector<Uid>>> list_pods() override;

    Task<Result<std::string>> make_volume(std::string volume, Bytes size, bool block) override;
    Task<Result<void>> delete_volume(std::string volume) override;
    Task<Result<void>> grow_volume(std::string volume, Bytes size) override;
    Task<Result<void>> restore_volumes() override;

private:
    Blocking& blocking_;
    NodeDir node_;
    std::string cgroup_;
};

}  // namespace berth::solo
