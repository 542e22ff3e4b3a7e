// The parts of a scheduler's filters, in files of their own.
#pragma once

#include "solo/rules/scheduler/view.hpp"

namespace berth::solo::scheduler {

/// Whether the pod's nodeSelector and required node affinity allow the node.
bool is_selected(const api::Pod& pod, const api::Node& node);
std::vector<std::string> lacking_resources(const View& view, const NodeView& node);
/// The reason of the inter-pod rules (affinity, anti-affinity of both sides, topology spread); none: they agree.
std::optional<std::string> pod_rules_refusal(const View& view, const NodeView& node);

}  // namespace berth::solo::scheduler
