// Which block devices the containers of a control group may open.
// Contract: docs/spec/hotplug.md 7.4
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.hpp"

namespace berth::node {

/// "b 7:3"
std::string device_text(dev_t device);

/// Whether the group's list of rules allows everything with this device.
bool allows(std::string_view rules, dev_t device);

/// Only the difference is written: a rule that is there is not touched. A group that is gone allows nothing to nobody.
/// Errors  io: with what the kernel said; invalid: the group is not in a v1 hierarchy of devices
Result<void> allow_device(const std::string& group, dev_t device);
Result<void> deny_device(const std::string& group, dev_t device);
Result<bool> is_allowed(const std::string& group, dev_t device);

}  // namespace berth::node
