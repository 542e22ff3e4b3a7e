#include "hotplug/admission/queue.hpp"

#include <algorithm>
#include <set>

#include "api/codec.hpp"
#include "api/kubevirt.hpp"
#include "hotplug/admission/new_disk.hpp"
#include "hotplug/lists.hpp"

namespace berth::hotplug {
namespace {

using json::quoted;
using Causes = std::vector<api::Cause>;

constexpr std::string_view kQueue = "/status/volumeRequests";
constexpr std::string_view kAdd = "/addVolumeOptions";
constexpr std::string_view kRemove = "/removeVolumeOptions";

const json::Value* option(const json::Value& request, std::string_view which) {
    const json::Value* found = json::find(request, which);
    return found == nullptr || found->is_null() ? nullptr : found;
}

json::Value volume_of(const json::Value& options) {
    json::Object out{
        {"name", json::text_at(options, "/name")}
    };
    const json::Value* source = json::find(options, "/volumeSource");
    if (source == nullptr || !source->is_object()) return out;
    for (const auto& [key, value] : source->get_object()) {
        if (key != "name") out[key] = value;
    }
    return out;
}

// The same whatever the order of fields and whatever is said that is so anyway.
bool same_volume(const json::Value& a, const json::Value& b) {
    const auto left = api::decode<api::VmVolume>(a);
    const auto right = api::decode<api::VmVolume>(b);
    return left && right && *left == *right;
}

void check_add(
    const json::Value& options, const std::string& here, const json::Value& vm, const json::Value* vmi, Causes& out
) {
    const std::string name(json::text_at(options, "/name"));
    const auto deny = [&](const std::string& part, std::string why) {
        out.push_back({"FieldValueInvalid", std::move(why), here + ".addVolumeOptions" + part});
    };
    const json::Value* disk = option(options, "/disk");
    if (disk == nullptr) {
        deny(".disk", "volume " + quoted(name) + " needs a disk");
    } else if (const auto typed = api::decode<api::Disk>(*disk); !typed) {
        deny(".disk", typed.error().message);
    } else {
        for (api::Cause& cause : check_new_disk(*typed, here + ".addVolumeOptions.disk"))
            out.push_back(std::move(cause));
    }
    const json::Value volume = volume_of(options);
    for (const auto& [object, at] : {
             std::pair{&vm, "/spec/template/spec/volumes"},
             std::pair{vmi, "/spec/volumes"              }
    }) {
        if (object == nullptr) continue;
        const json::Value* known = named(list_at(*object, at), name);
        if (known != nullptr && !same_volume(*known, volume)) {
            deny("", "volume " + quoted(name) + " is there already and is another one: remove it first");
            return;
        }
    }
}

void check_each(const json::Value& vm, const json::Value* vmi, Causes& out) {
    std::set<std::pair<bool, std::string>> seen;
    const json::Array& queue = list_at(vm, kQueue);
    for (std::size_t i = 0; i < queue.size(); ++i) {
        const std::string here = "status.volumeRequests[" + std::to_string(i) + "]";
        const json::Value* add = option(queue[i], kAdd);
        const json::Value* remove = option(queue[i], kRemove);
        if ((add == nullptr) == (remove == nullptr)) {
            out.push_back({"FieldValueInvalid", "a request has either addVolumeOptions or removeVolumeOptions", here});
            continue;
        }
        const std::string name(json::text_at(add != nullptr ? *add : *remove, "/name"));
        if (!seen.emplace(add != nullptr, name).second)
            out.push_back({"FieldValueDuplicate", "volume " + quoted(name) + " is asked for twice", here});
        if (add != nullptr) check_add(*add, here, vm, vmi, out);
    }
}

}  // namespace

bool changes_queue(const json::Value& vm, const json::Value* old) {
    const json::Array& now = list_at(vm, kQueue);
    if (old == nullptr) return !now.empty();
    return !json::equal(json::Value(now), json::Value(list_at(*old, kQueue)));
}

std::vector<api::Cause> check_queue(const json::Value& vm, const json::Value* old, const json::Value* vmi) {
    Causes out;
    if (!changes_queue(vm, old) || list_at(vm, kQueue).empty()) return out;
    if (vmi != nullptr && is_migrating(*vmi)) {
        out.push_back(
            {"FieldValueNotSupported",
             "volumes cannot be asked for while a migration is in progress",
             "status.volumeRequests"}
        );
        return out;
    }
    check_each(vm, vmi, out);
    return out;
}

json::Value with_requests(json::Value spec, const json::Array& queue) {
    json::Array volumes = list_at(spec, kVolumes);
    json::Array disks = list_at(spec, kDisks);
    for (const json::Value& request : queue) {
        if (const json::Value* add = option(request, kAdd)) {
            const std::string_view name = json::text_at(*add, "/name");
            if (named(volumes, name) == nullptr) volumes.push_back(volume_of(*add));
            const json::Value* disk = option(*add, "/disk");
            if (disk == nullptr || !disk->is_object() || named(disks, name) != nullptr) continue;
            json::Value named_disk = *disk;
            json::set(named_disk, "/name", json::Value(name));
            disks.push_back(std::move(named_disk));
        } else if (const json::Value* remove = option(request, kRemove)) {
            const std::string_view name = json::text_at(*remove, "/name");
            const auto is_it = [&](const json::Value& one) { return json::text_at(one, "/name") == name; };
            volumes.erase(std::remove_if(volumes.begin(), volumes.end(), is_it), volumes.end());
            disks.erase(std::remove_if(disks.begin(), disks.end(), is_it), disks.end());
        }
    }
    json::set(spec, kVolumes, std::move(volumes));
    json::set(spec, kDisks, std::move(disks));
    return spec;
}

}  // namespace berth::hotplug
