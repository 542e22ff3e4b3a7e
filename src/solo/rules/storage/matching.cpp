#include "solo/rules/storage/matching.hpp"

#include "base/ranges.hpp"

namespace berth::solo {

Bytes capacity_of(const api::PersistentVolume& volume) {
    const auto it = volume.spec.capacity.find("storage");
    return it == volume.spec.capacity.end() ? Bytes{} : bytes_or_zero(it->second);
}

bool is_bound(const api::PersistentVolumeClaim& claim) {
    return !claim.spec.volume_name.empty() && claim.metadata.annotation(kBindCompleted) != nullptr;
}

std::string class_of(const api::PersistentVolumeClaim& claim) { return claim.spec.storage_class_name.value_or(""); }

std::string default_class(const std::vector<const api::StorageClass*>& classes) {
    const api::StorageClass* best = nullptr;
    for (const api::StorageClass* one : classes) {
        const std::string* mark = one->metadata.annotation("storageclass.kubernetes.io/is-default-class");
        if (mark == nullptr || *mark != "true") continue;
        const auto rank = [](const api::StorageClass& c) { return c.metadata.creation_timestamp; };
        const bool is_better = best == nullptr || rank(*one) > rank(*best) ||
                               (rank(*one) == rank(*best) && one->metadata.name < best->metadata.name);
        if (is_better) best = one;
    }
    return best == nullptr ? std::string() : best->metadata.name;
}

bool uses(const api::Pod& pod, const std::string& claim) {
    return std::ranges::any_of(pod.spec.volumes, [&](const api::PodVolume& volume) {
        return volume.persistent_volume_claim && volume.persistent_volume_claim->claim_name == claim;
    });
}

bool matches(const api::NodeSelectorTerm& term, const api::Node& node) {
    if (term.match_expressions.empty() && term.match_fields.empty()) return false;
    const std::map<std::string, std::string> fields{
        {"metadata.name", node.metadata.name}
    };
    return std::ranges::all_of(
               term.match_expressions, [&](const auto& r) { return api::matches(r, node.metadata.labels); }
           ) &&
           std::ranges::all_of(term.match_fields, [&](const auto& r) { return api::matches(r, fields); });
}

bool matches(const api::NodeSelector& selector, const api::Node& node) {
    return std::ranges::any_of(selector.node_selector_terms, [&](const auto& term) { return matches(term, node); });
}

bool reaches(const api::PersistentVolume& volume, const api::Node& node) {
    return !volume.spec.node_affinity || !volume.spec.node_affinity->required ||
           matches(*volume.spec.node_affinity->required, node);
}

bool is_reserved_for(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
    const auto& ref = volume.spec.claim_ref;
    return ref && ref->name == claim.metadata.name && ref->ns == claim.metadata.ns &&
           (ref->uid.empty() || ref->uid == claim.metadata.uid);
}

namespace {

std::string mode_of(const std::string& mode) { return mode.empty() ? "Filesystem" : mode; }

// What holds for a reserved volume too: it can be used for this claim at all.
bool is_usable(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
    return !volume.metadata.is_deleting() && mode_of(volume.spec.volume_mode) == mode_of(claim.spec.volume_mode) &&
           capacity_of(volume) >= claim.spec.request() &&
           volume.spec.volume_attributes_class_name == claim.spec.volume_attributes_class_name;
}

bool is_free_for(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim) {
    const bool modes_fit = std::ranges::all_of(claim.spec.access_modes, [&](const std::string& mode) {
        return contains(volume.spec.access_modes, mode);
    });
    return !volume.spec.claim_ref && volume.status.phase == "Available" && modes_fit &&
           volume.spec.storage_class_name == class_of(claim) &&
           (!claim.spec.selector || api::matches(*claim.spec.selector, volume.metadata.labels));
}

}  // namespace

const api::PersistentVolume* find_volume(
    const std::vector<const api::PersistentVolume*>& volumes,
    const api::PersistentVolumeClaim& claim,
    const api::Node* node,
    const std::set<std::string>& taken,
    Choice choice
) {
    const api::PersistentVolume* smallest = nullptr;
    for (const api::PersistentVolume* volume : volumes) {
        if (taken.contains(volume->metadata.name) || !is_usable(*volume, claim)) continue;
        if (is_reserved_for(*volume, claim)) {
            // Reserved for this claim: this one or, where it cannot be reached, none.
            return node == nullptr || reaches(*volume, *node) ? volume : nullptr;
        }
        if (choice == Choice::reserved_only || !is_free_for(*volume, claim)) continue;
        if (node != nullptr && !reaches(*volume, *node)) continue;
        if (smallest == nullptr || capacity_of(*volume) < capacity_of(*smallest)) smallest = volume;
    }
    return smallest;
}

json::Value reference_to(const api::PersistentVolumeClaim& claim) {
    return json::Object{
        {"apiVersion",      "v1"                                 },
        {"kind",            "PersistentVolumeClaim"              },
        {"namespace",       claim.metadata.ns                    },
        {"name",            claim.metadata.name                  },
        {"uid",             claim.metadata.uid.value             },
        {"resourceVersion", claim.metadata.resource_version.value},
    };
}

}  // namespace berth::solo
