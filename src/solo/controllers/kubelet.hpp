// Runs the kubelet rules of one node: fills their views from the caches and the runtime, and executes their effects.
#pragma once

#include <memory>

#include "kube/engine.hpp"
#include "solo/rules/kubelet/view.hpp"
#include "solo/runtime.hpp"

namespace berth::solo {

class Kubelet {
public:
    /// Adds its controller to the engine. Everything given outlives it; it outlives the engine's run.
    Kubelet(kube::Engine& engine, std::string node, std::string address, Runtime& runtime, VolumeHost& volumes);
    ~Kubelet();

    /// Reads what the node already runs. Call once before the engine runs, and await it.
    Task<Result<void>> recover();

    /// Pods of this node whose containers run, by UID, with the process id of a container (0: none runs).
    [[nodiscard]] int process_of(const Uid& pod, const std::string& container) const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace berth::solo
