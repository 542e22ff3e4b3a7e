#include "hotplug/admission/spec.hpp"

#include <algorithm>
#include <bit>

#include "base/names.hpp"
#include "base/ranges.hpp"
#include "hotplug/admission/new_disk.hpp"
#include "json/value.hpp"

namespace berth::hotplug {
namespace {

using json::quoted;

/// A disk, the volume of its name, and the installation.
struct Seen {
    const api::Disk& disk;
    const api::VmVolume* volume = nullptr;  ///< nullptr: an empty drive, or a mistake
    const Gates& gates;

    [[nodiscard]] const api::DiskTarget* target() const {
        return disk.disk ? &*disk.disk : disk.lun ? &*disk.lun : disk.cdrom ? &*disk.cdrom : nullptr;
    }
    [[nodiscard]] std::string_view bus() const { return target() == nullptr ? "" : std::string_view(target()->bus); }
    [[nodiscard]] bool is_plugged() const { return volume != nullptr && volume->is_hotpluggable(); }
};

// --- facts
// ---------------------------------------------------------------------------------------------------------------------

bool name_is_no_label(const Seen& seen) { return !is_dns_label(seen.disk.name); }
bool drive_is_empty(const Seen& seen) { return !seen.gates.declarative && seen.disk.cdrom && seen.volume == nullptr; }
bool sata_is_read_only(const Seen& seen) { return seen.disk.disk && seen.bus() == "sata" && seen.disk.disk->read_only; }
bool lun_has_no_claim(const Seen& seen) {
    return seen.disk.lun && seen.volume != nullptr && !seen.volume->persistent_volume_claim &&
           !seen.volume->data_volume;
}
bool reservation_is_off(const Seen& seen) {
    return seen.disk.lun && seen.disk.lun->reservation && !seen.gates.reservation;
}
bool thread_needs_virtio(const Seen& seen) {
    return seen.disk.dedicated_io_thread.value_or(false) && seen.target() != nullptr && seen.bus() != "virtio";
}
bool cache_is_unknown(const Seen& seen) {
    constexpr std::string_view kModes[] = {"", "none", "writethrough", "writeback"};
    return !contains(kModes, seen.disk.cache);
}
bool io_is_unknown(const Seen& seen) {
    constexpr std::string_view kModes[] = {"", "native", "threads"};
    return !contains(kModes, seen.disk.io);
}
bool policy_is_unknown(const Seen& seen) {
    constexpr std::string_view kPolicies[] = {"", "stop", "ignore", "report", "enospace"};
    return !contains(kPolicies, seen.disk.error_policy);
}
bool shared_is_cached(const Seen& seen) {
    return seen.disk.shareable.value_or(false) && !seen.disk.cache.empty() && seen.disk.cache != "none";
}
// "0000:81:01.10"
bool address_is_malformed(const Seen& seen) {
    const std::string_view text = seen.target() == nullptr ? "" : std::string_view(seen.target()->pci_address);
    if (text.empty()) return false;
    constexpr std::string_view kForm = "hhhh:hh:hh.h";
    if (text.size() < kForm.size() || text.size() > kForm.size() + 1) return true;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char wanted = i < kForm.size() ? kForm[i] : 'h';
        const bool is_digit = std::string_view("0123456789abcdefABCDEF").find(text[i]) != std::string_view::npos;
        if (wanted == 'h' ? !is_digit : text[i] != wanted) return true;
    }
    return false;
}

bool is_block_size(std::int64_t size) {
    return size >= 512 && size <= 2'097'152 && std::has_single_bit(static_cast<std::uint64_t>(size));
}
bool block_size_is_wrong(const Seen& seen) {
    const json::Value& size = seen.disk.block_size;
    if (!size.is_object()) return false;
    const json::Value* custom = json::find(size, "/custom");
    if (custom == nullptr || custom->is_null()) return false;
    const json::Value* match = json::find(size, "/matchVolume");
    if (match != nullptr && match->is_object() && json::bool_at(*match, "/enabled", true)) return true;
    const std::int64_t logical = json::integer_at(*custom, "/logical").value_or(0);
    const std::int64_t physical = json::integer_at(*custom, "/physical").value_or(0);
    if (!is_block_size(logical) || !is_block_size(physical) || logical > physical) return true;
    const json::Value* discard = json::find(*custom, "/discardGranularity");
    if (discard == nullptr || discard->is_null()) return false;
    const auto granularity = json::integer_at(*custom, "/discardGranularity");
    return !granularity || *granularity < 0 || *granularity % logical != 0;
}

// A disk that shall be unplugged one day must sit where that is possible. An empty bus becomes sata.
bool cannot_be_unplugged(const Seen& seen) {
    if (!seen.is_plugged() || seen.disk.cdrom) return false;
    return seen.disk.lun ? seen.bus() != "scsi" : seen.bus() != "scsi" && seen.bus() != "virtio";
}

struct Rule {
    bool (*is_broken)(const Seen&);
    std::string_view part;  ///< of the disk
    std::string_view why;
};

constexpr Rule kRules[] = {
    {name_is_no_label,     ".name",              "its name has to be 1 to 63 lower case letters, digits and hyphens"                        },
    {drive_is_empty,       "",                   "an empty drive needs the feature gate DeclarativeHotplugVolumes: add a volume of its name"},
    {sata_is_read_only,    ".disk.readonly",     "a disk on bus sata cannot be read-only: use scsi or virtio"                               },
    {lun_has_no_claim,     ".lun",               "a lun needs a claim or a DataVolume"                                                      },
    {reservation_is_off,   ".lun.reservation",   "reservations need the feature gate PersistentReservation"                                 },
    {thread_needs_virtio,  ".dedicatedIOThread", "a thread of its own needs bus virtio"                                                     },
    {cache_is_unknown,     ".cache",             "cache is none, writethrough or writeback"                                                 },
    {shared_is_cached,     ".cache",             "a shareable disk needs cache none"                                                        },
    {io_is_unknown,        ".io",                "io is native or threads"                                                                  },
    {policy_is_unknown,    ".errorPolicy",       "errorPolicy is stop, ignore, report or enospace"                                          },
    {address_is_malformed, ".disk.pciAddress",   "pciAddress has the form 0000:81:01.10"                                                    },
    {block_size_is_wrong,
     ".blockSize",                               "block sizes are powers of two from 512 to 2097152, logical at most physical, discardGranularity a multiple of "
     "logical, and not together with matchVolume"                                                                         },
    {cannot_be_unplugged,  ".disk.bus",          "a hotpluggable disk sits on bus scsi or virtio, a lun on scsi"                            },
};

template <class T>
const T* find(const std::vector<T>& list, const std::string& name) {
    const auto it = std::ranges::find(list, name, &T::name);
    return it == list.end() ? nullptr : &*it;
}

bool is_known(const api::VmiSpec* old, const api::Disk& disk, const api::VmVolume* volume) {
    if (old == nullptr) return false;
    const api::Disk* known = find(old->domain.devices.disks, disk.name);
    const api::VmVolume* behind = find(old->volumes, disk.name);
    if (known == nullptr || *known != disk || (behind == nullptr) != (volume == nullptr)) return false;
    return volume == nullptr || *behind == *volume;
}

// Volumes to be plugged: there must be a way in, a disk, and a name that is free.
void check_plugged(
    const api::VmiSpec& spec, const api::VmVolume& volume, const std::string& here, std::vector<api::Cause>& out
) {
    if (spec.domain.devices.disable_hotplug) {
        out.push_back({
            "FieldValueInvalid",
            "volume " + quoted(volume.name) + " is hotpluggable, but devices.disableHotplug is true",
            here,
        });
    }
    if (is_reserved(volume.name)) out.push_back(*check_new_name(volume.name, here + ".name"));
    if (volume.memory_dump || find(spec.domain.devices.disks, volume.name) != nullptr) return;
    const json::Value& shared = spec.domain.devices.filesystems;
    if (shared.is_array() && std::ranges::any_of(shared.get_array(), [&](const json::Value& one) {
            return json::text_at(one, "/name") == volume.name;
        }))
        return;
    out.push_back({
        "FieldValueRequired",
        "volume " + quoted(volume.name) + " is hotpluggable and has no disk: add one of its name on bus scsi or virtio",
        here,
    });
}

}  // namespace

