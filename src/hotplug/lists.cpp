#include "hotplug/lists.hpp"

#include <algorithm>

namespace berth::hotplug {

const json::Value* named(const json::Array& list, std::string_view name) {
    const auto it = std::ranges::find_if(list, [&](const json::Value& v) { return json::text_at(v, "/name") == name; });
    return it == list.end() ? nullptr : &*it;
}

bool is_hotpluggable(const json::Value& volume) {
    return json::bool_at(volume, "/dataVolume/hotpluggable") ||
           json::bool_at(volume, "/persistentVolumeClaim/hotpluggable");
}

std::string_view source_of(const json::Value& volume) {
    const std::string_view data_volume = json::text_at(volume, "/dataVolume/name");
    return data_volume.empty() ? json::text_at(volume, "/persistentVolumeClaim/claimName") : data_volume;
}

bool is_cdrom(const json::Value& disk) {
    const json::Value* target = json::find(disk, "/cdrom");
    return target != nullptr && target->is_object();
}

bool is_migrating(const json::Value& vmi) {
    const json::Value* state = json::find(vmi, "/status/migrationState");
    if (state == nullptr || !state->is_object()) return false;
    return json::text_at(*state, "/endTimestamp").empty() && !json::bool_at(*state, "/completed") &&
           !json::bool_at(*state, "/failed");
}

}  // namespace berth::hotplug
