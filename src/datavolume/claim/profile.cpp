#include "datavolume/claim/profile.hpp"

#include <algorithm>
#include <iterator>

namespace berth::datavolume {
namespace {

constexpr const char* kVirtDefault = "storageclass.kubevirt.io/is-default-virt-class";
constexpr const char* kDefault = "storageclass.kubernetes.io/is-default-class";

struct Known {
    std::string_view provisioner;
    std::string_view access_mode;
    std::string_view volume_mode;
};

// In order of preference. Source: pkg/storagecapabilities of CDI, and our own provisioner (design: one directory or
// one loop device per volume, so one node).
constexpr Known kKnown[] = {
    {"local.berth.dev",                  "ReadWriteOnce", "Filesystem"},
    {"local.berth.dev",                  "ReadWriteOnce", "Block"     },
    {"rancher.io/local-path",            "ReadWriteOnce", "Filesystem"},
    {"kubevirt.io.hostpath-provisioner", "ReadWriteOnce", "Filesystem"},
    {"kubevirt.io/hostpath-provisioner", "ReadWriteOnce", "Filesystem"},
    {"rbd.csi.ceph.com",                 "ReadWriteMany", "Block"     },
    {"rbd.csi.ceph.com",                 "ReadWriteOnce", "Block"     },
    {"rbd.csi.ceph.com",                 "ReadWriteOnce", "Filesystem"},
    {"cephfs.csi.ceph.com",              "ReadWriteMany", "Filesystem"},
    {"nfs.csi.k8s.io",                   "ReadWriteMany", "Filesystem"},
};

bool is_marked(const api::StorageClass& storage_class, const char* annotation) {
    const std::string* value = storage_class.metadata.annotation(annotation);
    return value != nullptr && *value == "true";
}

// Newest first, then by name.
bool comes_before(const api::StorageClass& a, const api::StorageClass& b) {
    if (a.metadata.creation_timestamp != b.metadata.creation_timestamp) {
        return a.metadata.creation_timestamp > b.metadata.creation_timestamp;
    }
    return a.metadata.name < b.metadata.name;
}

const api::StorageClass* marked(const std::vector<const api::StorageClass*>& classes, const char* annotation) {
    const api::StorageClass* best = nullptr;
    for (const api::StorageClass* one : classes) {
        if (is_marked(*one, annotation) && (best == nullptr || comes_before(*one, *best))) best = one;
    }
    return best;
}

}  // namespace

const api::StorageClass* choose_class(
    const std::optional<std::string>& name,
    ClaimForm form,
    bool is_archive,
    const std::vector<const api::StorageClass*>& classes
) {
    if (name) {
        const auto it =
            std::ranges::find(classes, *name, [](const auto* one) -> const auto& { return one->metadata.name; });
        return it == classes.end() ? nullptr : *it;
    }
    if (form == ClaimForm::storage && !is_archive) {
        if (const api::StorageClass* virt = marked(classes, kVirtDefault)) return virt;
    }
    return marked(classes, kDefault);
}

std::vector<api::ClaimPropertySet> property_sets(const api::StorageProfile* profile, const std::string& provisioner) {
    if (profile != nullptr && !profile->spec.claim_property_sets.empty()) return profile->spec.claim_property_sets;
    if (profile != nullptr && !profile->status.claim_property_sets.empty()) return profile->status.claim_property_sets;
    std::vector<api::ClaimPropertySet> out;
    for (const Known& known : kKnown) {
        if (known.provisioner != provisioner) continue;
        out.push_back({.access_modes = {std::string(known.access_mode)}, .volume_mode = std::string(known.volume_mode)}
        );
    }
    return out;
}

api::StorageProfile resolved_profile(const api::StorageClass& storage_class, const api::StorageProfile* observed) {
    api::StorageProfile out;
    if (observed != nullptr) out = *observed;
    out.metadata.name = storage_class.metadata.name;
    const bool is_recognized =
        std::ranges::any_of(kKnown, [&](const Known& known) { return known.provisioner == storage_class.provisioner; });
    out.status.storage_class = storage_class.metadata.name;
    out.status.provisioner = storage_class.provisioner;
    out.status.claim_property_sets.clear();
    api::StorageProfile wanted{.spec = out.spec};
    out.status.claim_property_sets = property_sets(&wanted, storage_class.provisioner);
    out.status.clone_strategy = out.spec.clone_strategy.empty() ? "copy" : out.spec.clone_strategy;
    const api::Condition recognized{
        .type = "Recognized",
        .status = is_recognized ? "True" : "False",
        .reason = is_recognized ? "RecognizedProvisioner" : "UnrecognizedProvisioner",
        .message = is_recognized ? "Provisioner is recognized" : "Provisioner is not recognized",
    };
    const api::Condition* before = api::find_condition(out.status.conditions, "Recognized");
    if (before == nullptr || before->status != recognized.status) out.status.conditions = {recognized};
    return out;
}

}  // namespace berth::datavolume
