// What the lines of the VMI flow want done, and whom they wait for.
#pragma once

#include "placement/vmi/facts.hpp"

namespace berth::placement::vmi {

Outcome nothing(const View& view);
Outcome delete_own_pods(const View& view);
Outcome delete_useless_pods(const View& view);  ///< of a machine that is over
Outcome delete_finished_temp_pods(const View& view);
Outcome report_missing_claim(const View& view);
Outcome report_missing_owner(const View& view);
Outcome await_binding(const View& view);
Outcome await_current_pod(const View& view);
Outcome await_disk(const View& view);
Outcome await_other_machine(const View& view);
Outcome report_backend(const View& view);
Outcome create_temp_pod(const View& view);
Outcome create_launcher(const View& view);

}  // namespace berth::placement::vmi
