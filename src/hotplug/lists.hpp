// Volumes and disks as they stand in a document: what is copied from one object to another keeps fields we do not know.
#pragma once

#include <string_view>

#include "json/value.hpp"

namespace berth::hotplug {

inline constexpr std::string_view kVolumes = "/volumes";
inline constexpr std::string_view kDisks = "/domain/devices/disks";

using json::list_at;

/// The entry with this `name`, or nullptr.
const json::Value* named(const json::Array& list, std::string_view name);

/// Of a volume.
bool is_hotpluggable(const json::Value& volume);
/// The DataVolume or claim that a volume names, or "".
std::string_view source_of(const json::Value& volume);

bool is_cdrom(const json::Value& disk);

/// Has a migration been set up that did not end yet?
bool is_migrating(const json::Value& vmi);

}  // namespace berth::hotplug
