#include "solo/controllers/rooms.hpp"

#include "solo/rules/scheduler/view.hpp"

namespace berth::solo {

std::vector<NodeRoom> count_rooms(
    const kube::Cache<api::Node>& nodes,
    const kube::Cache<api::Pod>& pods,
    const kube::Cache<api::PersistentVolume>& volumes,
    const kube::Cache<api::PersistentVolumeClaim>& claims,
    const kube::Cache<api::StorageClass>& classes
) {
    std::map<std::string, Bytes> used;
    std::set<Uid> counted;
    for (const api::PersistentVolume* volume : volumes.all()) {
        const std::string* by = volume->metadata.annotation(kProvisionedBy);
        if (by == nullptr || *by != kProvisioner) continue;
        Bytes& sum = used[node_of(*volume)];
        sum = sum + capacity_of(*volume);
        if (volume->spec.claim_ref) counted.insert(volume->spec.claim_ref->uid);
    }
    for (const api::PersistentVolumeClaim* claim : claims.all()) {
        const std::string* node = claim->metadata.annotation(kSelectedNode);
        if (node == nullptr || counted.contains(claim->metadata.uid) || !claim->spec.volume_name.empty()) continue;
        const api::StorageClass* storage_class = classes.get("", class_of(*claim));
        if (storage_class == nullptr || storage_class->provisioner != kProvisioner) continue;
        used[*node] = used[*node] + claim->spec.request();
    }
    std::map<std::string, Bytes> spooled;
    for (const api::Pod* pod : pods.all()) {
        if (pod->spec.node_name.empty() || pod->is_terminal()) continue;
        Bytes& sum = spooled[pod->spec.node_name];
        sum = sum + scheduler::storage_request(*pod);
    }
    std::vector<NodeRoom> out;
    for (const api::Node* node : nodes.all()) {
        NodeRoom room;
        room.name = node->metadata.name;
        room.is_schedulable = !node->spec.unschedulable;
        const auto it = node->status.allocatable.find(std::string(kStorageResource));
        if (it != node->status.allocatable.end()) room.capacity = bytes_or_zero(it->second);
        room.used = used[room.name];
        room.spooled = spooled[room.name];
        out.push_back(std::move(room));
    }
    return out;
}

}  // namespace berth::solo
