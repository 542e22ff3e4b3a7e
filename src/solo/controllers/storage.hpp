// The volume binder, the provisioner and the protection of claims and volumes, on one engine.
#pragma once

#include "kube/engine.hpp"
#include "solo/controllers/scheduler.hpp"
#include "solo/runtime.hpp"

namespace berth::solo {

/// The machine part of a node's volumes; nullptr when the node is not run by this process.
using FindVolumeHost = std::function<VolumeHost*(const std::string& node)>;

void add_volume_binder(kube::Engine& engine);
void add_provisioner(kube::Engine& engine, NodeDirectory directory_of, FindVolumeHost host_of);
void add_protection(kube::Engine& engine);

}  // namespace berth::solo
