// All claims of a pod on one node, or none: matched with volumes that exist, smallest first, or to be provisioned there.
// Source: docs/spec/placement.md K-20 to K-26, K-65
#include "solo/rules/scheduler/view.hpp"

namespace berth::solo::scheduler {
namespace {

constexpr const char* kConflict = "node(s) didn't find available persistent volumes to bind";

bool allows(const api::StorageClass& storage_class, const api::Node& node) {
    if (storage_class.allowed_topologies.empty()) return true;
    return std::ranges::any_of(storage_class.allowed_topologies, [&](const api::TopologyTerm& term) {
        return std::ranges::all_of(term.match_label_expressions, [&](api::SelectorRequirement requirement) {
            requirement.op = "In";
            return api::matches(requirement, node.metadata.labels);
        });
    });
}

// "" when the node can provision the claim.
std::string provisioning_refusal(const View& view, const NodeView& node, const api::PersistentVolumeClaim& claim, Bytes& needed) {
    const auto it = view.classes.find(class_of(claim));
    const bool provisions = it != view.classes.end() && !it->second.provisioner.empty() && it->second.provisioner != "kubernetes.io/no-provisioner";
    if (!provisions || !allows(it->second, node.node)) return kConflict;
    if (it->second.provisioner != kProvisioner) return {};
    // What all claims of the pod need together must fit: one by one they would split over nodes (K-65).
    const std::string* selected = claim.metadata.annotation(kSelectedNode);
    if (selected == nullptr) needed = needed + claim.spec.request();
    return needed <= node.room.free() ? "" : "node(s) did not have enough free storage";
}

}  // namespace

std::optional<std::vector<Binding>> bindings_on(const View& view, const NodeView& node, std::string& why) {
    std::vector<const api::PersistentVolumeClaim*> delayed;
    for (const auto& [name, claim] : view.claims) {
        if (!is_bound(claim)) {
            delayed.push_back(&claim);
            continue;
        }
        const auto volume = std::ranges::find_if(view.volumes, [&](const auto* v) { return v->metadata.name == claim.spec.volume_name; });
        if (volume == view.volumes.end()) {
            why = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
            return {};
        }
        if (!reaches(**volume, node.node)) {
            why = "node(s) had volume node affinity conflict";
            return {};
        }
    }
    std::ranges::sort(delayed, {}, [](const auto* claim) { return std::pair(claim->spec.request(), claim->metadata.name); });
    std::vector<Binding> out;
    std::set<std::string> taken;
    Bytes needed;
    for (const api::PersistentVolumeClaim* claim : delayed) {
        const std::string* selected = claim->metadata.annotation(kSelectedNode);
        if (selected != nullptr && *selected != node.node.metadata.name) {
            why = kConflict;
            return {};
        }
        const bool is_reserved = std::ranges::any_of(view.volumes, [&](const auto* v) { return v->spec.claim_ref && is_reserved_for(*v, *claim); });
        const api::PersistentVolume* volume = selected != nullptr ? nullptr : find_volume(view.volumes, *claim, &node.node, taken, Choice::any);
        if (volume != nullptr) {
            taken.insert(volume->metadata.name);
            out.push_back({claim->metadata.name, volume->metadata.name});
            continue;
        }
        if (is_reserved && selected == nullptr) {
            why = kConflict;
            return {};
        }
        why = provisioning_refusal(view, node, *claim, needed);
        if (!why.empty()) return {};
        out.push_back({claim->metadata.name, ""});
    }
    return out;
}

}  // namespace berth::solo::scheduler
