// What keeps a cluster tidy: claims and volumes that are in use stay, what lost its owner goes, namespaces end empty.
// Source: docs/spec/placement.md 4.9, docs/spec/kube-api.md 2.13, 2.14
#pragma once

#include "api/core.hpp"
#include "api/plan.hpp"

namespace berth::solo {

// --- protection ---

struct ClaimProtectionView {
    api::Key key;
    std::optional<api::PersistentVolumeClaim> claim;
    std::vector<const api::Pod*> pods;  ///< those that use it
};
api::Plan protect_claim(const ClaimProtectionView& view);

struct VolumeProtectionView {
    api::Key key;
    std::optional<api::PersistentVolume> volume;
};
api::Plan protect_volume(const VolumeProtectionView& view);

// --- garbage collection ---

struct GarbageView {
    api::Key key;
    std::optional<api::ObjectMeta> object;
    /// For each owner reference whether an object of that UID exists where it may (own namespace or cluster scope).
    std::vector<bool> owner_exists;
    std::vector<std::pair<api::Key, api::ObjectMeta>> dependents;  ///< objects that name this one as an owner
};
api::Plan collect(const GarbageView& view);

// --- namespaces ---

struct NamespaceView {
    api::Key key;
    std::optional<api::Namespace> ns;
    std::vector<std::pair<api::Key, api::ObjectMeta>> content;  ///< objects in it
    bool has_service_account = false;
    bool has_root_ca = false;
    std::string ca_certificate;
};
/// Effect: "finalize namespace" {name}: the last step, through its own subresource.
api::Plan keep_namespace(const NamespaceView& view);

}  // namespace berth::solo