std::vector<api::Cause> check_spec(
    const api::VmiSpec& spec, const api::VmiSpec* old, const std::string& field, const Gates& gates
) {
    std::vector<api::Cause> out;
    const std::vector<api::Disk>& disks = spec.domain.devices.disks;
    for (std::size_t i = 0; i < disks.size(); ++i) {
        const Seen seen{disks[i], find(spec.volumes, disks[i].name), gates};
        if (is_known(old, seen.disk, seen.volume)) continue;
        const std::string here = field + ".domain.devices.disks[" + std::to_string(i) + "]";
        for (const Rule& rule : kRules) {
            if (!rule.is_broken(seen)) continue;
            out.push_back({
                "FieldValueInvalid",
                "disk " + quoted(seen.disk.name) + ": " + std::string(rule.why),
                here + std::string(rule.part),
            });
        }
    }
    for (std::size_t i = 0; i < spec.volumes.size(); ++i) {
        const api::VmVolume& volume = spec.volumes[i];
        const api::VmVolume* known = old == nullptr ? nullptr : find(old->volumes, volume.name);
        if (!volume.is_hotpluggable() || (known != nullptr && *known == volume)) continue;
        check_plugged(spec, volume, field + ".volumes[" + std::to_string(i) + "]", out);
    }
    return out;
}

}  // namespace berth::hotplug
