#include "solo/controllers/storage.hpp"

#include "solo/controllers/storage_caches.hpp"
#include "solo/rules/housekeeping/housekeeping.hpp"

namespace berth::solo {

using kube::WorkKey;

void enqueue_claims_of_pods(kube::Cache<api::Pod>& pods, const kube::Engine::Enqueue& enqueue) {
    auto used = std::make_shared<std::map<Uid, std::set<WorkKey>>>();
    pods.listen([&pods, enqueue, used](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        std::set<WorkKey> changed;
        const bool is_gone = before != nullptr && (after == nullptr || after->uid != before->uid);
        if (is_gone) {
            changed = std::move((*used)[before->uid]);
            used->erase(before->uid);
        }
        const api::Pod* pod = after == nullptr ? nullptr : pods.get(after->ns, after->name);
        if (pod != nullptr) {
            std::set<WorkKey>& keys = (*used)[after->uid];
            for (const api::PodVolume& volume : pod->spec.volumes) {
                if (!volume.persistent_volume_claim) continue;
                keys.insert({&api::kClaim, after->ns, volume.persistent_volume_claim->claim_name});
            }
            changed.insert(keys.begin(), keys.end());
        }
        for (const WorkKey& key : changed) enqueue(key);
    });
}

void enqueue_unbound(const StorageCaches& caches, const kube::Engine::Enqueue& enqueue) {
    for (const api::PersistentVolumeClaim* claim : caches.claims.all()) {
        if (claim->status.phase != "Bound") enqueue(claim_key(claim->metadata));
    }
}

void add_protection(kube::Engine& engine) {
    const auto caches = std::make_shared<StorageCaches>(engine);
    kube::Controller controller;
    controller.name = "protection-controller";
    controller.user = {"system:serviceaccount:kube-system:protection-controller", {"system:authenticated"}};
    controller.plan = [caches](const WorkKey& key) {
        if (key.kind == &api::kVolume) return protect_volume({key, copy_of(caches->volumes.get("", key.name))});
        return protect_claim({key, copy_of(caches->claims.get(key.ns, key.name)), caches->users_of(key)});
    };
    const auto enqueue = engine.add(std::move(controller));
    caches->claims.listen([enqueue](const api::ObjectMeta*, const api::ObjectMeta* after) {
        if (after != nullptr && after->is_deleting()) enqueue(claim_key(*after));
    });
    caches->volumes.listen([enqueue](const api::ObjectMeta*, const api::ObjectMeta* after) {
        if (after != nullptr && after->is_deleting()) enqueue(volume_key(*after));
    });
    enqueue_claims_of_pods(caches->pods, enqueue);
}

}  // namespace berth::solo
