// The caches that the binder, the provisioner and the protection of storage look at.
#pragma once

#include "kube/engine.hpp"
#include "solo/rules/storage/matching.hpp"

namespace berth::solo {

struct StorageCaches {
    explicit StorageCaches(kube::Engine& engine)
        : pods(engine.cache<api::Pod>(api::kPod)),
          nodes(engine.cache<api::Node>(api::kNode)),
          claims(engine.cache<api::PersistentVolumeClaim>(api::kClaim)),
          volumes(engine.cache<api::PersistentVolume>(api::kVolume)),
          classes(engine.cache<api::StorageClass>(api::kStorageClass)) {}

    kube::Cache<api::Pod>& pods;
    kube::Cache<api::Node>& nodes;
    kube::Cache<api::PersistentVolumeClaim>& claims;
    kube::Cache<api::PersistentVolume>& volumes;
    kube::Cache<api::StorageClass>& classes;

    [[nodiscard]] std::vector<const api::Pod*> users_of(const kube::WorkKey& claim) const {
        std::vector<const api::Pod*> out = pods.all(claim.ns);
        std::erase_if(out, [&](const api::Pod* pod) { return !uses(*pod, claim.name); });
        return out;
    }
};

template <class T>
std::optional<T> copy_of(const T* object) {
    return object == nullptr ? std::optional<T>() : *object;
}

inline kube::WorkKey claim_key(const api::ObjectMeta& meta) { return {&api::kClaim, meta.ns, meta.name}; }
inline kube::WorkKey volume_key(const api::ObjectMeta& meta) { return {&api::kVolume, "", meta.name}; }

/// A pod that comes, gets a node or goes changes what its claims wait for.
void enqueue_claims_of_pods(kube::Cache<api::Pod>& pods, const kube::Engine::Enqueue& enqueue);
/// All claims that are not bound.
void enqueue_unbound(const StorageCaches& caches, const kube::Engine::Enqueue& enqueue);

}  // namespace berth::solo
