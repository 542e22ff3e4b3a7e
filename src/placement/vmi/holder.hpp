// Which machine has a claim that only one may have at a time: on the same node too, QEMU's locks do not protect block
// devices.
#pragma once

#include "api/kubevirt.hpp"

namespace berth::placement::vmi {

/// A machine that names the claim, or whose pods do.
struct Contender {
    const api::VirtualMachineInstance* machine = nullptr;
    bool has_pod =
        false;  ///< a pod of it that has not ended mentions the claim: its own, or one that its launcher owns
};

/// "default/a": the machine that has the claim before `self` may; "" = none.
///
/// `others` may hold `self`. A machine with a pod has it; of those that have none, and are not over, the oldest; and
/// the oldest of those that have one. So two machines that are made together never both start, whatever their
/// controller has seen of the other's pods.
std::string holder_of(
    const api::VirtualMachineInstance& self,
    const api::PersistentVolumeClaim& claim,
    const std::vector<Contender>& others
);

}  // namespace berth::placement::vmi
