#include "hotplug/admission/new_disk.hpp"

#include "base/names.hpp"
#include "base/ranges.hpp"
#include "json/value.hpp"

namespace berth::hotplug {
namespace {

using json::quoted;

struct Rule {
    std::string_view spec;
    bool (*is_broken)(const api::Disk&);
    std::string_view part;  ///< of the disk
    std::string_view why;
};

bool lacks_target(const api::Disk& d) { return !d.disk && !d.lun; }
bool has_two_targets(const api::Disk& d) { return d.disk.has_value() + d.lun.has_value() + d.cdrom.has_value() > 1; }
bool disk_bus_is_cold(const api::Disk& d) { return d.disk && d.disk->bus != "scsi" && d.disk->bus != "virtio"; }
bool lun_bus_is_cold(const api::Disk& d) { return d.lun && d.lun->bus != "scsi"; }
bool thread_needs_virtio(const api::Disk& d) {
    return d.dedicated_io_thread.value_or(false) && !(d.disk && d.disk->bus == "virtio");
}
bool order_is_no_place(const api::Disk& d) { return d.boot_order && *d.boot_order < 1; }

constexpr Rule kRules[] = {
    {"A10", lacks_target,        "",                   "a plugged disk is a \"disk\" or a \"lun\"; a CD-ROM drive must be there from boot"},
    {"A10", has_two_targets,     "",                   "a disk has one target: keep one of disk, lun and cdrom"                           },
    {"A11", disk_bus_is_cold,    ".disk.bus",          "a plugged disk sits on bus scsi or virtio"                                        },
    {"A12", lun_bus_is_cold,     ".lun.bus",           "a plugged lun sits on bus scsi"                                                   },
    {"A13", thread_needs_virtio, ".dedicatedIOThread", "a thread of its own needs bus virtio"                                             },
    {"A14", order_is_no_place,   ".bootOrder",         "places in the boot order start at 1"                                              },
};

}  // namespace

std::vector<api::Cause> check_new_disk(const api::Disk& disk, const std::string& field) {
    std::vector<api::Cause> out;
    for (const Rule& rule : kRules) {
        if (!rule.is_broken(disk)) continue;
        out.push_back({
            "FieldValueInvalid",
            "disk " + quoted(disk.name) + " cannot be plugged in: " + std::string(rule.why),
            field + std::string(rule.part),
        });
    }
    return out;
}

bool is_reserved(std::string_view volume) {
    constexpr std::string_view kOfLauncher[] = {
        "private",
        "public",
        "sockets",
        "virt-bin-share-dir",
        "libvirt-runtime",
        "ephemeral-disks",
        "container-disks",
        "hotplug-disks",
        "vm-state",
    };
    return contains(kOfLauncher, volume);
}

std::optional<api::Cause> check_new_name(std::string_view volume, const std::string& field) {
    if (!is_dns_label(volume)) {
        return api::Cause{
            "FieldValueInvalid",
            "volume name " + quoted(volume) + " has to be 1 to 63 lower case letters, digits and hyphens",
            field,
        };
    }
    if (!is_reserved(volume)) return {};
    return api::Cause{
        "FieldValueInvalid",
        "volume name " + quoted(volume) + " is that of a directory of the launcher pod: choose another one",
        field,
    };
}

}  // namespace berth::hotplug
