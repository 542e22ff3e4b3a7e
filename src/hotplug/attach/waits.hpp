// Whom a plugged or unplugged volume waits for.
#pragma once

#include "hotplug/attach/view.hpp"

namespace berth::hotplug::attach {

/// The first volume that is not where it belongs, and who must act; none: all are.
std::optional<api::Wait> next_wait(const View& view);

api::Wait await_end(const api::Pod& pod);

}  // namespace berth::hotplug::attach
