// Plugged volumes on a Linux node: bind mounts and device nodes in the folders of launcher pods.
// Contract: docs/spec/hotplug.md 7
#pragma once

#include "base/async/blocking.hpp"
#include "node/plugs.hpp"

namespace berth::node {

/// Where a node keeps its pods and its own records.
struct PlugDirs {
    std::string pods;     ///< one folder a pod, by UID
    std::string records;  ///< one file a machine; made when it is not there
};

class LinuxPlugs final : public Plugs {
public:
    LinuxPlugs(Blocking& blocking, PlugDirs dirs) : blocking_(blocking), dirs_(std::move(dirs)) {}

    Task<Result<std::vector<Plug>>> look(PlugHost host) override;
    Task<Result<void>> plug(PlugHost host, Plug wanted) override;
    Task<Result<void>> unplug(PlugHost host, std::string volume) override;
    Task<Result<void>> unplug_all(PlugHost host) override;
    Task<Result<std::vector<PlugHost>>> hosts() override;

private:
    [[maybe_unused]] Blocking& blocking_;
    [[maybe_unused]] PlugDirs dirs_;
};

}  // namespace berth::node
