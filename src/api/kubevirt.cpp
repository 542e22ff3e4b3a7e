#include "api/kubevirt.hpp"

#include "api/codec_impl.hpp"
#include "api/kubevirt_fields.hpp"

namespace berth::api {

std::string VmVolume::claim_name() const {
    if (data_volume) return data_volume->name;
    if (persistent_volume_claim) return persistent_volume_claim->claim_name;
    if (ephemeral && ephemeral->persistent_volume_claim) return ephemeral->persistent_volume_claim->claim_name;
    if (memory_dump) return memory_dump->claim_name;
    return {};
}

bool VmVolume::is_hotpluggable() const {
    return (data_volume && data_volume->hotpluggable) ||
           (persistent_volume_claim && persistent_volume_claim->hotpluggable) || memory_dump;
}

BERTH_CODEC(VirtualMachine);
BERTH_CODEC(VmSpec);
BERTH_CODEC(VmStatus);
BERTH_CODEC(Disk);
BERTH_CODEC(VmVolume);
BERTH_CODEC(VirtualMachineInstance);
BERTH_CODEC(VmiSpec);
BERTH_CODEC(VmiStatus);
BERTH_CODEC(ControllerRevision);
BERTH_CODEC(KubeVirt);

}  // namespace berth::api
