// What the workers of one node say of their progress, told by the claim that they fill.
#pragma once

#include <map>
#include <string>

#include "api/core.hpp"
#include "kube/engine.hpp"
#include "node/figures.hpp"

namespace berth::node {

class WorkerProgress {
public:
    /// `claim` is the claim that the worker fills, `uid` its UID.
    using Tell = std::function<void(const api::Key& claim, const Uid& uid, const std::string& figure)>;

    /// Everything given outlives it; it outlives the engine's run.
    WorkerProgress(kube::Engine& engine, std::string node, WorkerFigures& figures, Tell tell);
    ~WorkerProgress();
    WorkerProgress(const WorkerProgress&) = delete;
    WorkerProgress& operator=(const WorkerProgress&) = delete;

private:
    struct Filled {
        api::Key claim;
        Uid uid;
    };
    void pod_changed(const api::Key& pod, const Uid& uid);

    std::string node_;
    kube::Cache<api::Pod>& pods_;
    WorkerFigures& figures_;
    Tell tell_;
    std::map<Uid, Filled> followed_;  ///< by pod
};

}  // namespace berth::node
