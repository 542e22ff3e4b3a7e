#include "solo/controllers/storage.hpp"

#include "solo/controllers/rooms.hpp"
#include "solo/rules/housekeeping/housekeeping.hpp"
#include "solo/rules/storage/binder.hpp"

namespace berth::solo {
namespace {

using kube::WorkKey;

template <class T>
std::optional<T> copy(const T* object) {
    return object == nullptr ? std::optional<T>() : *object;
}

struct Caches {
    explicit Caches(kube::Engine& engine)
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

    [[nodiscard]] std::string default_class() const {
        const api::StorageClass* best = nullptr;
        for (const api::StorageClass* one : classes.all()) {
            const std::string* mark = one->metadata.annotation("storageclass.kubernetes.io/is-default-class");
            if (mark == nullptr || *mark != "true") continue;
            if (best == nullptr || one->metadata.creation_timestamp > best->metadata.creation_timestamp) best = one;
        }
        return best == nullptr ? std::string() : best->metadata.name;
    }

    [[nodiscard]] static bool uses(const api::Pod& pod, const std::string& claim) {
        return std::ranges::any_of(pod.spec.volumes, [&](const api::PodVolume& volume) {
            return volume.persistent_volume_claim && volume.persistent_volume_claim->claim_name == claim;
        });
    }
};

WorkKey claim_key(const api::ObjectMeta& meta) { return {&api::kClaim, meta.ns, meta.name}; }
WorkKey volume_key(const api::ObjectMeta& meta) { return {&api::kVolume, "", meta.name}; }

// A pod that comes, gets a node or goes changes what its claims wait for.
void enqueue_claims_of_pods(kube::Cache<api::Pod>& pods, const kube::Engine::Enqueue& enqueue) {
    auto used = std::make_shared<std::map<Uid, std::vector<WorkKey>>>();
    pods.listen([&pods, enqueue, used](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        if (after != nullptr) {
            std::vector<WorkKey>& keys = (*used)[after->uid];
            keys.clear();
            const api::Pod* pod = pods.get(after->ns, after->name);
            for (const api::PodVolume& volume : pod->spec.volumes) {
                if (volume.persistent_volume_claim)
                    keys.push_back({&api::kClaim, after->ns, volume.persistent_volume_claim->claim_name});
            }
        }
        const Uid& uid = after != nullptr ? after->uid : before->uid;
        for (const WorkKey& key : (*used)[uid]) enqueue(key);
        if (after == nullptr) used->erase(uid);
    });
}

ClaimView fill_claim(const Caches& caches, const WorkKey& key) {
    ClaimView view;
    view.key = key;
    const api::PersistentVolumeClaim* claim = caches.claims.get(key.ns, key.name);
    view.claim = copy(claim);
    if (claim == nullptr) return view;
    view.storage_class = copy(caches.classes.get("", class_of(*claim)));
    view.default_class = caches.default_class();
    view.volumes = caches.volumes.all();
    for (const api::Pod* pod : caches.pods.all(key.ns)) {
        if (pod->spec.node_name.empty() && !pod->is_terminal() && Caches::uses(*pod, key.name))
            view.waiting_pod = pod->metadata.name;
    }
    return view;
}

VolumeView fill_volume(const Caches& caches, const WorkKey& key) {
    VolumeView view;
    view.key = key;
    view.volume = copy(caches.volumes.get("", key.name));
    if (view.volume && view.volume->spec.claim_ref) {
        view.claim = copy(caches.claims.get(view.volume->spec.claim_ref->ns, view.volume->spec.claim_ref->name));
    }
    return view;
}

}  // namespace

void add_volume_binder(kube::Engine& engine) {
    const auto caches = std::make_shared<Caches>(engine);
    kube::Controller claims;
    claims.name = "persistentvolume-controller";
    claims.user = {"system:serviceaccount:kube-system:persistent-volume-binder", {"system:authenticated"}};
    claims.plan = [caches](const WorkKey& key) {
        return key.kind == &api::kVolume ? bind_volume(fill_volume(*caches, key))
                                         : bind_claim(fill_claim(*caches, key));
    };
    const auto enqueue = engine.add(std::move(claims));
    caches->claims.listen([caches, enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        enqueue(claim_key(meta));
        for (const api::PersistentVolume* volume : caches->volumes.all()) {
            const auto& ref = volume->spec.claim_ref;
            if (ref && ref->ns == meta.ns && ref->name == meta.name) enqueue(volume_key(volume->metadata));
        }
    });
    caches->volumes.listen([caches, enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        enqueue(volume_key(meta));
        const api::PersistentVolume* volume = after == nullptr ? nullptr : caches->volumes.get("", meta.name);
        if (volume != nullptr && volume->spec.claim_ref) {
            enqueue({&api::kClaim, volume->spec.claim_ref->ns, volume->spec.claim_ref->name});
            return;
        }
        // A free volume may fit any claim, and a lost one is missed by its claim.
        for (const api::PersistentVolumeClaim* claim : caches->claims.all()) {
            if (claim->status.phase != "Bound" || claim->spec.volume_name == meta.name)
                enqueue(claim_key(claim->metadata));
        }
    });
    caches->classes.listen([caches, enqueue](const api::ObjectMeta*, const api::ObjectMeta*) {
        for (const api::PersistentVolumeClaim* claim : caches->claims.all()) {
            if (claim->status.phase != "Bound") enqueue(claim_key(claim->metadata));
        }
    });
    enqueue_claims_of_pods(caches->pods, enqueue);
}

namespace {

Task<Result<void>> act_on_volume(FindVolumeHost host_of, api::Effect effect) {
    const std::string node(json::text_at(effect.args, "/node"));
    const std::string volume(json::text_at(effect.args, "/volume"));
    const Bytes size{json::integer_at(effect.args, "/size").value_or(0)};
    VolumeHost* const host = host_of(node);
    if (host == nullptr) co_return fail(ErrorKind::unavailable, "node \"" + node + "\" is not run by this process");
    Result<void> done;
    if (effect.verb == "make volume") {
        const Result<std::string> path = co_await host->make_volume(volume, size, json::bool_at(effect.args, "/block"));
        if (!path) done = std::unexpected(path.error());
    } else if (effect.verb == "grow volume") {
        done = co_await host->grow_volume(volume, size);
    } else {
        done = co_await host->delete_volume(volume);
    }
    co_return done;
}

ProvisionView fill_provision(const Caches& caches, const NodeDirectory& directory_of, const WorkKey& key) {
    ProvisionView view;
    view.key = key;
    const api::PersistentVolumeClaim* claim = caches.claims.get(key.ns, key.name);
    view.claim = copy(claim);
    if (claim == nullptr) return view;
    view.storage_class = copy(caches.classes.get("", class_of(*claim)));
    const std::string name =
        claim->spec.volume_name.empty() ? volume_name_for(claim->metadata.uid) : claim->spec.volume_name;
    view.volume = copy(caches.volumes.get("", name));
    view.nodes = count_rooms(caches.nodes, caches.pods, caches.volumes, caches.claims, caches.classes);
    for (NodeRoom& room : view.nodes) {
        room.directory = directory_of(room.name);
        // The claim's own request is counted with its selected node already.
        const std::string* selected = claim->metadata.annotation(kSelectedNode);
        if (selected != nullptr && *selected == room.name && claim->spec.volume_name.empty() && !view.volume)
            room.used = room.used - claim->spec.request();
    }
    return view;
}

}  // namespace

void add_provisioner(kube::Engine& engine, NodeDirectory directory_of, FindVolumeHost host_of) {
    const auto caches = std::make_shared<Caches>(engine);
    kube::Controller controller;
    controller.name = "local.berth.dev";
    controller.user = {"system:serviceaccount:kube-system:local-provisioner", {"system:authenticated"}};
    controller.plan = [caches, directory_of](const WorkKey& key) {
        if (key.kind == &api::kVolume) {
            ReclaimView view{key, copy(caches->volumes.get("", key.name)), true};
            if (view.volume) view.node_exists = caches->nodes.get("", node_of(*view.volume)) != nullptr;
            return reclaim(view);
        }
        return provision(fill_provision(*caches, directory_of, key));
    };
    controller.effect = [host_of](api::Effect effect) { return act_on_volume(host_of, std::move(effect)); };
    const auto enqueue = engine.add(std::move(controller));
    caches->claims.listen([enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        enqueue(claim_key(after != nullptr ? *after : *before));
    });
    caches->volumes.listen([caches, enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        enqueue(volume_key(meta));
        const api::PersistentVolume* volume = after == nullptr ? nullptr : caches->volumes.get("", meta.name);
        if (volume != nullptr && volume->spec.claim_ref)
            enqueue({&api::kClaim, volume->spec.claim_ref->ns, volume->spec.claim_ref->name});
        if (after != nullptr) return;
        for (const api::PersistentVolumeClaim* claim : caches->claims.all()) {  // room was made
            if (claim->status.phase == "Pending") enqueue(claim_key(claim->metadata));
        }
    });
    caches->nodes.listen([caches, enqueue](const api::ObjectMeta*, const api::ObjectMeta*) {
        for (const api::PersistentVolumeClaim* claim : caches->claims.all()) {
            if (claim->status.phase != "Bound") enqueue(claim_key(claim->metadata));
        }
    });
}

void add_protection(kube::Engine& engine) {
    const auto caches = std::make_shared<Caches>(engine);
    kube::Controller controller;
    controller.name = "protection-controller";
    controller.user = {"system:serviceaccount:kube-system:protection-controller", {"system:authenticated"}};
    controller.plan = [caches](const WorkKey& key) {
        if (key.kind == &api::kVolume) return protect_volume({key, copy(caches->volumes.get("", key.name))});
        ClaimProtectionView view{key, copy(caches->claims.get(key.ns, key.name)), false};
        view.is_used = std::ranges::any_of(caches->pods.all(key.ns), [&](const api::Pod* pod) {
            return !pod->spec.node_name.empty() && Caches::uses(*pod, key.name);
        });
        return protect_claim(view);
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
