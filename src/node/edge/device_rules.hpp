// Which block devices the containers of a control group may open.
// Contract: docs/spec/hotplug.md 7.4
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.hpp"

namespace berth::node {

/// "b 7:3"
std::string device_text(dev_t device);

/// Whether the group's list of rules allows everything with this device.
bool allows(std::string_view rules, dev_t device);

/// Changes what the containers of a group may do with one device. In a v1 hierarchy only the difference is written: a
/// rule that is there is not touched. The one program of a v2 group is built anew from what its containers have in /dev
/// and from `plugged`, all devices that they are to have beside it. A group that is gone holds nobody.
/// Errors  io: with what the kernel said
Result<void> allow_device(const std::string& group, dev_t device, const std::vector<dev_t>& plugged);
Result<void> deny_device(const std::string& group, dev_t device, const std::vector<dev_t>& plugged);
/// A v2 group does not say; what was set stays as long as it lives.
Result<bool> is_allowed(const std::string& group, dev_t device);

}  // namespace berth::node
