// See disks.hpp.
#include "launcher/plan/disks.hpp"

#include <algorithm>
#include <optional>
#include <set>

namespace berth::launcher {
namespace {

const api::VmVolume* volume_of(const api::VirtualMachineInstance& vmi, const std::string& name) {
    const auto it = std::ranges::find(vmi.spec.volumes, name, &api::VmVolume::name);
    return it == vmi.spec.volumes.end() ? nullptr : &*it;
}

const api::VmVolumeStatus* status_of(const api::VirtualMachineInstance& vmi, const std::string& name) {
    const auto it = std::ranges::find(vmi.status.volume_status, name, &api::VmVolumeStatus::name);
    return it == vmi.status.volume_status.end() ? nullptr : &*it;
}

bool is_hotplugged(const api::VirtualMachineInstance& vmi, const api::VmVolume& volume) {
    const api::VmVolumeStatus* const status = status_of(vmi, volume.name);
    return volume.is_hotpluggable() || (status != nullptr && status->hotplug_volume);
}

std::string ephemeral_path(std::string_view kind, const std::string& volume, std::string_view suffix) {
    return std::string(kEphemeralDisksDir) + "/" + std::string(kind) + "/" + volume + std::string(suffix);
}

MachineDisk device_of(const api::Disk& spec) {
    MachineDisk out;
    out.spec = spec;
    const std::optional<api::DiskTarget>& target = spec.cdrom ? spec.cdrom : spec.lun ? spec.lun : spec.disk;
    out.device = spec.cdrom ? "cdrom" : spec.lun ? "lun" : "disk";
    out.bus = target && !target->bus.empty() ? target->bus : "sata";  // KubeVirt's default (placement.md 1.6)
    // A drive reads; whether a disk may be written is the spec's word.
    out.read_only = out.device == "cdrom" || (target && target->read_only);
    return out;
}

void use_path(MachineDisk& disk, const agent::VolumePath& path) {
    disk.path = path.path;
    disk.block = path.block;
    disk.format = path.format;
    disk.read_only = disk.read_only || path.read_only;
    disk.claim_size = path.size;
    if (path.create_if_absent) disk.preparation = SparseFile{path.size};
}

void put_overlay(MachineDisk& disk, const std::string& volume, Overlay overlay) {
    disk.path = ephemeral_path("overlays", volume, ".qcow2");
    disk.format = "qcow2";
    disk.block = false;
    disk.preparation = std::move(overlay);
}

std::string_view prefix_of(std::string_view bus) { return bus == "virtio" ? "vd" : "sd"; }

// The place of "vdab" among the names that begin with "vd"; none for another name.
std::optional<int> unit_of(std::string_view target, std::string_view prefix) {
    if (!target.starts_with(prefix) || target.size() == prefix.size() || target.size() > prefix.size() + 3) return {};
    int unit = 0;
    for (const char letter : target.substr(prefix.size())) {
        if (letter < 'a' || letter > 'z') return {};
        unit = unit * 26 + (letter - 'a' + 1);
    }
    return unit - 1;
}

// Who has which target. Nobody is given one that another disk has, had, or is just letting go.
class Targets {
public:
    Targets(const api::VirtualMachineInstance& vmi, const Places& places) : kept_(places) {
        for (const auto& [name, target] : places) taken_.insert(target);
        for (const api::Disk& spec : vmi.spec.domain.devices.disks) {
            const api::VmVolumeStatus* const status = status_of(vmi, spec.name);
            const std::string_view prefix = prefix_of(device_of(spec).bus);
            if (status == nullptr || kept_.contains(spec.name) || !unit_of(status->target, prefix)) continue;
            if (taken_.insert(status->target).second) kept_[spec.name] = status->target;
        }
    }

