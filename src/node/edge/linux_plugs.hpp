// Plugged volumes on a Linux node: bind mounts and device nodes in the folders of launcher pods. The launcher may write
// to its folder: nothing in it is ever followed.
// Contract: docs/spec/hotplug.md 7
#pragma once

#include <functional>
#include <mutex>

#include "base/async/blocking.hpp"
#include "node/edge/plug_record.hpp"
#include "node/plugs.hpp"

namespace berth::node {

/// Where a node keeps its pods and its own records.
struct PlugDirs {
    std::string pods;     ///< one folder a pod, by UID
    std::string records;  ///< one file a machine; made when it is not there
    std::string cgroup;   ///< "/berth-x": a launcher's group is <cgroup>/<pod UID>/compute, below each hierarchy's root
};

class LinuxPlugs final : public Plugs {
public:
    /// `before_act` is called before each change to the record or the kernel, with its name: a test ends there.
    using BeforeAct = std::function<void(const char* act)>;
    LinuxPlugs(Blocking& blocking, PlugDirs dirs, BeforeAct before_act = [](const char*) {});

    Task<Result<std::vector<Plug>>> look(PlugHost host) override;
    Task<Result<void>> plug(PlugHost host, Plug wanted) override;
    Task<Result<void>> unplug(PlugHost host, std::string volume) override;
    Task<Result<void>> unplug_all(PlugHost host) override;
    Task<Result<std::vector<PlugHost>>> hosts() override;

private:
    class Work;
    Work work(PlugHost host);

    Blocking& blocking_;
    PlugDirs dirs_;
    BeforeAct before_act_;
    std::string boot_;
    std::mutex records_;  ///< held while a record is read and rewritten; never while the kernel mounts
};

}  // namespace berth::node
