// All claims of a pod on one node, or none: matched with volumes that exist, smallest first, or to be provisioned
// there. Source: docs/spec/placement.md K-20 to K-26, K-65
#include "solo/rules/scheduler/facts.hpp"

namespace berth::solo::scheduler {
namespace {

constexpr const char* kConflict = "node(s) didn't find available persistent volumes to bind";
constexpr const char* kNoRoom = "node(s) did not have enough free storage";

bool allows(const api::StorageClass& storage_class, const api::Node& node) {
    if (storage_class.allowed_topologies.empty()) return true;
    return std::ranges::any_of(storage_class.allowed_topologies, [&](const api::TopologyTerm& term) {
        return std::ranges::all_of(term.match_label_expressions, [&](api::SelectorRequirement requirement) {
            requirement.op = "In";
            return api::matches(requirement, node.metadata.labels);
        });
    });
}

// K-25: whether some capacity object promises a CSI driver's class room for the claim on the node.
bool has_promised_room(const View& view, const NodeView& node, const api::PersistentVolumeClaim& claim) {
    return std::ranges::any_of(view.capacities, [&](const api::CsiStorageCapacity* one) {
        const Quantity& most = one->maximum_volume_size.empty() ? one->capacity : one->maximum_volume_size;
        return one->storage_class_name == class_of(claim) && one->node_topology &&
               bytes_or_zero(most) >= claim.spec.request() &&
               api::matches(*one->node_topology, node.node.metadata.labels);
    });
}

// "" when the node can provision the claim. `needed` sums up what the pod's claims ask of our own provisioner.
std::string provisioning_refusal(
    const View& view, const NodeView& node, const api::PersistentVolumeClaim& claim, Bytes& needed
) {
    const auto it = view.classes.find(class_of(claim));
    const bool provisions = it != view.classes.end() && !it->second.provisioner.empty() &&
                            it->second.provisioner != "kubernetes.io/no-provisioner";
    if (!provisions || !allows(it->second, node.node)) return kConflict;
    if (view.counting_drivers.contains(it->second.provisioner))
        return has_promised_room(view, node, claim) ? "" : kNoRoom;
    if (it->second.provisioner != kProvisioner) return {};
    // All claims of the pod together must fit: one by one they would split over nodes (K-65).
    // With a selected node the claim is counted among the node's used room already.
    if (claim.metadata.annotation(kSelectedNode) == nullptr) needed = needed + claim.spec.request();
    return needed <= node.room.free() ? "" : kNoRoom;
}

// "" when every bound claim of the pod can be used on the node.
std::string bound_refusal(const View& view, const NodeView& node) {
    for (const auto& [name, claim] : view.claims) {
        if (!is_bound(claim)) continue;
        const api::PersistentVolume* volume = volume_named(view, claim.spec.volume_name);
        if (volume == nullptr) return "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";
        if (!reaches(*volume, node.node)) return "node(s) had volume node affinity conflict";
    }
    return {};
}

std::vector<const api::PersistentVolumeClaim*> delayed_claims(const View& view) {
    std::vector<const api::PersistentVolumeClaim*> out;
    for (const auto& [name, claim] : view.claims) {
        if (!is_bound(claim)) out.push_back(&claim);
    }
    std::ranges::sort(out, {}, [](const auto* claim) {
        return std::pair(claim->spec.request(), claim->metadata.name);
    });
    return out;
}

}  // namespace

std::optional<std::vector<Binding>> bindings_on(const View& view, const NodeView& node, std::string& why) {
    why = bound_refusal(view, node);
    if (!why.empty()) return {};
    std::vector<Binding> out;
    std::set<std::string> taken = view.taken_volumes;
    Bytes needed = storage_request(*view.pod);
    for (const api::PersistentVolumeClaim* claim : delayed_claims(view)) {
        const std::string* selected = claim->metadata.annotation(kSelectedNode);
        if (selected != nullptr && *selected != node.node.metadata.name) {
            why = kConflict;
            return {};
        }
        const bool is_reserved =
            std::ranges::any_of(view.volumes, [&](const auto* v) { return is_reserved_for(*v, *claim); });
        const bool is_matched = selected == nullptr || is_reserved;
        const api::PersistentVolume* volume =
            is_matched ? find_volume(view.volumes, *claim, &node.node, taken, Choice::any) : nullptr;
        if (volume != nullptr) {
            taken.insert(volume->metadata.name);
            out.push_back({claim->metadata.name, volume->metadata.name});
            continue;
        }
        // Its own volume cannot be reached from here (K-24).
        why = is_reserved ? kConflict : provisioning_refusal(view, node, *claim, needed);
        if (!why.empty()) return {};
        out.push_back({claim->metadata.name, ""});
    }
    return out;
}

}  // namespace berth::solo::scheduler
