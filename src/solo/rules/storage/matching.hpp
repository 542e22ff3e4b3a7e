// Which volume fits which claim: asked by the scheduler for a node, and by the binder without one.
// Source: docs/spec/placement.md K-22, K-24, K-44
#pragma once

#include <set>
#include <vector>

#include "api/core.hpp"
#include "api/plan.hpp"

namespace berth::solo {

inline constexpr const char* kSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr const char* kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr const char* kBoundByController = "pv.kubernetes.io/bound-by-controller";
inline constexpr const char* kProvisionedBy = "pv.kubernetes.io/provisioned-by";
inline constexpr const char* kAskedProvisioner = "volume.kubernetes.io/storage-provisioner";
inline constexpr const char* kAskedProvisionerBeta = "volume.beta.kubernetes.io/storage-provisioner";

Bytes capacity_of(const api::PersistentVolume& volume);
/// True when the claim is bound for good: it names its volume and the binder said so.
bool is_bound(const api::PersistentVolumeClaim& claim);
/// "" when the claim has no class.
std::string class_of(const api::PersistentVolumeClaim& claim);

/// The class of claims that name none: marked as default; of several the newest, then by name (K-04). "" = there is
/// none.
std::string default_class(const std::vector<const api::StorageClass*>& classes);
/// Whether a pod has the claim among its volumes.
bool uses(const api::Pod& pod, const std::string& claim);

/// Terms are ORed, expressions ANDed; metadata.name is the one field.
bool matches(const api::NodeSelectorTerm& term, const api::Node& node);
bool matches(const api::NodeSelector& selector, const api::Node& node);
/// Whether a volume can be used on a node (spec.nodeAffinity).
bool reaches(const api::PersistentVolume& volume, const api::Node& node);

/// Whether the claimRef names this claim (and its UID, when one is set).
bool is_reserved_for(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim);

/// The volume a claim should bind to: one reserved for it, else the smallest that fits; nullptr when none does.
/// node      none: without regard to nodes
/// taken     volumes already chosen for another claim of the same pod
/// reserved_only   for WaitForFirstConsumer claims nobody uses yet: only what is reserved for them
enum class Choice { any, reserved_only };
const api::PersistentVolume* find_volume(
    const std::vector<const api::PersistentVolume*>& volumes,
    const api::PersistentVolumeClaim& claim,
    const api::Node* node,
    const std::set<std::string>& taken,
    Choice choice
);

/// The claimRef that reserves a volume for a claim.
json::Value reference_to(const api::PersistentVolumeClaim& claim);

}  // namespace berth::solo
