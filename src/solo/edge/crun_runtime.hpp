// The Runtime port on crun and conmon. What is true is on disk and in the kernel: a new object finds every container
// that an old one started, and a killed process loses none.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/async/blocking.hpp"
#include "base/async/clock.hpp"
#include "base/async/log.hpp"
#include "base/async/task_group.hpp"
#include "solo/edge/conmon.hpp"
#include "solo/edge/images.hpp"
#include "solo/runtime.hpp"

namespace berth::solo {

/// What a node's runtime is made of; everything outlives it.
struct CrunParts {
    Blocking& blocking;
    Clock& clock;
    Log& log;
    const Images& images;
    std::string accelerator = {};  ///< "kvm", "tcg": what VM pods are told; "" = they look themselves
};

class CrunRuntime final : public Runtime {
public:
    /// Errors  not_found: crun or conmon is not installed; io
    static Result<std::unique_ptr<CrunRuntime>> open(
        Executor executor, CrunParts parts, const DataDir& data, const NodeName& node
    );
    ~CrunRuntime() override;

    Task<Result<void>> resolve_image(std::string image) override;
    Task<Result<void>> start(ContainerSpec spec) override;
    Task<Result<void>> signal(std::string id, std::string name) override;
    Task<Result<void>> remove(std::string id) override;
    Task<Result<std::vector<ContainerInfo>>> list() override;
    void on_change(std::function<void(Uid pod)> call) override { on_change_ = std::move(call); }
    std::string log_path(const Uid& pod, const std::string& container) override;

    /// Stops watching; containers run on. Await it before the object goes.
    Task<void> close();

private:
    struct Fixed;  // what never changes, shared with work on other threads

    CrunRuntime(Executor executor, CrunParts parts, std::shared_ptr<const Fixed> fixed);
    void watch(const ContainerRecord& record);
    Task<void> watch_exits();
    Task<void> watch_process(ContainerRecord record);
    void changed(const Uid& pod);

    CrunParts parts_;
    std::shared_ptr<const Fixed> fixed_;
    std::function<void(Uid)> on_change_;
    std::map<std::string, Uid> pods_;  ///< of containers seen, by container id
    std::set<std::string> watched_;    ///< ids of running containers with a task
    TaskGroup group_;
};

}  // namespace berth::solo
