#include "placement/vmi/holder.hpp"

#include <tuple>

#include "base/ranges.hpp"

namespace berth::placement::vmi {
namespace {

// Every volume of the machine that names the claim leaves it as it is.
bool only_reads(const api::VirtualMachineInstance& machine, const std::string& claim) {
    return std::ranges::all_of(machine.spec.volumes, [&](const api::VmVolume& volume) {
        if (volume.claim_name() != claim) return true;
        return volume.ephemeral || (volume.persistent_volume_claim && volume.persistent_volume_claim->read_only);
    });
}

bool is_older(const api::VirtualMachineInstance& a, const api::VirtualMachineInstance& b) {
    const auto rank = [](const api::VirtualMachineInstance& one) {
        return std::tie(one.metadata.creation_timestamp, one.metadata.name, one.metadata.uid);
    };
    return rank(a) < rank(b);
}

}  // namespace

std::string holder_of(
    const api::VirtualMachineInstance& self,
    const api::PersistentVolumeClaim& claim,
    const std::vector<Contender>& others
) {
    if (contains(claim.spec.access_modes, "ReadWriteMany")) return {};
    const bool reads = only_reads(self, claim.metadata.name);
    for (const Contender& other : others) {
        const api::VirtualMachineInstance& machine = *other.machine;
        if (machine.metadata.uid == self.metadata.uid) continue;
        if (reads && only_reads(machine, claim.metadata.name)) continue;
        if (other.has_pod || (!machine.is_final() && is_older(machine, self))) {
            return machine.metadata.ns + "/" + machine.metadata.name;
        }
    }
    return {};
}

}  // namespace berth::placement::vmi
