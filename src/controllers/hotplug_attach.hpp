// The controller that attaches and detaches the plugged volumes of running machines: what fills its view, what wakes
// it.
#pragma once

#include "kube/engine.hpp"
#include "placement/config.hpp"

namespace berth::controllers {

/// `base` is what the installation offers; the KubeVirt object is read live on top of it.
void add_hotplug_attach_controller(kube::Engine& engine, placement::Config base);

}  // namespace berth::controllers
