// Pods bound to a node that is no more: nobody would ever end them. Source: docs/spec/placement.md K-93
#include "solo/rules/housekeeping/housekeeping.hpp"

namespace berth::solo {
namespace {

using namespace std::chrono_literals;
using api::Plan;

constexpr Duration kPatience = 40s;  ///< as Kubernetes' pod garbage collector: a node may be registering anew

bool is_fine(const StrandedPodView& view) { return !view.pod || view.pod->spec.node_name.empty() || view.has_node; }
bool may_come_back(const StrandedPodView& view) { return view.now < view.missing_since.value_or(view.now) + kPatience; }
bool is_unsure(const StrandedPodView& view) { return !view.is_confirmed; }

Plan nothing(const StrandedPodView&) { return api::settled(); }

Plan await_node(const StrandedPodView& view) {
    const std::string& node = view.pod->spec.node_name;
    Plan plan = api::wait_for({"node", view.key, "node \"" + node + "\" does not exist", view.missing_since});
    plan.look_again_at = view.missing_since.value_or(view.now) + kPatience;
    return plan;
}

Plan look_for_node(const StrandedPodView& view) {
    const std::string& node = view.pod->spec.node_name;
    return api::want(api::Effect{"look for node", node, json::Object{{"name", node}}});
}

Plan remove(const StrandedPodView& view) { return api::want(api::Delete{view.key, view.pod->metadata.uid, 0}); }

constexpr api::Rule<StrandedPodView> kRules[] = {
    {"K-93", "its-node-is-there",      is_fine,                      nothing      },
    {"K-93", "its-node-may-come-back", may_come_back,                await_node   },
    {"K-93", "its-node-is-looked-for", is_unsure,                    look_for_node},
    {"K-93", "its-node-is-gone",       api::always<StrandedPodView>, remove       },
};

}  // namespace

api::Plan collect_pod(const StrandedPodView& view) { return api::first_match(kRules, view); }

}  // namespace berth::solo
