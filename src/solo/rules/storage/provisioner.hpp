// The provisioner of the classes `local` and `local-immediate`: makes a volume on the node that was chosen, counts what
// each node still has, and removes volumes whose claims are gone. Source: docs/spec/placement.md 4.6
#pragma once

#include "solo/rules/seed.hpp"
#include "solo/rules/storage/matching.hpp"

namespace berth::solo {

/// Keeps a volume object until its data is gone.
inline constexpr const char* kProvisionerFinalizer = "external-provisioner.volume.kubernetes.io/finalizer";

/// A node as the provisioner counts it.
struct NodeRoom {
    std::string name;
    bool is_schedulable = true;
    Bytes capacity;         ///< of claims, in sum
    Bytes used;             ///< by claims
    Bytes spooled;          ///< asked for by pods, for files of their own
    std::string directory;  ///< where its volumes lie
    [[nodiscard]] Bytes free() const { return capacity - used - spooled; }
};

/// How the last try of an effect ended.
struct VolumeFailure {
    std::string message;
    bool is_final_here = false;  ///< this node cannot do it, another may
    bool operator==(const VolumeFailure&) const = default;
};

struct ProvisionView {
    api::Key key;
    std::optional<api::PersistentVolumeClaim> claim;
    std::optional<api::StorageClass> storage_class;
    std::optional<api::PersistentVolume>
        volume;  ///< pvc-<UID>, when it exists already; or the one the claim is bound to
    std::vector<NodeRoom> nodes;
    std::optional<VolumeFailure> failure;
};
/// Effects: "make volume" {node, volume, size, block}; "grow volume" {node, volume, size}.
api::Plan provision(const ProvisionView& view);

struct ReclaimView {
    api::Key key;
    std::optional<api::PersistentVolume> volume;
    bool node_exists = true;
    std::optional<VolumeFailure> failure;
};
/// Effects: "delete volume" {node, volume}.
api::Plan reclaim(const ReclaimView& view);

std::string volume_name_for(const Uid& claim);
/// spec.local.path of a volume: always usable as it is.
std::string volume_path(const std::string& node_directory, const std::string& volume, bool block);
/// The node of a volume's hostname affinity; "" when it has none.
std::string node_of(const api::PersistentVolume& volume);

}  // namespace berth::solo
