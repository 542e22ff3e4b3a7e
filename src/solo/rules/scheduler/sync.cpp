// One pass over a pod that has no node: choose, reserve its volumes, wait until they are bound, bind.
// Source: docs/spec/placement.md K-05 to K-34
#include "base/ranges.hpp"
#include "solo/rules/scheduler/view.hpp"

namespace berth::solo::scheduler {
namespace {

using api::Emit;
using api::Patch;
using api::Plan;

const api::Pod& pod(const View& view) { return *view.pod; }

// --- telling -------------------------------------------------------------------------------------------------------------

// PodScheduled = False with a reason; written only when it says something else than before (K-06).
void tell(const View& view, Plan& plan, const std::string& reason, const std::string& message) {
    const api::Condition* known = api::find_condition(pod(view).status.conditions, "PodScheduled");
    const bool is_known = known != nullptr && known->status == "False" && known->reason == reason && known->message == message;
    if (!is_known) {
        json::Array conditions;
        for (const api::Condition& condition : pod(view).status.conditions) {
            if (condition.type == "PodScheduled") continue;
            conditions.push_back(json::Object{{"type", condition.type}, {"status", condition.status}, {"reason", condition.reason}, {"message", condition.message}});
        }
        const bool was_false = known != nullptr && known->status == "False" && known->last_transition_time;
        conditions.push_back(json::Object{
            {"type", "PodScheduled"},
            {"status", "False"},
            {"reason", reason},
            {"message", message},
            {"lastTransitionTime", to_rfc3339(was_false ? *known->last_transition_time : view.now)},
        });
        plan.add(Patch{view.key, api::Part::status, json::Object{{"status", json::Object{{"conditions", std::move(conditions)}}}}, pod(view).metadata.uid});
        plan.add(Emit{view.key, pod(view).metadata.uid, true, "FailedScheduling", message});
    }
    plan.wait = api::Wait{reason == "Unschedulable" ? "user" : "scheduler", view.key, message};
}

Decision unschedulable(const View& view, const std::string& message) {
    Decision out;
    tell(view, out.plan, "Unschedulable", message);
    out.forget = view.assumed.has_value();
    return out;
}

Decision binding_failed(const View& view, const std::string& message) {
    Decision out;
    tell(view, out.plan, "SchedulerError", message);
    Duration pause = std::chrono::seconds(1);
    for (int i = 0; i < view.failures && pause < std::chrono::seconds(10); ++i) pause *= 2;
    out.plan.look_again_at = view.now + std::min<Duration>(pause, std::chrono::seconds(10));
    out.forget = true;
    out.failed = true;
    return out;
}

// "0/3 nodes are available: 1 Insufficient memory, 2 node(s) …."
std::string summary(std::size_t nodes, const std::map<std::string, int>& reasons) {
    std::vector<std::string> parts;
    for (const auto& [reason, count] : reasons) parts.push_back(std::to_string(count) + " " + reason);
    std::ranges::sort(parts);
    std::string text = "0/" + std::to_string(nodes) + " nodes are available";
    for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? ": " : ", ") + parts[i];
    return text + ".";
}

// --- facts ---------------------------------------------------------------------------------------------------------------

// K-10, K-11: what no node can cure; "" when there is nothing of the kind.
std::string claim_problem(const View& view) {
    bool has_immediate = false;
    for (const api::PodVolume& volume : pod(view).spec.volumes) {
        if (!volume.persistent_volume_claim) continue;
        const std::string& name = volume.persistent_volume_claim->claim_name;
        const auto it = view.claims.find(name);
        if (it == view.claims.end()) return "persistentvolumeclaim \"" + name + "\" not found";
        const api::PersistentVolumeClaim& claim = it->second;
        if (claim.status.phase == "Lost") {
            return "persistentvolumeclaim \"" + name + "\" bound to non-existent persistentvolume \"" + claim.spec.volume_name + "\"";
        }
        if (claim.metadata.is_deleting()) return "persistentvolumeclaim \"" + name + "\" is being deleted";
        const auto storage_class = view.classes.find(class_of(claim));
        const bool waits = storage_class != view.classes.end() && storage_class->second.waits_for_consumer();
        has_immediate = has_immediate || (!is_bound(claim) && (!waits || !claim.spec.volume_name.empty()));
    }
    return has_immediate ? "pod has unbound immediate PersistentVolumeClaims" : "";
}

const NodeView* node_named(const View& view, const std::string& name) {
    const auto it = std::ranges::find_if(view.nodes, [&](const NodeView& n) { return n.node.metadata.name == name; });
    return it == view.nodes.end() ? nullptr : &*it;
}

bool all_bound(const View& view) {
    return std::ranges::all_of(view.claims, [](const auto& entry) { return is_bound(entry.second); });
}

// K-30: what ends the wait for volumes of an assumed pod; "" while it may go on.
std::string wait_problem(const View& view, const NodeView* node) {
    if (node == nullptr) return "node \"" + view.assumed->node + "\" not found";
    if (view.now - view.assumed->since > view.bind_timeout) return "binding volumes: context deadline exceeded";
    for (const auto& [name, claim] : view.claims) {
        const auto volume_of = [&](const auto* v) { return v->metadata.name == claim.spec.volume_name; };
        const auto volume = std::ranges::find_if(view.volumes, volume_of);
        if (volume != view.volumes.end() && !reaches(**volume, node->node)) {
            return "pv \"" + (*volume)->metadata.name + "\" node affinity doesn't match node \"" + node->node.metadata.name + "\"";
        }
        if (is_bound(claim)) continue;
        const bool is_reserved = std::ranges::any_of(view.volumes, [&](const auto* v) { return v->spec.claim_ref && is_reserved_for(*v, claim); });
        const std::string* selected = claim.metadata.annotation(kSelectedNode);
        if (!is_reserved && selected == nullptr) return "provisioning failed for PVC \"" + name + "\"";
        if (selected != nullptr && *selected != node->node.metadata.name) return "selectedNode annotation reset for PVC \"" + name + "\"";
    }
    return {};
}

// --- wants ---------------------------------------------------------------------------------------------------------------

// K-29: volumes first, then claims; the pod is bound at a later pass, when all of them are.
Decision reserve(const View& view, const NodeView& node) {
    Decision out;
    std::string why;
    const auto bindings = bindings_on(view, node, why);
    for (const Binding& binding : *bindings) {
        if (binding.volume.empty()) continue;
        const auto volume = std::ranges::find_if(view.volumes, [&](const auto* v) { return v->metadata.name == binding.volume; });
        const api::PersistentVolumeClaim& claim = view.claims.at(binding.claim);
        if ((*volume)->spec.claim_ref && (*volume)->spec.claim_ref->uid == claim.metadata.uid) continue;
        json::Value patch = json::Object{{"spec", json::Object{{"claimRef", reference_to(claim)}}}};
        json::set(patch, "/metadata/annotations/pv.kubernetes.io~1bound-by-controller", "yes");
        out.plan.add(Patch{{&api::kVolume, "", binding.volume}, api::Part::object, std::move(patch), (*volume)->metadata.uid, (*volume)->metadata.resource_version});
    }
    for (const Binding& binding : *bindings) {
        const api::PersistentVolumeClaim& claim = view.claims.at(binding.claim);
        if (!binding.volume.empty() || claim.metadata.annotation(kSelectedNode) != nullptr) continue;
        json::Value patch = json::Object{{"metadata", json::Object{{"annotations", json::Object{{kSelectedNode, node.node.metadata.name}}}}}};
        out.plan.add(Patch{{&api::kClaim, claim.metadata.ns, claim.metadata.name}, api::Part::object, std::move(patch), claim.metadata.uid});
    }
    out.plan.wait = api::Wait{"volume binder", view.key, "its volumes are being bound on node " + node.node.metadata.name};
    out.plan.look_again_at = view.now + view.bind_timeout + std::chrono::seconds(1);
    out.assume = node.node.metadata.name;
    return out;
}

Decision bind(const View& view, const std::string& node) {
    Decision out;
    out.plan.add(api::Bind{view.key, pod(view).metadata.uid, node});
    out.plan.add(Emit{view.key, pod(view).metadata.uid, false, "Scheduled", "Successfully assigned " + view.key.ns + "/" + view.key.name + " to " + node});
    out.assume = node;
    return out;
}

Decision choose(const View& view) {
    std::map<std::string, int> reasons;
    const NodeView* best = nullptr;
    for (const NodeView& node : view.nodes) {
        const std::vector<std::string> why = refusals(view, node);
        for (const std::string& reason : why) ++reasons[reason];
        if (!why.empty()) continue;
        if (best == nullptr || score(view, node) > score(view, *best)) best = &node;
    }
    if (best == nullptr) return unschedulable(view, summary(view.nodes.size(), reasons));
    return all_bound(view) ? bind(view, best->node.metadata.name) : reserve(view, *best);
}

Decision settled(const View& view, bool forget) {
    Decision out;
    out.forget = forget && view.assumed.has_value();
    return out;
}

Decision decide(const View& view) {
    if (!view.pod) return settled(view, true);
    if (!pod(view).spec.node_name.empty() || pod(view).is_terminal() || pod(view).metadata.is_deleting()) return settled(view, true);
    const std::string& wanted = pod(view).spec.scheduler_name;
    if (!wanted.empty() && wanted != view.scheduler_name) return settled(view, true);
    if (pod(view).spec.scheduling_gates.is_array() && !pod(view).spec.scheduling_gates.get_array().empty()) return settled(view, true);
    if (const std::string problem = claim_problem(view); !problem.empty()) {
        return unschedulable(view, "0/" + std::to_string(view.nodes.size()) + " nodes are available: " + problem + ".");
    }
    if (view.assumed) {
        const NodeView* node = node_named(view, view.assumed->node);
        const std::string problem = wait_problem(view, node);
        if (!problem.empty()) return binding_failed(view, problem);
        return all_bound(view) ? bind(view, view.assumed->node) : reserve(view, *node);
    }
    if (view.not_before && view.now < *view.not_before) {
        Decision out;
        out.plan.wait = api::Wait{"scheduler", view.key, "it tries again after a pause"};
        out.plan.look_again_at = view.not_before;
        return out;
    }
    return choose(view);
}

}  // namespace

Decision sync(const View& view) {
    Decision out = decide(view);
    out.plan.spec = out.failed ? "K-32" : out.assume ? "K-28" : "K-06";
    out.plan.rule = out.failed ? "binding-failed-is-tried-again" : out.assume ? "pod-and-claims-go-together" : "no-node-says-why";
    return out;
}

}  // namespace berth::solo::scheduler
