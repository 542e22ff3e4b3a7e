// Where a launcher finds the disks of its machine.
#pragma once

#include "agent/link.hpp"
#include "api/kubevirt.hpp"

namespace berth::node {

/// What the launcher finds in its pod, in order of spec.volumes. Plugged volumes are not there from the start.
std::vector<agent::VolumePath> volume_paths(
    const api::VirtualMachineInstance& vmi, const std::vector<api::PersistentVolumeClaim>& claims
);

}  // namespace berth::node
