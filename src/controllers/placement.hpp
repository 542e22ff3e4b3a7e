// The controllers of VirtualMachines and their instances: what fills their views from the caches, and what wakes them.
#pragma once

#include <memory>

#include "controllers/machine_caches.hpp"

namespace berth::controllers {

void add_vm_controller(const std::shared_ptr<MachineCaches>& caches);
void add_vmi_controller(const std::shared_ptr<MachineCaches>& caches);

}  // namespace berth::controllers
