// Who wants a claim that only one machine may have at a time: the machines that name it, and those whose pods still do.
#pragma once

#include "controllers/claim_users.hpp"
#include "controllers/volume_users.hpp"
#include "placement/vmi/holder.hpp"

namespace berth::controllers {

/// The machine behind a pod: its controller, or the controller of the launcher pod that owns it; when that launcher has
/// left the cache, the machine that the pod's annotations name. nullptr: none.
const api::VirtualMachineInstance* machine_of(
    const api::Pod& pod, const kube::Cache<api::Pod>& pods, const kube::Cache<api::VirtualMachineInstance>& machines
);

std::vector<placement::vmi::Contender> contenders_for(
    const std::pair<std::string, std::string>& claim,
    const VolumeUsers<api::VirtualMachineInstance>& machines_of,
    const ClaimUsers& pods_of,
    const kube::Cache<api::Pod>& pods,
    const kube::Cache<api::VirtualMachineInstance>& machines
);

}  // namespace berth::controllers
