// Which pods a machine's plugged volumes need, which it has too many, and which may become one.
// Contract: docs/spec/hotplug.md 5.8, 6.3
#pragma once

#include "hotplug/attach/facts.hpp"

namespace berth::hotplug::attach {

/// The contents of pods to create now, one list a pod: every needed pair that no pod keeps for good.
std::vector<std::vector<Pair>> missing_pods(const View& view);
/// Live or ended pods that nobody needs any more.
std::vector<const api::Pod*> useless_pods(const View& view);
/// Volumes that need a first consumer and have none.
std::vector<const Disk*> missing_triggers(const View& view);
std::vector<const api::Pod*> useless_triggers(const View& view);

/// What all pods together hold, when they could be one pod: several, all ready, nothing leaving. Empty: they cannot.
std::vector<Pair> mergeable(const View& view);
/// When pods that could be one have been quiet for long enough.
Timestamp merge_at(const View& view);

/// The earliest time at which a pod that ended may be replaced; none: nothing waits for that.
std::optional<Timestamp> next_retry(const View& view);

}  // namespace berth::hotplug::attach
