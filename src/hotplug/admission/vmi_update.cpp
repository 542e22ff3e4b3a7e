#include "hotplug/admission/vmi_update.hpp"

#include <algorithm>

#include "api/codec.hpp"
#include "base/ranges.hpp"
#include "hotplug/admission/new_disk.hpp"
#include "hotplug/lists.hpp"

namespace berth::hotplug {
namespace {

using Causes = std::vector<api::Cause>;
using json::quoted;

constexpr std::string_view kVolumesAt = "/spec/volumes";
constexpr std::string_view kDisksAt = "/spec/domain/devices/disks";
constexpr std::string_view kUtilityAt = "/spec/utilityVolumes";
constexpr const char* kVolumesField = "spec.volumes";
constexpr const char* kDisksField = "spec.domain.devices.disks";

/// Both versions of an instance, and what is known of its volumes.
struct Change {
    const json::Value& now;
    const json::Value& old;
    const Gates& gates;

    [[nodiscard]] const json::Array& volumes() const { return list_at(now, kVolumesAt); }
    [[nodiscard]] const json::Array& disks() const { return list_at(now, kDisksAt); }
    [[nodiscard]] const json::Array& old_volumes() const { return list_at(old, kVolumesAt); }
    [[nodiscard]] const json::Array& old_disks() const { return list_at(old, kDisksAt); }

