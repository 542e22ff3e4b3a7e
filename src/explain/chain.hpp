// `berth explain vm X`: the chain VM → DataVolume → claim → volume → pod → node → guest, the plugged volumes step by
// step, and who must act next. A pure function of what the API shows, so that it says the same in solo mode and on any
// cluster.
#pragma once

#include "explain/line.hpp"
#include "explain/view.hpp"

namespace berth::explain {

/// The chain from the machine down to the guest, then each plug. At most one line has Mark::next.
std::vector<Line> chain(const View& view);

}  // namespace berth::explain
