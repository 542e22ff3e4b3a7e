// After a restart of the agent: the records of machines that are no more.
// Contract: docs/spec/hotplug.md 7.6
#pragma once

#include "api/plan.hpp"
#include "node/plugs.hpp"

namespace berth::node {

struct RecordsView {
    api::Key key;                                   ///< the node
    std::optional<std::vector<PlugHost>> recorded;  ///< none: not looked yet
    std::vector<PlugHost> living;                   ///< machines with a launcher pod on this node
};

api::Plan clean_records(const RecordsView& view);

}  // namespace berth::node