    /// It was there when the instance started: its status entry is not that of a plugged volume.
    [[nodiscard]] bool is_permanent(std::string_view name) const {
        const json::Value* entry = named(list_at(old, "/status/volumeStatus"), name);
        if (entry == nullptr) return false;
        const json::Value* plugged = json::find(*entry, "/hotplugVolume");
        return plugged == nullptr || plugged->is_null();
    }
    /// Its data moves to another claim.
    [[nodiscard]] bool is_migrated(std::string_view name) const {
        return std::ranges::any_of(list_at(old, "/status/migratedVolumes"), [&](const json::Value& one) {
            return json::text_at(one, "/volumeName") == name;
        });
    }
};

api::Cause refuse(std::string field, std::string message) {
    return {"FieldValueInvalid", std::move(message), std::move(field)};
}

bool has(const json::Value& object, std::string_view pointer) {
    const json::Value* found = json::find(object, pointer);
    return found != nullptr && !found->is_null();
}

bool same(const json::Value* a, const json::Value* b) {
    if (a == nullptr || b == nullptr) return a == b;
    return json::equal(*a, *b);
}

std::string_view name_of(const json::Value& entry) { return json::text_at(entry, "/name"); }

// --- the lists
// -----------------------------------------------------------------------------------------------------------------

void check_count(const Change& change, Causes& out) {
    const auto volumes =
        std::ranges::count_if(change.volumes(), [](const json::Value& volume) { return !has(volume, "/memoryDump"); });
    const auto disks = std::ranges::count_if(change.disks(), [&](const json::Value& disk) {
        const bool is_empty_drive = is_cdrom(disk) && named(change.volumes(), name_of(disk)) == nullptr;
        return !(is_empty_drive && change.gates.declarative);
    });
    const auto shared = static_cast<std::ptrdiff_t>(list_at(change.now, "/spec/domain/devices/filesystems").size());
    if (volumes == disks + shared) return;
    out.push_back(refuse(
        kVolumesField,
        "the machine has " + std::to_string(volumes) + " volumes for " + std::to_string(disks + shared) +
            " disks and filesystems: each needs the other"
    ));
}

void check_permanent_count(const Change& change, Causes& out) {
    const auto count = [&](const json::Array& volumes) {
        return std::ranges::count_if(volumes, [&](const json::Value& v) { return change.is_permanent(name_of(v)); });
    };
    if (count(change.volumes()) == count(change.old_volumes())) return;
    out.push_back(refuse(kVolumesField, "the number of volumes that the machine started with has changed"));
}

// --- one volume
// ----------------------------------------------------------------------------------------------------------------

void check_permanent(const Change& change, const json::Value& volume, Causes& out) {
    const std::string name(name_of(volume));
    if (change.is_migrated(name)) return;
    if (!same(&volume, named(change.old_volumes(), name)))
        out.push_back(
            refuse(kVolumesField, "volume " + quoted(name) + " is there since the start: it cannot be changed")
        );
    if (!same(named(change.disks(), name), named(change.old_disks(), name)))
        out.push_back(refuse(kDisksField, "disk " + quoted(name) + " is there since the start: it cannot be changed"));
}

void check_plugged(const Change& change, const json::Value& volume, const json::Value& before, Causes& out) {
    const std::string name(name_of(volume));
    if (!same(&volume, &before) && !change.is_migrated(name))
        out.push_back(refuse(kVolumesField, "volume " + quoted(name) + " is plugged in: remove it, then add it changed")
        );
    const json::Value* disk = named(change.disks(), name);
    if (disk == nullptr && !has(volume, "/memoryDump")) {
        out.push_back(
            refuse(kDisksField, "volume " + quoted(name) + " is plugged in, but its disk is gone: remove both")
        );
    } else if (!same(disk, named(change.old_disks(), name))) {
        out.push_back(refuse(kDisksField, "disk " + quoted(name) + " is plugged in: remove it, then add it changed"));
    }
}

void check_new(const Change& change, const json::Value& volume, Causes& out) {
    const std::string name(name_of(volume));
    if (has(volume, "/memoryDump")) return;
    if (!has(volume, "/persistentVolumeClaim") && !has(volume, "/dataVolume")) {
        out.push_back(
            refuse(kVolumesField, "volume " + quoted(name) + " cannot be plugged in: use a claim or a DataVolume")
        );
        return;
    }
    const json::Value* disk = named(change.disks(), name);
    if (disk == nullptr) {
        out.push_back(refuse(kDisksField, "volume " + quoted(name) + " is new and has no disk: add one of its name"));
        return;
    }
    // A drive that is there already takes a medium, on any bus.
    if (named(change.old_disks(), name) != nullptr) return;
    const auto typed = api::decode<api::Disk>(*disk);
    if (!typed) {
        out.push_back(refuse(kDisksField, "disk " + quoted(name) + ": " + typed.error().message));
        return;
    }
    const auto index = static_cast<std::size_t>(disk - change.disks().data());
    for (api::Cause& cause : check_new_disk(*typed, std::string(kDisksField) + "[" + std::to_string(index) + "]"))
        out.push_back(std::move(cause));
}

void check_each(const Change& change, Causes& out) {
    for (const json::Value& volume : change.volumes()) {
        const json::Value* before = named(change.old_volumes(), name_of(volume));
        if (change.is_permanent(name_of(volume))) {
            check_permanent(change, volume, out);
        } else if (before != nullptr) {
            check_plugged(change, volume, *before, out);
        } else {
            check_new(change, volume, out);
        }
    }
}

// --- the rest
// ------------------------------------------------------------------------------------------------------------------

void check_sizes(const Change& change, Causes& out) {
    for (const auto& [pointer, field] : {
             std::pair{"/spec/domain/cpu/maxSockets",  "spec.domain.cpu.maxSockets" },
             std::pair{"/spec/domain/memory/maxGuest", "spec.domain.memory.maxGuest"},
    }) {
        if (same(json::find(change.now, pointer), json::find(change.old, pointer))) continue;
        out.push_back(refuse(field, std::string(field) + " of a running machine cannot be changed"));
    }
}

void check_utility(const Change& change, Causes& out) {
    const json::Array& list = list_at(change.now, kUtilityAt);
    const auto deny = [&](std::string message) { out.push_back(refuse("spec.utilityVolumes", std::move(message))); };
    if (!list.empty() && !change.gates.utility) {
        deny("utility volumes need the feature gate UtilityVolumes");
        return;
    }
    for (const json::Value& one : list) {
        const std::string name(name_of(one));
        const auto same_name = [&](const json::Value& other) { return name_of(other) == name; };
        if (name.empty()) deny("a utility volume needs a name");
        if (json::text_at(one, "/persistentVolumeClaim/claimName").empty() && json::text_at(one, "/claimName").empty())
            deny("utility volume " + quoted(name) + " needs the name of a claim");
        if (named(change.volumes(), name) != nullptr || std::ranges::count_if(list, same_name) > 1)
            deny("volume name " + quoted(name) + " is there twice");
        if (change.is_permanent(name)) deny("utility volume " + quoted(name) + " was there since the start");
        const json::Value* before = named(list_at(change.old, kUtilityAt), name);
        if (before != nullptr && !json::equal(one, *before))
            deny("utility volume " + quoted(name) + " cannot be changed: remove it, then add it changed");
    }
}

constexpr void (*kChecks[])(const Change&, Causes&) = {
    check_count,
    check_permanent_count,
    check_each,
    check_sizes,
    check_utility,
};

}  // namespace

std::vector<api::Cause> check_vmi_update(const json::Value& now, const json::Value& old, const Gates& gates) {
    Causes out;
    for (const auto check : kChecks) check({now, old, gates}, out);
    return out;
}

std::vector<api::Cause> check_vmi_create(const json::Value& vmi) {
    if (list_at(vmi, kUtilityAt).empty()) return {};
    return {refuse("spec.utilityVolumes", "a new machine has no utility volumes: add them when it runs")};
}

}  // namespace berth::hotplug
