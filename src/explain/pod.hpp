// The line of a pod.
#pragma once

#include "explain/line.hpp"
#include "explain/view.hpp"

namespace berth::explain {

inline constexpr const char* kProvisioning = "kubevirt.io/ephemeral-provisioning";

/// Where the pod is, and what it waits for. It runs or is done: no reason is given.
Line pod_line(const View& view, const api::Pod& pod, int depth);

/// Why no node takes it; "" when one has, or the scheduler has not looked.
std::string unschedulable(const api::Pod& pod);

/// The container is there and its probe, if it has one, succeeded.
bool is_ready(const api::Pod& pod, const std::string& container);

}  // namespace berth::explain
