// Which plugged volumes a machine of this node should have, and what must happen to get there.
// Contract: docs/spec/hotplug.md 7.2 to 7.5, 7.8
#pragma once

#include "node/plan/vmi.hpp"

namespace berth::node {

/// The machine has, wants or had plugged volumes: this node looks at them.
bool has_plugged_volumes(const View& view);

/// The volume is in the spec, on the claim it is plugged with. All else is an old plug.
bool is_wanted(const View& view, const Plug& plug);

/// The plug of a volume, or nullptr.
const Plug* find_plug(const View& view, std::string_view volume);

/// The plugs that the launcher is told of: those in place, and those that the guest has, whatever became of their mount
/// meanwhile. A guest loses a disk because somebody asks for it, never because of what a look at the kernel missed.
std::vector<Plug> told_plugs(const View& view);

/// Neither the guest nor the hypervisor has the volume, and the launcher is not about to give it to them.
bool is_let_go(const View& view, const std::string& volume);

/// Why the guest cannot be started yet: the first plugged volume that is not in place. 7.8
std::optional<std::string> missing_at_start(const View& view);

/// Adds "look at volumes", "plug volume" and "unplug volume", each volume for itself; and when to try again.
void add_plug_work(const View& view, api::Plan& plan);
/// Adds "unplug all" for the machine's own pod, whose guest is over.
void add_unplug_all(const View& view, api::Plan& plan);
/// Adds "unplug all" for pods that left plugs behind.
void add_left_plugs(const View& view, api::Plan& plan);

/// What stands between a volume and the guest, for events: HotplugFailed, SyncFailed.
struct Trouble {
    std::string reason;
    std::string text;
};
std::vector<Trouble> troubles(const View& view);

}  // namespace berth::node
