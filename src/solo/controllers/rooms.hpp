// How much every node still takes of claims: counted from claims and volumes, for the scheduler and the provisioner
// alike.
#pragma once

#include "kube/cache.hpp"
#include "solo/rules/storage/provisioner.hpp"

namespace berth::solo {

/// In order of node name. A claim counts where its volume lies, or else where its selected node is.
std::vector<NodeRoom> count_rooms(
    const kube::Cache<api::Node>& nodes,
    const kube::Cache<api::Pod>& pods,
    const kube::Cache<api::PersistentVolume>& volumes,
    const kube::Cache<api::PersistentVolumeClaim>& claims,
    const kube::Cache<api::StorageClass>& classes
);

}  // namespace berth::solo
