// The spec of a machine: volumes and disks that fit together, sizes that make sense, names that can be used.
#include <set>

#include "api/codec.hpp"
#include "base/names.hpp"
#include "placement/admission/validate.hpp"

namespace berth::placement {
namespace {

using api::Cause;
using json::quoted;
using Causes = std::vector<Cause>;

std::string at(const std::string& field, std::string_view list, std::size_t index) {
    return field + "." + std::string(list) + "[" + std::to_string(index) + "]";
}
Cause invalid(std::string field, std::string message) {
    return {"FieldValueInvalid", std::move(message), std::move(field)};
}
Cause missing(std::string field, std::string message) {
    return {"FieldValueRequired", std::move(message), std::move(field)};
}
Cause twice(std::string field, std::string message) {
    return {"FieldValueDuplicate", std::move(message), std::move(field)};
}

// --- volumes
// -------------------------------------------------------------------------------------------------------------

int source_count(const api::VmVolume& volume) {
    const bool sources[] = {
        volume.data_volume.has_value(),
        volume.persistent_volume_claim.has_value(),
        volume.ephemeral.has_value(),
        volume.memory_dump.has_value(),
        volume.container_disk.has_value(),
        volume.cloud_init_no_cloud.has_value(),
        volume.cloud_init_config_drive.has_value(),
        volume.empty_disk.has_value(),
        volume.host_disk.has_value(),
        !volume.config_map.is_null(),
        !volume.secret.is_null(),
        !volume.service_account.is_null(),
        !volume.sysprep.is_null(),
        !volume.downward_api.is_null(),
        !volume.downward_metrics.is_null(),
        !volume.container_path.is_null(),
    };
    return static_cast<int>(std::ranges::count(sources, true));
}

void check_cloud_init(Causes& out, const api::CloudInitSource& source, const std::string& field) {
    const int user = !source.user_data.empty() + !source.user_data_base64.empty() + !source.secret_ref.is_null();
    const int network =
        !source.network_data.empty() + !source.network_data_base64.empty() + !source.network_data_secret_ref.is_null();
    if (user == 0 && network == 0) {
        out.push_back(missing(
            field,
            field + " requires at least one of userData, userDataBase64, secretRef, networkData, networkDataBase64 or "
                    "networkDataSecretRef"
        ));
    }
    if (user > 1)
        out.push_back(
            invalid(field, field + " must have only one of userData, userDataBase64 and secretRef: remove the others")
        );
    if (network > 1) {
        out.push_back(invalid(
            field,
            field + " must have only one of networkData, networkDataBase64 and networkDataSecretRef: remove the others"
        ));
    }
}

void check_claim_name(Causes& out, const std::string& name, const std::string& field) {
    if (name.empty())
        out.push_back(missing(field, "Required value: the name of a claim or DataVolume in the same namespace"));
}

// Refused before anything is made for the machine: its launcher could only say the same, and it would wait for ever.
void check_can_be_disk(Causes& out, const api::VmVolume& volume, const std::string& field) {
    const std::pair<const char*, bool> sources[] = {
        {"hostDisk",        volume.host_disk.has_value()      },
        {"configMap",       !volume.config_map.is_null()      },
        {"secret",          !volume.secret.is_null()          },
        {"serviceAccount",  !volume.service_account.is_null() },
        {"sysprep",         !volume.sysprep.is_null()         },
        {"downwardAPI",     !volume.downward_api.is_null()    },
        {"downwardMetrics", !volume.downward_metrics.is_null()},
        {"containerPath",   !volume.container_path.is_null()  },
    };
    for (const auto& [source, is_there] : sources) {
        if (!is_there) continue;
        out.push_back(invalid(
            field + "." + source,
            std::string("Unsupported value: no disk can be made of a ") + source +
                ": use a DataVolume or a claim, containerDisk, emptyDisk, or cloudInitNoCloud for a few files"
        ));
    }
}

void check_source(Causes& out, const api::VmVolume& volume, const std::string& field) {
    if (volume.data_volume) check_claim_name(out, volume.data_volume->name, field + ".dataVolume.name");
    if (volume.persistent_volume_claim)
        check_claim_name(out, volume.persistent_volume_claim->claim_name, field + ".persistentVolumeClaim.claimName");
    if (volume.ephemeral) {
        const std::string name =
            volume.ephemeral->persistent_volume_claim ? volume.ephemeral->persistent_volume_claim->claim_name : "";
        check_claim_name(out, name, field + ".ephemeral.persistentVolumeClaim.claimName");
    }
    if (volume.container_disk && volume.container_disk->image.empty()) {
        out.push_back(missing(field + ".containerDisk.image", "Required value: an image with a disk below /disk"));
    }
    if (volume.empty_disk && bytes_or_zero(volume.empty_disk->capacity).value <= 0) {
        out.push_back(
            invalid(field + ".emptyDisk.capacity", "Invalid value: the capacity must be greater than zero, such as 1Gi")
        );
    }
    if (volume.cloud_init_no_cloud) check_cloud_init(out, *volume.cloud_init_no_cloud, field + ".cloudInitNoCloud");
    if (volume.cloud_init_config_drive)
        check_cloud_init(out, *volume.cloud_init_config_drive, field + ".cloudInitConfigDrive");
}

void check_volumes(Causes& out, const api::VmiSpec& spec, const std::string& field) {
    std::map<std::string, std::size_t> seen;
    for (std::size_t i = 0; i < spec.volumes.size(); ++i) {
        const api::VmVolume& volume = spec.volumes[i];
        const std::string here = at(field, "volumes", i);
        if (!is_dns_label(volume.name)) {
            out.push_back(invalid(
                here + ".name",
                "Invalid value: " + quoted(volume.name) +
                    ": a volume's name has 1 to 63 lower case letters, digits and hyphens"
            ));
        }
        const auto [known, is_new] = seen.emplace(volume.name, i);
        if (!is_new) {
            out.push_back(twice(
                here + ".name",
                at(field, "volumes", known->second) + " and " + here + " must not have the same Name " +
                    quoted(volume.name)
            ));
        }
        const int count = source_count(volume);
        if (count != 1) {
            out.push_back(invalid(
                here,
                here + " must have exactly one source type set, it has " + (count == 0 ? "none" : std::to_string(count))
            ));
        }
        check_source(out, volume, here);
        check_can_be_disk(out, volume, here);
    }
}

// --- disks
// ---------------------------------------------------------------------------------------------------------------

void check_target(Causes& out, const api::Disk& disk, const std::string& here) {
    const int count = disk.disk.has_value() + disk.cdrom.has_value() + disk.lun.has_value();
    if (count > 1)
        out.push_back(invalid(here, here + " can only have a single target type defined: disk, cdrom or lun"));
    if (disk.cdrom && disk.cdrom->bus == "virtio") {
        out.push_back(invalid(here + ".cdrom.bus", "Bus type virtio is invalid for CD-ROM device: use sata or scsi"));
    }
    const std::optional<api::DiskTarget>& target = disk.disk ? disk.disk : disk.lun;
    if (target && !target->pci_address.empty() && target->bus != "virtio") {
        out.push_back(invalid(
            here + ".disk.pciAddress",
            "disk " + disk.name + " - setting a PCI address is only possible with bus type virtio."
        ));
    }
    constexpr std::string_view kSerialExtra = "_-+.";
    const bool is_plain = std::ranges::all_of(disk.serial, [&](char c) {
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return is_letter || kSerialExtra.find(c) != std::string_view::npos;
    });
    if (!is_plain || disk.serial.size() > 256) {
        out.push_back(invalid(
            here + ".serial", here + ".serial must be made up of the following characters [A-Za-z0-9_.+-], at most 256"
        ));
    }
}

void check_disks(Causes& out, const api::VmiSpec& spec, const std::string& field) {
    const std::string list = field + ".domain.devices";
    std::set<std::string> names;
    std::set<std::int64_t> orders;
    for (std::size_t i = 0; i < spec.domain.devices.disks.size(); ++i) {
        const api::Disk& disk = spec.domain.devices.disks[i];
        const std::string here = at(list, "disks", i);
        if (disk.name.empty())
            out.push_back(missing(here + ".name", "Required value: the name of the volume behind the disk"));
        if (!names.insert(disk.name).second)
            out.push_back(
                twice(here + ".name", here + " and another disk must not have the same Name " + quoted(disk.name))
            );
        const auto volume = std::ranges::find(spec.volumes, disk.name, &api::VmVolume::name);
        // A CD-ROM drive may be empty: a volume of its name is put in later.
        if (volume == spec.volumes.end() && !disk.cdrom) {
            out.push_back(invalid(
                here + ".Name",
                at(list, "disks", i) + ".Name '" + disk.name + "' not found: add a volume of that name to " + field +
                    ".volumes"
            ));
        }
        if (disk.boot_order && *disk.boot_order < 1)
            out.push_back(invalid(here + ".bootOrder", here + ".bootOrder must have a boot order > 0, if supplied"));
        if (disk.boot_order && !orders.insert(*disk.boot_order).second) {
            out.push_back(invalid(
                here + ".bootOrder", "Boot order for " + here + ".bootOrder already set for a different device."
            ));
        }
        check_target(out, disk, here);
    }
}

// --- the rest
// ------------------------------------------------------------------------------------------------------------

Quantity amount_of(const std::map<std::string, Quantity>& resources, const std::string& name) {
    const auto it = resources.find(name);
    return it == resources.end() ? Quantity{} : it->second;
}

void check_memory(Causes& out, const api::VmiSpec& spec, const std::string& field) {
    const std::string here = field + ".domain";
    const api::DomainResources resources = spec.domain.resources.value_or(api::DomainResources{});
    const Quantity guest = spec.domain.memory ? spec.domain.memory->guest : Quantity{};
    const Quantity request = amount_of(resources.requests, "memory");
    const Quantity limit = amount_of(resources.limits, "memory");
    const bool has_pages = spec.domain.memory && !spec.domain.memory->hugepages.is_null();
    if (guest.empty() && request.empty() && limit.empty() && !has_pages) {
        out.push_back(missing(
            here + ".memory.guest",
            "no memory requested, at least one of 'domain.memory.guest', 'domain.memory.hugepages.size' or "
            "'resources.requests.memory' must be set"
        ));
        return;
    }
    const auto positive = [&](const Quantity& amount, const char* name) {
        if (amount.empty() || bytes_or_zero(amount).value > 0) return;
        out.push_back(invalid(here + name, here + name + " '" + amount.written + "': must be greater than 0"));
    };
    positive(guest, ".memory.guest");
    positive(request, ".resources.requests.memory");
    positive(limit, ".resources.limits.memory");
    if (!limit.empty() && bytes_or_zero(request) > bytes_or_zero(limit)) {
        out.push_back(invalid(
            here + ".resources.requests.memory",
            here + ".resources.requests.memory '" + request.written + "' is greater than " + here +
                ".resources.limits.memory '" + limit.written + "'"
        ));
    }
    if (!limit.empty() && bytes_or_zero(guest) > bytes_or_zero(limit)) {
        out.push_back(invalid(
            here + ".memory.guest",
            here + ".memory.guest '" + guest.written + "' must be equal to or less than the memory limit " + here +
                ".resources.limits.memory '" + limit.written + "'"
        ));
    }
}

void check_cpu(Causes& out, const api::VmiSpec& spec, const std::string& field) {
    if (spec.domain.cpu) {
        const api::Cpu& cpu = *spec.domain.cpu;
        if (cpu.cores < 0 || cpu.sockets < 0 || cpu.threads < 0) {
            out.push_back(invalid(
                field + ".domain.cpu", "sockets, cores and threads must be at least 1; leave out what does not matter"
            ));
        }
    }
    if (!spec.domain.resources) return;
    const Quantity request = amount_of(spec.domain.resources->requests, "cpu");
    const Quantity limit = amount_of(spec.domain.resources->limits, "cpu");
    const std::string here = field + ".domain.resources";
    if (!limit.empty() && milli_cpu_or_zero(request) > milli_cpu_or_zero(limit)) {
        out.push_back(invalid(
            here + ".requests.cpu",
            here + ".requests.cpu '" + request.written + "' is greater than " + here + ".limits.cpu '" + limit.written +
                "'"
        ));
    }
}

void check_networks(Causes& out, const api::VmiSpec& spec, const std::string& field) {
    const auto names = [](const json::Value& list) {
        std::set<std::string, std::less<>> found;
        if (!list.is_array()) return found;
        for (const json::Value& entry : list.get_array()) found.emplace(json::text_at(entry, "/name"));
        return found;
    };
    const auto networks = names(spec.networks);
    const auto interfaces = names(spec.domain.devices.interfaces);
    for (const std::string& name : interfaces) {
        if (!networks.contains(name)) {
            out.push_back(invalid(
                field + ".domain.devices.interfaces",
                field + ".domain.devices.interfaces '" + name + "' not found: add a network of that name"
            ));
        }
    }
    for (const std::string& name : networks) {
        if (!interfaces.contains(name))
            out.push_back(missing(
                field + ".networks", field + ".networks '" + name + "' not found: add an interface of that name"
            ));
    }
}

}  // namespace

std::vector<Cause> validate_spec(const api::VmiSpec& spec, const std::string& field) {
    Causes out;
    check_volumes(out, spec, field);
    check_disks(out, spec, field);
    check_memory(out, spec, field);
    check_cpu(out, spec, field);
    check_networks(out, spec, field);
    if (!spec.hostname.empty() && !is_dns_label(spec.hostname)) {
        out.push_back(invalid(
            field + ".hostname",
            field + ".hostname does not conform to the kubernetes DNS_LABEL rules: 1 to 63 lower case letters, digits "
                    "and hyphens"
        ));
    }
    if (spec.termination_grace_period_seconds.value_or(0) < 0) {
        out.push_back(invalid(field + ".terminationGracePeriodSeconds", "Invalid value: must be zero or more seconds"));
    }
    return out;
}

std::vector<Cause> validate_vmi(const json::Value& vmi, const json::Value* old, Writer writer) {
    const json::Value* spec = json::find(vmi, "/spec");
    if (spec == nullptr) return {missing("spec", "Required value")};
    if (old != nullptr) {
        const json::Value* before = json::find(*old, "/spec");
        if (before != nullptr && json::equal(*before, *spec)) return {};
        if (writer == Writer::user)
            return {
                {"FieldValueNotSupported", "update of VMI object is restricted", "spec"}
            };
    }
    const auto typed = api::decode<api::VmiSpec>(*spec);
    if (!typed) return {invalid("spec", typed.error().message)};
    return validate_spec(*typed, "spec");
}

}  // namespace berth::placement
