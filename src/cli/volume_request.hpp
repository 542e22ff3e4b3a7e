// What addvolume and removevolume send: from the flags to the body of the request. Pure.
// Contract: docs/spec/hotplug.md 2.3, 10
#pragma once

#include <string>

#include "base/result.hpp"
#include "json/value.hpp"

namespace berth::cli {

/// The flags of both verbs; those after dry_run are addvolume's.
struct VolumeFlags {
    std::string volume;  ///< add: a DataVolume or claim; remove: an entry of the machine's volumes
    bool dry_run = false;
    std::string disk_name;
    std::string disk_type = "disk";
    std::string bus = "scsi";
    std::string serial;
    std::string cache;
};

/// What a disk is made of.
enum class DiskSource { data_volume, claim };

/// The name that volume and disk get in the machine.
std::string disk_name_of(const VolumeFlags& flags);

/// Errors  invalid: no machine could take it; the message names the flag
Result<void> check(const VolumeFlags& flags);

json::Value add_body(const VolumeFlags& flags, DiskSource source);
json::Value remove_body(const VolumeFlags& flags);

}  // namespace berth::cli
