#include "solo/rules/scheduler/wants.hpp"

#include "api/codec.hpp"
#include "solo/rules/scheduler/facts.hpp"

namespace berth::solo::scheduler {
namespace {

using namespace std::chrono_literals;
using api::Emit;
using api::Patch;
using api::Plan;

constexpr Duration kRetry = 5min;  ///< K-07: without any event
constexpr Duration kLongestPause = 10s;
constexpr Duration kFirstPauseAfterError = 1s;  ///< K-07
/// An attempt that only found no node costs little, and what it lacks may come at once: its pauses start short.
constexpr Duration kFirstPause = 50ms;

const api::Pod& pod(const View& view) { return *view.pod; }

Duration pause_of(int failures, Duration first) {
    Duration out = first;
    for (int i = 0; i < failures && out < kLongestPause; ++i) out *= 2;
    return std::min(out, kLongestPause);
}

// PodScheduled = False with a reason; written only when it says something else than before (K-06).
void tell(const View& view, Plan& plan, const std::string& reason, const std::string& message) {
    api::PodStatus status = pod(view).status;
    auto it = std::ranges::find(status.conditions, "PodScheduled", &api::Condition::type);
    if (it == status.conditions.end()) {
        status.conditions.push_back({.type = "PodScheduled"});
        it = std::prev(status.conditions.end());
    }
    if (it->status != "False") it->last_transition_time = view.now;
    it->status = "False";
    it->reason = reason;
    it->message = message;
    if (auto patch = api::patch_between(pod(view).status, status)) {
        plan.add(Patch{view.key, api::Part::status, json::Object{{"status", std::move(*patch)}}, pod(view).metadata.uid}
        );
        if (reason != "SchedulingGated")
            plan.add(Emit{view.key, pod(view).metadata.uid, true, "FailedScheduling", message});
    }
}

Decision unschedulable(const View& view, const std::string& message) {
    Decision out;
    tell(view, out.plan, "Unschedulable", message);
    out.plan.wait = api::Wait{"user", view.key, message};
    out.plan.look_again_at = view.now + kRetry;
    out.forget = view.assumed.has_value();
    out.not_before = view.now + pause_of(view.failures, kFirstPause);
    return out;
}

// "0/3 nodes are available: 1 Insufficient memory, 2 node(s) …."
std::string summary(std::size_t nodes, const std::map<std::string, int>& reasons) {
    if (nodes == 0) return "no nodes available to schedule pods";
    std::vector<std::string> parts;
    for (const auto& [reason, count] : reasons) parts.push_back(std::to_string(count) + " " + reason);
    std::ranges::sort(parts);
    std::string text = "0/" + std::to_string(nodes) + " nodes are available";
    for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? ": " : ", ") + parts[i];
    return text + ".";
}

Decision bind_to(const View& view, const std::string& node) {
    Decision out;
    out.plan.add(api::Bind{view.key, pod(view).metadata.uid, node});
    const std::string message = "Successfully assigned " + view.key.ns + "/" + view.key.name + " to " + node;
    out.plan.add(Emit{view.key, pod(view).metadata.uid, false, "Scheduled", message});
    out.assume = view.assumed.value_or(Assumed{node, view.now, {}, {}});
    return out;
}

// K-29: volumes first, then claims; what is written already is skipped.
void ask_for_volumes(const View& view, const std::string& node, const std::vector<Binding>& bindings, Plan& plan) {
    for (const Binding& binding : bindings) {
        const api::PersistentVolume* volume = volume_named(view, binding.volume);
        if (volume == nullptr) continue;
        const api::PersistentVolumeClaim& claim = view.claims.at(binding.claim);
        if (volume->spec.claim_ref && volume->spec.claim_ref->uid == claim.metadata.uid) continue;
        json::Value patch = json::Object{
            {"spec", json::Object{{"claimRef", reference_to(claim)}}}
        };
        json::set(patch, "/metadata/annotations/pv.kubernetes.io~1bound-by-controller", "yes");
        plan.add(Patch{
            {&api::kVolume, "", binding.volume},
            api::Part::object,
            std::move(patch),
            volume->metadata.uid,
            volume->metadata.resource_version
        });
    }
    for (const Binding& binding : bindings) {
        const api::PersistentVolumeClaim& claim = view.claims.at(binding.claim);
        if (!binding.volume.empty() || claim.metadata.annotation(kSelectedNode) != nullptr) continue;
        json::Object annotations{
            {kSelectedNode, node}
        };
        // The binder would ask the provisioner next; one write does both.
        if (const auto it = view.classes.find(class_of(claim)); it != view.classes.end()) {
            annotations[kAskedProvisioner] = it->second.provisioner;
            annotations[kAskedProvisionerBeta] = it->second.provisioner;
        }
        json::Value patch = json::Object{
            {"metadata", json::Object{{"annotations", std::move(annotations)}}}
        };
        plan.add(Patch{
            {&api::kClaim, claim.metadata.ns, claim.metadata.name},
            api::Part::object,
            std::move(patch),
            claim.metadata.uid
        });
    }
}

void wait_for_volumes(const View& view, const std::string& node, Timestamp since, Plan& plan) {
    plan.wait = api::Wait{"volume binder", view.key, "its volumes are being bound on node " + node};
    plan.look_again_at = since + view.bind_timeout + 1s;
}

Decision reserve(const View& view, const std::string& node, const std::vector<Binding>& bindings) {
    Decision out;
    Assumed assumed{node, view.now, {}, {}};
    for (const Binding& binding : bindings) {
        if (binding.volume.empty()) {
            assumed.claims.insert(binding.claim);
        } else {
            assumed.volumes.insert(binding.volume);
        }
    }
    ask_for_volumes(view, node, bindings, out.plan);
    wait_for_volumes(view, node, view.now, out.plan);
    out.assume = std::move(assumed);
    return out;
}

}  // namespace