    void give(MachineDisk& disk) {
        const std::string_view prefix = prefix_of(disk.bus);
        const auto kept = kept_.find(disk.spec.name);
        std::optional<int> unit = kept == kept_.end() ? std::nullopt : unit_of(kept->second, prefix);
        if (!unit) {
            unit = 0;
            while (!taken_.insert(target_name(prefix, *unit)).second) ++*unit;
        }
        disk.unit = *unit;
        disk.target = target_name(prefix, *unit);
    }

private:
    Places kept_;
    std::set<std::string> taken_;
};

class Planner {
public:
    Planner(const api::VirtualMachineInstance& vmi, const std::vector<agent::VolumePath>& paths, const Places& places)
        : vmi_(vmi), paths_(paths), targets_(vmi, places) {}

    DiskPlan plan() {
        for (const api::Disk& spec : vmi_.spec.domain.devices.disks) {
            const Result<void> added = add(spec);
            if (!added) plan_.errors.push_back({spec.name, added.error().message});
        }
        return std::move(plan_);
    }

private:
    Result<void> add(const api::Disk& spec) {
        MachineDisk disk = device_of(spec);
        const api::VmVolume* const volume = volume_of(vmi_, spec.name);
        if (volume == nullptr) {
            if (!spec.cdrom)
                return fail(ErrorKind::invalid, "disk \"" + spec.name + "\" has no volume: add one of that name");
        } else {
            TRY(const bool is_there, give_source(disk, *volume));
            // A drive is there also while its medium is not.
            if (!is_there && !(spec.cdrom && is_hotplugged(vmi_, *volume))) return {};
        }
        targets_.give(disk);
        plan_.disks.push_back(std::move(disk));
        return {};
    }

    // False: not yet, or not now.
    Result<bool> give_source(MachineDisk& disk, const api::VmVolume& volume) {
        if (volume.container_disk) {
            put_overlay(
                disk, volume.name, {.image = std::string(kContainerDisksDir) + "/" + volume.name + ".img", .format = ""}
            );
        } else if (volume.cloud_init_no_cloud || volume.cloud_init_config_drive) {
            TRY(Seed seed, seed_of(vmi_, volume));
            disk.path = ephemeral_path("cloud-init", volume.name, ".iso");
            disk.preparation = std::move(seed);
        } else if (volume.empty_disk) {
            disk.path = ephemeral_path("empty-disks", volume.name, ".img");
            disk.preparation = SparseFile{bytes_or_zero(volume.empty_disk->capacity).value};
        } else {
            return give_path(disk, volume);
        }
        return true;
    }

    Result<bool> give_path(MachineDisk& disk, const api::VmVolume& volume) {
        const auto path = std::ranges::find(paths_, volume.name, &agent::VolumePath::name);
        if (path == paths_.end()) {
            if (volume.claim_name().empty() && !volume.host_disk) {
                return fail(
                    ErrorKind::invalid, "volume \"" + volume.name + "\" is of a kind that cannot be a disk yet"
                );
            }
            if (!is_hotplugged(vmi_, volume)) plan_.waits_for.push_back(volume.name);
            return false;
        }
        const bool is_read_only = disk.read_only;
        use_path(disk, *path);
        if (volume.ephemeral) {
            put_overlay(disk, volume.name, {.image = path->path, .format = path->format});
            disk.read_only = is_read_only;  // the claim is only read, the changes are not
        }
        const api::VmVolumeStatus* const status = status_of(vmi_, volume.name);
        const auto* const claim = status == nullptr || !status->persistent_volume_claim_info
                                      ? nullptr
                                      : &*status->persistent_volume_claim_info;
        disk.preallocated = claim != nullptr && claim->preallocated;
        if (claim != nullptr) disk.overhead = claim->filesystem_overhead;
        return true;
    }

    const api::VirtualMachineInstance& vmi_;
    const std::vector<agent::VolumePath>& paths_;
    Targets targets_;
    DiskPlan plan_;
};

}  // namespace

std::string target_name(std::string_view prefix, int unit) {
    std::string letters;
    for (int rest = unit; rest >= 0; rest = rest / 26 - 1)
        letters.insert(letters.begin(), static_cast<char>('a' + rest % 26));
    return std::string(prefix) + letters;
}

DiskPlan plan_disks(
    const api::VirtualMachineInstance& vmi, const std::vector<agent::VolumePath>& paths, const Places& places
) {
    return Planner(vmi, paths, places).plan();
}

}  // namespace berth::launcher
