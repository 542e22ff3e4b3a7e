#include "solo/rules/scheduler/reservation.hpp"

#include "solo/rules/storage/matching.hpp"

namespace berth::solo::scheduler {
namespace {

constexpr const char* kProvisioningPod = "kubevirt.io/ephemeral-provisioning";

bool shares_claim(const api::Pod& a, const api::Pod& b) {
    if (a.metadata.ns != b.metadata.ns) return false;
    return std::ranges::any_of(a.spec.volumes, [&](const api::PodVolume& volume) {
        return volume.persistent_volume_claim && uses(b, volume.persistent_volume_claim->claim_name);
    });
}

}  // namespace

Uid machine_of(const api::Pod& pod) {
    const api::OwnerReference* owner = pod.metadata.controller();
    return owner != nullptr && owner->kind == "VirtualMachineInstance" ? owner->uid : Uid{};
}

bool is_provisioning(const api::Pod& pod) { return pod.metadata.annotation(kProvisioningPod) != nullptr; }

bool is_awaited(const api::Pod& reserved, const api::VirtualMachineInstance* machine) {
    return machine != nullptr && machine->metadata.uid == machine_of(reserved) && !machine->metadata.is_deleting() &&
           !machine->is_final();
}

bool is_kept_from(const api::Pod& reserved, const api::Pod& asking) {
    const bool is_own = machine_of(reserved) == machine_of(asking);
    return !is_own && !shares_claim(reserved, asking);
}

}  // namespace berth::solo::scheduler
