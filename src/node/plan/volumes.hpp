// Where a launcher finds the disks of its machine.
#pragma once

#include "agent/link.hpp"
#include "api/kubevirt.hpp"
#include "node/plugs.hpp"

namespace berth::node {

/// What the launcher finds in its pod, in order of spec.volumes. A plugged volume is among it as long as it is in
/// place.
std::vector<agent::VolumePath> volume_paths(
    const api::VirtualMachineInstance& vmi,
    const std::vector<api::PersistentVolumeClaim>& claims,
    const std::vector<Plug>& plugs
);

}  // namespace berth::node
