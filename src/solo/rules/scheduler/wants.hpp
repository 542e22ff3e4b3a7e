// What the scheduler does: chooses, asks for volumes, binds, or says why it cannot.
#pragma once

#include "solo/rules/scheduler/view.hpp"

namespace berth::solo::scheduler {

Decision leave(const View& view);
Decision forget(const View& view);
Decision tell_gated(const View& view);
Decision bind_assumed(const View& view);
Decision give_up_binding(const View& view);
Decision await_volumes(const View& view);
Decision pause(const View& view);
Decision refuse_for_claims(const View& view);
/// The best node that no filter refuses; when there is none, the count of each reason (K-06).
Decision choose(const View& view);

}  // namespace berth::solo::scheduler
