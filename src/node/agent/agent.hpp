// The agent of one node: keeps a connection to every launcher of its machines and lets the rules decide.
#pragma once

#include "kube/engine.hpp"
#include "node/agent/launchers.hpp"

namespace berth::node {

class Agent {
public:
    /// Adds its controller to the engine. Everything given outlives it; it outlives the engine's run.
    Agent(kube::Engine& engine, Executor executor, std::string node, agent::Connector& connector);
    ~Agent();

    /// Ends all connections; guests go on. Await it before the object goes.
    Task<void> close();

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace berth::node
