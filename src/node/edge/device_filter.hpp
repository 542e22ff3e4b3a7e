// The device rules of a cgroup v2: one small eBPF program that is built whole and put in place of the one before.
// Source: https://docs.kernel.org/admin-guide/cgroup-v2.html#device-controller
#pragma once

#include <linux/bpf.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace berth::node {

/// One thing that a group may do.
struct DeviceRule {
    char type = 'b';  ///< 'b' or 'c'
    std::optional<std::uint32_t> major;
    std::optional<std::uint32_t> minor;
    bool read = true;
    bool write = true;
    bool make = true;
    bool operator==(const DeviceRule&) const = default;
};

/// What every container may do: the kernel's usual character devices, and make nodes it may not open.
std::vector<DeviceRule> default_device_rules();

/// The device nodes in a folder and below it: in a container's /dev, all that its runtime gave it.
std::vector<DeviceRule> rules_for_nodes(const std::string& folder);

/// All that the containers of a group may do: the defaults, the nodes in their /dev (passed through devices too), and
/// the block devices that are plugged into them.
std::vector<DeviceRule> rules_of_group(const std::string& dev_folder, const std::vector<dev_t>& plugged);

/// Allows what one of the rules allows, nothing else.
std::vector<bpf_insn> device_program(const std::vector<DeviceRule>& rules);

/// Puts a program with these rules in place of all that are attached to the group. There is no moment without one.
/// Errors  io: with what the kernel said
Result<void> set_device_rules(const std::string& group_folder, const std::vector<DeviceRule>& rules);

}  // namespace berth::node
