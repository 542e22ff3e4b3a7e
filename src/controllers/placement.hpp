// The controllers of VirtualMachines and their instances: what fills their views from the caches, and what wakes them.
#pragma once

#include "kube/engine.hpp"
#include "placement/config.hpp"

namespace berth::controllers {

/// `base` is what the installation offers; the KubeVirt object is read live on top of it.
void add_vm_controller(kube::Engine& engine, placement::Config base);
void add_vmi_controller(kube::Engine& engine, placement::Config base);

}  // namespace berth::controllers
