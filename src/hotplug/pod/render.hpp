// The pods that bring claims to the node of a running machine.
// Contract: docs/spec/hotplug.md 6.1, 6.3
#pragma once

#include "hotplug/pod/names.hpp"
#include "placement/config.hpp"

namespace berth::hotplug {

struct RenderInput {
    const api::VirtualMachineInstance& vmi;
    const api::Pod& launcher;
    const placement::Config& config;
    std::string selinux_level;       ///< selinux_level(vmi)
    std::vector<std::string> taken;  ///< names that pods of this launcher bear already
};

/// The level that the machine's files are labelled with: "s0:c1,c2"; "s0" on a node without SELinux; none as long as
/// the node has not said.
std::optional<std::string> selinux_level(const api::VirtualMachineInstance& vmi);

/// A pod that mentions all of these claims and sleeps; its mounts are where the node finds them.
api::Pod attachment_pod(const RenderInput& input, const std::vector<Mounted>& mounted);

/// A pod that makes the scheduler choose the launcher's node for a claim that waits for its first consumer.
api::Pod trigger_pod(const RenderInput& input, const Mounted& mounted);

}  // namespace berth::hotplug
