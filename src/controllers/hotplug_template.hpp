// The controller that keeps the volumes of a running machine like those of its VM, and empties the VM's queue of
// requests: what fills its view from the caches, and what wakes it.
#pragma once

#include "kube/engine.hpp"

namespace berth::controllers {

void add_hotplug_template_controller(kube::Engine& engine);

}  // namespace berth::controllers
