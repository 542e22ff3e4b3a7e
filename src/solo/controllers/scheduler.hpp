// The scheduler of solo mode: fills its views, remembers what it assumed and what it keeps reserved.
#pragma once

#include "kube/engine.hpp"
#include "solo/rules/scheduler/view.hpp"

namespace berth::solo {

/// Where the volumes of a node lie; part of a volume's path.
using NodeDirectory = std::function<std::string(const std::string& node)>;

/// bind_timeout: how long a pod may wait for its volumes (placement.md K-30).
void add_scheduler(kube::Engine& engine, Duration bind_timeout = std::chrono::seconds(600));

}  // namespace berth::solo
