#include "solo/rules/storage/binder.hpp"
#include "solo/controllers/storage.hpp"
#include "solo/controllers/storage_caches.hpp"

namespace berth::solo {
namespace {

using kube::WorkKey;

struct Binder {
    explicit Binder(kube::Engine& e) : engine(e), caches(e) {}

    kube::Engine& engine;
    StorageCaches caches;
    kube::Engine::Enqueue enqueue;
    std::set<Uid> confirmed;  ///< claims that the API said are gone; a UID never comes back

    [[nodiscard]] ClaimView fill_claim(const WorkKey& key) const {
        ClaimView view;
        view.key = key;
        const api::PersistentVolumeClaim* claim = caches.claims.get(key.ns, key.name);
        view.claim = copy_of(claim);
        if (claim == nullptr) return view;
        view.storage_class = copy_of(caches.classes.get("", class_of(*claim)));
        view.default_class = default_class(caches.classes.all());
        view.volumes = caches.volumes.all();
        view.pods = caches.users_of(key);
        return view;
    }

    [[nodiscard]] VolumeView fill_volume(const WorkKey& key) const {
        VolumeView view;
        view.key = key;
        view.volume = copy_of(caches.volumes.get("", key.name));
        if (!view.volume || !view.volume->spec.claim_ref) return view;
        const api::ObjectReference& ref = *view.volume->spec.claim_ref;
        view.claim = copy_of(caches.claims.get(ref.ns, ref.name));
        view.is_confirmed = confirmed.contains(ref.uid);
        return view;
    }

    Task<Result<void>> look_for_claim(api::Effect effect) {
        const std::string volume(json::text_at(effect.args, "/volume"));
        const Uid uid{std::string(json::text_at(effect.args, "/uid"))};
        api::Key key{
            &api::kClaim,
            std::string(json::text_at(effect.args, "/namespace")),
            std::string(json::text_at(effect.args, "/name"))
        };
        const Result<kube::Document> found = co_await engine.api().get(std::move(key));
        if (!found && found.error().kind != ErrorKind::not_found) co_return std::unexpected(found.error());
        const bool is_gone = !found || json::text_at(**found, "/metadata/uid") != uid.value;
        if (is_gone) confirmed.insert(uid);
        enqueue({&api::kVolume, "", volume});
        co_return Result<void>();
    }

    void volume_changed(const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        enqueue(volume_key(meta));
        const api::PersistentVolume* volume = after == nullptr ? nullptr : caches.volumes.get("", meta.name);
        if (volume != nullptr && volume->spec.claim_ref) {
            enqueue({&api::kClaim, volume->spec.claim_ref->ns, volume->spec.claim_ref->name});
            return;
        }
        // A free volume may fit any claim, and a lost one is missed by its claim.
        for (const api::PersistentVolumeClaim* claim : caches.claims.all()) {
            if (claim->status.phase != "Bound" || claim->spec.volume_name == meta.name)
                enqueue(claim_key(claim->metadata));
        }
    }

    void claim_changed(const api::ObjectMeta& meta) {
        enqueue(claim_key(meta));
        for (const api::PersistentVolume* volume : caches.volumes.all()) {
            const auto& ref = volume->spec.claim_ref;
            if (ref && ref->ns == meta.ns && ref->name == meta.name) enqueue(volume_key(volume->metadata));
        }
    }
};

}  // namespace

void add_volume_binder(kube::Engine& engine) {
    const auto state = std::make_shared<Binder>(engine);
    kube::Controller controller;
    controller.name = "persistentvolume-controller";
    controller.user = {"system:serviceaccount:kube-system:persistent-volume-binder", {"system:authenticated"}};
    controller.parallel = 8;
    controller.plan = [state](const WorkKey& key) {
        return key.kind == &api::kVolume ? bind_volume(state->fill_volume(key)) : bind_claim(state->fill_claim(key));
    };
    controller.effect = [state](api::Effect effect) { return state->look_for_claim(std::move(effect)); };
    state->enqueue = engine.add(std::move(controller));
    state->caches.claims.listen([state](const auto* before, const auto* after) {
        state->claim_changed(after != nullptr ? *after : *before);
    });
    state->caches.volumes.listen([state](const auto* before, const auto* after) {
        state->volume_changed(before, after);
    });
    state->caches.classes.listen([state](const auto*, const auto*) { enqueue_unbound(state->caches, state->enqueue); });
    enqueue_claims_of_pods(state->caches.pods, state->enqueue);
}

}  // namespace berth::solo
