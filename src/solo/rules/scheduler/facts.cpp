#include "solo/rules/scheduler/facts.hpp"

namespace berth::solo::scheduler {
namespace {

// A claim that can never be used as it is; "" when it can.
std::string trouble_of(const View& view, const std::string& name) {
    const auto it = view.claims.find(name);
    if (it == view.claims.end()) return "persistentvolumeclaim \"" + name + "\" not found";
    const api::PersistentVolumeClaim& claim = it->second;
    if (claim.status.phase == "Lost") {
        return "persistentvolumeclaim \"" + name + "\" bound to non-existent persistentvolume \"" +
               claim.spec.volume_name + "\"";
    }
    if (claim.metadata.is_deleting()) return "persistentvolumeclaim \"" + name + "\" is being deleted";
    return {};
}

// The first claim with trouble, in the order of the pod's volumes.
std::string first_trouble(const View& view) {
    for (const api::PodVolume& volume : view.pod->spec.volumes) {
        if (!volume.persistent_volume_claim) continue;
        if (std::string trouble = trouble_of(view, volume.persistent_volume_claim->claim_name); !trouble.empty())
            return trouble;
    }
    return {};
}

bool is_immediate_and_unbound(const View& view, const api::PersistentVolumeClaim& claim) {
    if (is_bound(claim)) return false;
    const auto it = view.classes.find(class_of(claim));
    const bool waits = it != view.classes.end() && it->second.waits_for_consumer();
    return !waits || !claim.spec.volume_name.empty();
}

// Why a claim will not become bound on the assumed node; "" while it may.
std::string claim_binding_problem(const View& view, const api::PersistentVolumeClaim& claim, const api::Node& node) {
    const std::string& name = claim.metadata.name;
    for (const api::PersistentVolume* volume : view.volumes) {
        if (volume->metadata.name != claim.spec.volume_name && !is_reserved_for(*volume, claim)) continue;
        if (!reaches(*volume, node)) {
            return "pv \"" + volume->metadata.name + "\" node affinity doesn't match node \"" + node.metadata.name +
                   "\"";
        }
        return {};
    }
    if (is_bound(claim)) return {};
    const std::string* selected = claim.metadata.annotation(kSelectedNode);
    if (view.assumed->claims.contains(name)) {
        if (selected == nullptr) return "provisioning failed for PVC \"" + name + "\"";
        if (*selected != node.metadata.name) return "selectedNode annotation reset for PVC \"" + name + "\"";
        return {};
    }
    const std::string& chosen = view.assumed->volumes.empty() ? name : *view.assumed->volumes.begin();
    return "ClaimRef got reset for pv \"" + chosen + "\"";
}

}  // namespace

const NodeView* node_named(const View& view, const std::string& name) {
    const auto it = std::ranges::find_if(view.nodes, [&](const NodeView& n) { return n.node.metadata.name == name; });
    return it == view.nodes.end() ? nullptr : &*it;
}

const api::PersistentVolume* volume_named(const View& view, const std::string& name) {
    const auto it = std::ranges::find_if(view.volumes, [&](const auto* v) { return v->metadata.name == name; });
    return it == view.volumes.end() ? nullptr : *it;
}

bool is_not_waiting(const View& view) {
    return !view.pod || !view.pod->spec.node_name.empty() || view.pod->is_terminal() ||
           view.pod->metadata.is_deleting();
}

bool is_of_another_scheduler(const View& view) {
    const std::string& wanted = view.pod->spec.scheduler_name;
    return !wanted.empty() && wanted != view.scheduler_name;
}

bool is_gated(const View& view) {
    const json::Value& gates = view.pod->spec.scheduling_gates;
    return gates.is_array() && !gates.get_array().empty();
}

bool is_assumed(const View& view) { return view.assumed.has_value(); }

bool has_all_volumes(const View& view) {
    return std::ranges::all_of(view.claims, [](const auto& entry) { return is_bound(entry.second); });
}

bool has_failed_to_bind(const View& view) { return is_assumed(view) && !binding_problem(view).empty(); }

bool is_assumed_with_all_volumes(const View& view) { return is_assumed(view) && has_all_volumes(view); }

bool is_pausing(const View& view) { return view.not_before && view.now < *view.not_before; }

bool has_unusable_claim(const View& view) { return !claim_problem(view).empty(); }

std::string claim_problem(const View& view) {
    if (std::string trouble = first_trouble(view); !trouble.empty()) return trouble;
    const bool waits = std::ranges::any_of(view.claims, [&](const auto& entry) {
        return is_immediate_and_unbound(view, entry.second);
    });
    return waits ? "pod has unbound immediate PersistentVolumeClaims" : "";
}

std::string binding_problem(const View& view) {
    const NodeView* node = node_named(view, view.assumed->node);
    if (node == nullptr) return "node \"" + view.assumed->node + "\" not found";
    if (std::string trouble = first_trouble(view); !trouble.empty()) return trouble;
    for (const auto& [name, claim] : view.claims) {
        if (std::string problem = claim_binding_problem(view, claim, node->node); !problem.empty()) return problem;
    }
    const bool is_late = !has_all_volumes(view) && view.now - view.assumed->since > view.bind_timeout;
    return is_late ? "binding volumes: context deadline exceeded" : "";
}

}  // namespace berth::solo::scheduler
