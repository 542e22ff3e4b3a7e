// The roles of a simulated installation: each an engine with the product's own controllers on simulated machines.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/server.hpp"
#include "base/async/clock.hpp"
#include "base/async/entropy.hpp"
#include "base/async/log.hpp"
#include "controllers/progress_board.hpp"
#include "kube/transport.hpp"
#include "sim/machine/node.hpp"
#include "solo/rules/seed.hpp"

namespace berth::sim {

struct RoleInput {
    Executor executor;
    Clock& clock;
    Entropy& entropy;
    Log& log;
    kube::Transport& transport;
    Machines& machines;
    std::string name;  ///< "controllers", "cluster", or a node's
    controllers::ProgressBoard& progress;
    Node* node = nullptr;            ///< of a node role
    bool lacks_datavolumes = false;  ///< the controllers role without the DataVolume controllers
    std::map<std::string, Node*> nodes = {};
};

class RoleParts {
public:
    virtual ~RoleParts() = default;
    virtual Task<void> run() = 0;
    [[nodiscard]] virtual bool is_quiet() const = 0;
};

std::unique_ptr<RoleParts> make_role(const RoleInput& input);

/// The API server as `berth up` sets it up: admission and verbs of our kinds.
apiserver::Options server_options();

}  // namespace berth::sim
