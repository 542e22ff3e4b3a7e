#include "placement/vmi/volumes.hpp"

#include <algorithm>

namespace berth::placement::vmi {
namespace {

constexpr const char* kOverheadWithoutCdi = "0.055";
constexpr const char* kPreallocated = "cdi.kubevirt.io/storage.preallocation";

}  // namespace

std::string filesystem_overhead(const api::PersistentVolumeClaim& claim, const api::CdiConfig* config) {
    if (claim.spec.is_block()) return "0";
    if (config == nullptr || !config->status.filesystem_overhead) return kOverheadWithoutCdi;
    const api::FilesystemOverhead& overhead = *config->status.filesystem_overhead;
    const auto it = overhead.storage_class.find(claim.spec.storage_class_name.value_or(""));
    if (it != overhead.storage_class.end()) return it->second;
    return overhead.global.empty() ? kOverheadWithoutCdi : overhead.global;
}

api::ClaimSummary summary_of(const api::PersistentVolumeClaim& claim, const api::CdiConfig* config) {
    const std::string* preallocated = claim.metadata.annotation(kPreallocated);
    return {
        .claim_name = claim.metadata.name,
        .access_modes = claim.spec.access_modes,
        .volume_mode = claim.spec.volume_mode.empty() ? "Filesystem" : claim.spec.volume_mode,
        .capacity = claim.status.capacity,
        .requests = claim.spec.resources.requests,
        .preallocated = preallocated != nullptr && *preallocated == "true",
        .filesystem_overhead = filesystem_overhead(claim, config),
    };
}

std::vector<api::VmVolumeStatus> volume_status(const View& view) {
    std::map<std::string, api::VmVolumeStatus> entries;
    for (const api::VmVolumeStatus& entry : view.vmi->status.volume_status) entries[entry.name] = entry;
    for (const api::VmVolume& volume : view.vmi->spec.volumes) {
        if (volume.is_hotpluggable()) continue;
        api::VmVolumeStatus& entry = entries[volume.name];
        if (entry.hotplug_volume) continue;
        entry.name = volume.name;
        const auto disk =
            std::ranges::find_if(view.disks, [&](const Disk& d) { return d.volume->name == volume.name; });
        // A claim that is gone keeps its last known summary: the machine still has the disk.
        if (disk != view.disks.end() && disk->claim != nullptr) {
            entry.persistent_volume_claim_info = summary_of(*disk->claim, view.cdi_config);
        }
    }
    std::vector<api::VmVolumeStatus> out;
    for (auto& [name, entry] : entries) out.push_back(std::move(entry));
    return out;
}

}  // namespace berth::placement::vmi
