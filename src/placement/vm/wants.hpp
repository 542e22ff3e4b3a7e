// What the lines of the VM flow want done, and whom they wait for.
#pragma once

#include "placement/vm/facts.hpp"

namespace berth::placement::vm {

Outcome nothing(const View& view);
Outcome drop_finalizer(const View& view);
Outcome mark(const View& view);
Outcome adopt_orphans(const View& view);
Outcome report_strategy(const View& view);
Outcome report_disks(const View& view);
Outcome make_disks(const View& view);
Outcome stop(const View& view);
Outcome start_always(const View& view);
Outcome await_backoff(const View& view);
Outcome await_recovery(const View& view);
Outcome report_receiver(const View& view);
Outcome report_taken_name(const View& view);
Outcome start(const View& view);

}  // namespace berth::placement::vm
