// What the lines of the flow want done, and whom they wait for.
#pragma once

#include "hotplug/attach/view.hpp"

namespace berth::hotplug::attach {

api::Plan nothing(const View& view);
api::Plan await_collector(const View& view);
api::Plan delete_left_pods(const View& view);  ///< of launchers that have ended
api::Plan delete_all_pods(const View& view);   ///< of a machine that is over
api::Plan await_launcher(const View& view);
api::Plan delete_useless_pods(const View& view);
api::Plan await_context(const View& view);
api::Plan create_pods(const View& view);
api::Plan merge_pods(const View& view);
api::Plan await_volumes(const View& view);

/// Says in an event what could not be created or deleted at the last pass.
void show_failure(const View& view, api::Plan& plan);

}  // namespace berth::hotplug::attach
