// Waiting for a plug: until the guest has the disk, or until nothing of it is left. Contract: docs/spec/hotplug.md 2.8
#pragma once

#include <string>
#include <vector>

#include "cli/sights.hpp"
#include "cli/words.hpp"
#include "explain/view.hpp"

namespace berth::cli {

enum class Goal { attached, released };

struct Plugging {
    MachineName machine;
    std::string volume;
    Goal goal = Goal::attached;
};

/// The goal is reached, or nothing can be waited for because the machine does not run.
bool is_settled(const explain::View& view, const Plugging& plugging);

/// What is worth a line now: the phase with its message, and who must act. Pure.
std::vector<std::string> progress(const explain::View& view, const std::string& volume);

/// Shows the phases on standard error as they come, until it is settled. `sights` tell when to look.
/// Errors  not_found: the machine is gone; conflict: the machine ended, and a plug goes with it
Task<Result<explain::View>> follow_plug(Client& client, Sights& sights, Plugging plugging);

}  // namespace berth::cli
