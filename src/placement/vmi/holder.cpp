#include "placement/vmi/holder.hpp"

#include <tuple>

#include "base/ranges.hpp"

namespace berth::placement::vmi {
namespace {

// The machine names the claim, and every volume of it that does leaves it as it is.
bool only_reads(const api::VirtualMachineInstance& machine, const std::string& claim) {
    bool names_it = false;
    for (const api::VmVolume& volume : machine.spec.volumes) {
        if (volume.claim_name() != claim) continue;
        names_it = true;
        const bool reads =
            volume.ephemeral || (volume.persistent_volume_claim && volume.persistent_volume_claim->read_only);
        if (!reads) return false;
    }
    return names_it;
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
    const bool has_pod = std::ranges::any_of(others, [&](const Contender& one) {
        return one.has_pod && one.machine->metadata.uid == self.metadata.uid;
    });
    for (const Contender& other : others) {
        const api::VirtualMachineInstance& machine = *other.machine;
        if (machine.metadata.uid == self.metadata.uid) continue;
        if (reads && only_reads(machine, claim.metadata.name)) continue;
        const bool was_first = is_older(machine, self);
        const bool is_ahead =
            has_pod ? was_first && other.has_pod : other.has_pod || (!machine.is_final() && was_first);
        if (is_ahead) return machine.metadata.ns + "/" + machine.metadata.name;
    }
    return {};
}

}  // namespace berth::placement::vmi
