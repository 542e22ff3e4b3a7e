// Questions about a scheduler's view.
#pragma once

#include "solo/rules/scheduler/view.hpp"

namespace berth::solo::scheduler {

/// Gone, placed already, ended or being deleted: nothing is to be chosen.
bool is_not_waiting(const View& view);
bool is_of_another_scheduler(const View& view);
bool is_gated(const View& view);
bool is_assumed(const View& view);
bool has_all_volumes(const View& view);
bool is_assumed_with_all_volumes(const View& view);
bool has_failed_to_bind(const View& view);
bool is_pausing(const View& view);
bool has_unusable_claim(const View& view);

/// K-10, K-11: what no node can cure; "" when there is nothing of the kind.
std::string claim_problem(const View& view);
/// K-30: what ends the wait for the volumes of an assumed pod; "" while it may go on.
std::string binding_problem(const View& view);

const NodeView* node_named(const View& view, const std::string& name);
const api::PersistentVolume* volume_named(const View& view, const std::string& name);

}  // namespace berth::solo::scheduler
