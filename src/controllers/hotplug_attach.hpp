// The controller that attaches and detaches the plugged volumes of running machines: what fills its view, what wakes
// it.
#pragma once

#include <memory>

#include "controllers/machine_caches.hpp"

namespace berth::controllers {

void add_hotplug_attach_controller(const std::shared_ptr<MachineCaches>& caches);

}  // namespace berth::controllers
