// What a disk must be like to be plugged into a running machine.
// Contract: docs/spec/hotplug.md 3.1, A10 to A14
#pragma once

#include <optional>
#include <vector>

#include "api/cause.hpp"
#include "api/kubevirt.hpp"

namespace berth::hotplug {

/// The reasons against it; `field` is where the disk stands: "spec.domain.devices.disks[1]".
std::vector<api::Cause> check_new_disk(const api::Disk& disk, const std::string& field);

/// volumes of the launcher pod that are not volumes of its machine.
bool is_reserved(std::string_view volume);
/// The name can be used for a plugged volume.
std::optional<api::Cause> check_new_name(std::string_view volume, const std::string& field);

}  // namespace berth::hotplug
