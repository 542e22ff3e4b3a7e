// The agent of one node: keeps a connection to every launcher of its machines and lets the rules decide.
#pragma once

#include "kube/engine.hpp"
#include "node/agent/launchers.hpp"
#include "node/plugs.hpp"

namespace berth::node {

class Agent {
public:
    /// Adds its controller to the engine. Everything given outlives it; it outlives the engine's run.
    Agent(kube::Engine& engine, Executor executor, std::string node, agent::Connector& connector, Plugs& plugs);
    ~Agent();

    /// Ends all connections and the work on volumes; guests go on. Await it before the object goes.
    Task<void> close();

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace berth::node
