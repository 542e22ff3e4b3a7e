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

/// What is known of an owner that a reference names.
enum class Owner {
    present,  ///< it exists; or nobody can tell (a kind that is not served), which is the same to its dependents
    unfound,  ///< no cache has it: it may be gone, or the cache may lag
    absent,   ///< it is gone for good: it was seen to go, or the API was asked
};

struct Dependent {
    api::Key key;
    api::ObjectMeta meta;
    bool has_other_owner = false;  ///< one that exists and is not being deleted in the foreground itself
    bool has_dependents = false;
};

struct GarbageView {
    api::Key key;
    std::optional<api::ObjectMeta> object;
    std::vector<Owner> owners;          ///< of each owner reference
    std::vector<Dependent> dependents;  ///< objects that name this one as an owner
};
/// Effects: "look for owners" {namespace, owners: [{apiVersion, kind, name, uid}]}: asks the API for those that no
/// cache has.
api::Plan collect(const GarbageView& view);

// --- namespaces ---

struct NamespaceView {
    api::Key key;
    std::optional<api::Namespace> ns;
    std::vector<std::pair<api::Key, api::ObjectMeta>> content;  ///< objects in it
    bool has_service_account = false;
    bool has_root_ca = false;
    std::string ca_certificate;
    Timestamp now;
};
/// Effect: "finalize namespace" {name}: the last step, through its own subresource.
api::Plan keep_namespace(const NamespaceView& view);

// --- pods of nodes that are gone ---

struct StrandedPodView {
    api::Key key;
    std::optional<api::Pod> pod;
    bool has_node = true;
    std::optional<Timestamp> missing_since;  ///< since when the node was seen to be gone
    bool is_confirmed = false;               ///< the API was asked, and has no such node
    Timestamp now;
};
/// Effects: "look for node" {name}. A node that comes back within 40 s loses nothing.
api::Plan collect_pod(const StrandedPodView& view);

}  // namespace berth::solo
