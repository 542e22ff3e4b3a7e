// The controller that keeps the volumes of a running machine like those of its VM, and empties the VM's queue of
// requests: what fills its view from the caches, and what wakes it.
#pragma once

#include <memory>

#include "controllers/machine_caches.hpp"

namespace berth::controllers {

void add_hotplug_template_controller(const std::shared_ptr<MachineCaches>& caches);

}  // namespace berth::controllers
