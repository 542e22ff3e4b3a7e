#include "solo/rules/storage/provisioner.hpp"

#include "solo/controllers/rooms.hpp"
#include "solo/controllers/storage.hpp"
#include "solo/controllers/storage_caches.hpp"

namespace berth::solo {
namespace {

using kube::WorkKey;

constexpr const char* kName = "local.berth.dev";

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

std::optional<VolumeFailure> failure_of(const kube::Engine& engine, const WorkKey& key) {
    const std::optional<kube::Failure> last = engine.last_failure(kName, key);
    if (!last || last->error.kind == ErrorKind::conflict) return {};
    return VolumeFailure{last->error.message, last->error.kind == ErrorKind::gone};
}

ProvisionView fill_claim(
    const kube::Engine& engine, const StorageCaches& caches, const NodeDirectory& directory_of, const WorkKey& key
) {
    ProvisionView view;
    view.key = key;
    const api::PersistentVolumeClaim* claim = caches.claims.get(key.ns, key.name);
    view.claim = copy_of(claim);
    if (claim == nullptr) return view;
    view.storage_class = copy_of(caches.classes.get("", class_of(*claim)));
    const std::string& bound = claim->spec.volume_name;
    view.volume = copy_of(caches.volumes.get("", bound.empty() ? volume_name_for(claim->metadata.uid) : bound));
    view.failure = failure_of(engine, key);
    view.nodes = count_rooms(caches.nodes, caches.pods, caches.volumes, caches.claims, caches.classes);
    for (NodeRoom& room : view.nodes) {
        room.directory = directory_of(room.name);
        // The claim's own request is counted with its selected node already.
        const std::string* selected = claim->metadata.annotation(kSelectedNode);
        const bool is_counted = selected != nullptr && *selected == room.name && bound.empty() && !view.volume;
        if (is_counted) room.used = room.used - claim->spec.request();
    }
    return view;
}

ReclaimView fill_volume(const kube::Engine& engine, const StorageCaches& caches, const WorkKey& key) {
    ReclaimView view;
    view.key = key;
    view.volume = copy_of(caches.volumes.get("", key.name));
    if (view.volume) view.node_exists = caches.nodes.get("", node_of(*view.volume)) != nullptr;
    view.failure = failure_of(engine, key);
    return view;
}

}  // namespace

void add_provisioner(kube::Engine& engine, NodeDirectory directory_of, FindVolumeHost host_of) {
    const auto caches = std::make_shared<StorageCaches>(engine);
    kube::Controller controller;
    controller.name = kName;
    controller.user = {"system:serviceaccount:kube-system:local-provisioner", {"system:authenticated"}};
    controller.parallel = 8;
    controller.plan = [caches, directory_of, &engine](const WorkKey& key) {
        if (key.kind == &api::kVolume) return reclaim(fill_volume(engine, *caches, key));
        return provision(fill_claim(engine, *caches, directory_of, key));
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
        if (volume != nullptr && volume->spec.claim_ref) {
            enqueue({&api::kClaim, volume->spec.claim_ref->ns, volume->spec.claim_ref->name});
        }
        if (after == nullptr) enqueue_unbound(*caches, enqueue);  // room was made
    });
    caches->nodes.listen([caches, enqueue](const api::ObjectMeta*, const api::ObjectMeta*) {
        enqueue_unbound(*caches, enqueue);
    });
}

}  // namespace berth::solo