Decision leave(const View&) { return {}; }

Decision forget(const View& view) {
    Decision out;
    out.forget = view.assumed.has_value();
    return out;
}

Decision tell_gated(const View& view) {
    Decision out;
    const std::string message = "Scheduling is blocked due to non-empty scheduling gates";
    tell(view, out.plan, "SchedulingGated", message);
    out.plan.wait = api::Wait{"user", view.key, message};
    return out;
}

Decision bind_assumed(const View& view) { return bind_to(view, view.assumed->node); }

Decision give_up_binding(const View& view) {
    Decision out;
    const std::string message = binding_problem(view);
    tell(view, out.plan, "SchedulerError", message);
    out.not_before = view.now + pause_of(view.failures, kFirstPauseAfterError);
    out.plan.wait = api::Wait{"scheduler", view.key, message};
    out.plan.look_again_at = out.not_before;
    out.forget = true;
    return out;
}

Decision await_volumes(const View& view) {
    Decision out;
    wait_for_volumes(view, view.assumed->node, view.assumed->since, out.plan);
    return out;
}

Decision pause(const View& view) {
    Decision out;
    const api::Condition* told = api::find_condition(pod(view).status.conditions, "PodScheduled");
    const bool is_for_user = told != nullptr && told->reason == "Unschedulable";
    out.plan.wait = api::Wait{
        is_for_user ? "user" : "scheduler",
        view.key,
        told != nullptr ? told->message : "it is tried again after a pause"
    };
    out.plan.look_again_at = view.not_before;
    return out;
}

// The first time nothing is said: a claim is often made in the same breath as its pod, and is there in no time.
Decision refuse_for_claims(const View& view) {
    const std::string problem = claim_problem(view);
    if (view.failures > 0) {
        return unschedulable(view, "0/" + std::to_string(view.nodes.size()) + " nodes are available: " + problem + ".");
    }
    Decision out;
    out.not_before = view.now + kFirstPause;
    out.plan.wait = api::Wait{"user", view.key, problem};
    out.plan.look_again_at = out.not_before;
    return out;
}

Decision choose(const View& view) {
    std::map<std::string, int> reasons;
    const NodeView* best = nullptr;
    std::int64_t best_score = 0;
    for (const NodeView& node : view.nodes) {
        const std::vector<std::string> why = refusals(view, node);
        for (const std::string& reason : why) ++reasons[reason];
        if (!why.empty()) continue;
        const std::int64_t its_score = score(view, node);
        if (best != nullptr && its_score <= best_score) continue;
        best = &node;
        best_score = its_score;
    }
    if (best == nullptr) {
        Decision out = unschedulable(view, summary(view.nodes.size(), reasons));
        out.plan.spec = "K-06";
        out.plan.rule = "no-node-says-why";
        return out;
    }
    if (has_all_volumes(view)) return bind_to(view, best->node.metadata.name);
    std::string why;
    return reserve(view, best->node.metadata.name, *bindings_on(view, *best, why));
}

}  // namespace berth::solo::scheduler
