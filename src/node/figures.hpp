// Port: how far the workers of a node have come.
#pragma once

#include <functional>
#include <string>

#include "base/text.hpp"

namespace berth::node {

class WorkerFigures {
public:
    virtual ~WorkerFigures() = default;

    /// Tells the figure that this pod's worker has left ("12.34%"), and each one it leaves, until drop(). Idempotent:
    /// it is asked again while the pod changes, so what cannot be followed yet is not an error.
    virtual void follow(const Uid& pod) = 0;
    virtual void drop(const Uid& pod) = 0;

    /// Called on the loop. Replaces the call that was there.
    virtual void on_figure(std::function<void(const Uid& pod, const std::string& figure)> call) = 0;
};

}  // namespace berth::node
