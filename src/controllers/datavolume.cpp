#include "controllers/datavolume.hpp"

#include "api/cdi.hpp"
#include "controllers/claim_users.hpp"
#include "datavolume/dv/sync.hpp"
#include "datavolume/import/sync.hpp"
#include "datavolume/names.hpp"
#include "datavolume/profile/sync.hpp"

namespace berth::controllers {
namespace {

namespace rules = datavolume;

constexpr const char* kDataVolumeController = "datavolume-import-controller";
constexpr const char* kImportController = "import-controller";
constexpr const char* kProfileController = "storageprofile-controller";

const kube::User& identity() {
    static const kube::User user{
        "system:serviceaccount:cdi:cdi-sa",
        {"system:serviceaccounts", "system:serviceaccounts:cdi", "system:authenticated"},
    };
    return user;
}

/// The failed create of the last pass, as text; none when it succeeded or something else failed.
std::optional<std::string> failed_create(kube::Engine& engine, const char* controller, const api::Key& key) {
    const std::optional<kube::Failure> failure = engine.last_failure(controller, key);
    if (!failure || !failure->intent.starts_with("create ")) return {};
    return failure->error.message;
}

/// The caches all three controllers read, and what is asked of them together.
struct Caches {
    explicit Caches(kube::Engine& e)
        : engine(e),
          dvs(e.cache<api::DataVolume>(api::kDataVolume)),
          claims(e.cache<api::PersistentVolumeClaim>(api::kClaim)),
          pods(e.cache<api::Pod>(api::kPod)),
          volumes(e.cache<api::PersistentVolume>(api::kVolume)),
          classes(e.cache<api::StorageClass>(api::kStorageClass)),
          profiles(e.cache<api::StorageProfile>(api::kStorageProfile)),
          cdi_configs(e.cache<api::CdiConfig>(api::kCdiConfig)),
          cdis(e.cache<api::CdiConfig>(api::kCdi)),
          users(pods) {}

    kube::Engine& engine;
    kube::Cache<api::DataVolume>& dvs;
    kube::Cache<api::PersistentVolumeClaim>& claims;
    kube::Cache<api::Pod>& pods;
    kube::Cache<api::PersistentVolume>& volumes;
    kube::Cache<api::StorageClass>& classes;
    kube::Cache<api::StorageProfile>& profiles;
    kube::Cache<api::CdiConfig>& cdi_configs;
    kube::Cache<api::CdiConfig>& cdis;  ///< read as documents: the typed form of a CDI is not needed
    ClaimUsers users;
    ProgressBoard* progress = nullptr;
    std::shared_ptr<const ProgressBoard::Listener> on_progress;

    template <class T>
    [[nodiscard]] static std::optional<T> copy(const T* object) {
        return object == nullptr ? std::nullopt : std::optional<T>(*object);
    }
    [[nodiscard]] rules::Settings settings() const {
        const auto config = cdi_configs.entry("", "config");
        const std::vector<const api::CdiConfig*> all = cdis.all();
        const auto cdi = all.empty() ? nullptr : cdis.entry("", all.front()->metadata.name);
        return rules::read_settings(cdi ? cdi->document.get() : nullptr, config ? config->document.get() : nullptr);
    }
    [[nodiscard]] std::optional<api::StorageClass> class_of(const api::PersistentVolumeClaim& claim) const {
        return copy(classes.get("", claim.spec.storage_class_name.value_or("")));
    }
    [[nodiscard]] std::vector<api::PersistentVolume> available_volumes() const {
        std::vector<api::PersistentVolume> out;
        for (const api::PersistentVolume* volume : volumes.all()) {
            if (volume->status.phase == "Available") out.push_back(*volume);
        }
        return out;
    }
};

rules::RenderInput render_input(const Caches& caches, const api::DataVolume& dv, const json::Value& document) {
    rules::RenderInput out;
    out.form = dv.spec.storage ? rules::ClaimForm::storage : rules::ClaimForm::pvc;
    const bool is_storage = out.form == rules::ClaimForm::storage;
    if (const json::Value* written = json::find(document, is_storage ? "/spec/storage" : "/spec/pvc"))
        out.document = *written;
    out.spec = is_storage ? *dv.spec.storage : dv.spec.pvc.value_or(api::ClaimSpec{});
    out.is_archive = dv.spec.content_type == "archive";
    out.settings = caches.settings();
    const auto* chosen =
        rules::choose_class(out.spec.storage_class_name, out.form, out.is_archive, caches.classes.all());
    if (chosen == nullptr) {
        if (is_storage) out.volumes = caches.available_volumes();
        return out;
    }
    out.storage_class = *chosen;
    out.profile = Caches::copy(caches.profiles.get("", chosen->metadata.name));
    return out;
}

api::Plan plan_data_volume(const Caches& caches, const api::Key& key) {
    const auto entry = caches.dvs.entry(key.ns, key.name);
    if (!entry) return api::settled();
    rules::dv::View view{.now = caches.engine.clock().now(), .dv = entry->object};
    view.claim = Caches::copy(caches.claims.get(key.ns, key.name));
    if (view.claim) view.claim_class = caches.class_of(*view.claim);
    view.render = render_input(caches, view.dv, *entry->document);
    view.settings = view.render.settings;
    if (const auto text = failed_create(caches.engine, kDataVolumeController, key)) view.failed_create = {*text};
    if (view.claim && caches.progress != nullptr) view.progress = caches.progress->figure(view.claim->metadata.uid);
    return rules::dv::sync(view);
}

api::Plan plan_import(const Caches& caches, const api::Key& key) {
    const api::PersistentVolumeClaim* claim = caches.claims.get(key.ns, key.name);
    if (claim == nullptr) return api::settled();
    rules::import::View view{.now = caches.engine.clock().now(), .claim = *claim, .settings = caches.settings()};
    const std::string worker = rules::importer_name(key.name);
    view.pod = Caches::copy(caches.pods.get(key.ns, worker));
    for (const api::Pod* pod : caches.users.of(key.ns, key.name)) {
        if (pod->metadata.name == worker || pod->is_terminal()) continue;
        view.users.push_back({pod->metadata.name, pod->metadata.annotation(rules::kProvisioningPod) != nullptr});
    }
    view.failed_create = failed_create(caches.engine, kImportController, key);
    return rules::import::sync(view);
}

api::Plan plan_profile(const Caches& caches, const api::Key& key) {
    return rules::profile::sync({
        .name = key.name,
        .storage_class = Caches::copy(caches.classes.get("", key.name)),
        .profile = Caches::copy(caches.profiles.get("", key.name)),
    });
}

struct Queues {
    kube::Engine::Enqueue dv;
    kube::Engine::Enqueue import;
    kube::Engine::Enqueue profile;
};

// Settings are for everyone who is not finished, claims without a DataVolume too.
void wake_unfinished(const Caches& caches, const Queues& queues) {
    for (const api::DataVolume* dv : caches.dvs.all()) {
        if (dv->status.phase != "Succeeded") queues.dv({&api::kDataVolume, dv->metadata.ns, dv->metadata.name});
    }
    for (const api::PersistentVolumeClaim* claim : caches.claims.all()) {
        if (claim->metadata.annotation(rules::kImportSource) == nullptr) continue;
        queues.import({&api::kClaim, claim->metadata.ns, claim->metadata.name});
    }
}

// Classes, profiles and volumes are for those that could not state their claim, or whose class was not there.
void wake_claimless(const Caches& caches, const Queues& queues) {
    for (const api::DataVolume* dv : caches.dvs.all()) {
        if (!dv->status.claim_name.empty() && dv->status.phase != "Pending") continue;
        queues.dv({&api::kDataVolume, dv->metadata.ns, dv->metadata.name});
    }
}

// A volume comes with every claim, so only those are woken that said they wait for one.
void wake_unrenderable(const Caches& caches, const Queues& queues) {
    for (const api::DataVolume* dv : caches.dvs.all()) {
        const api::Condition* bound = api::find_condition(dv->status.conditions, "Bound");
        if (bound == nullptr || bound->reason != "ErrClaimNotValid") continue;
        queues.dv({&api::kDataVolume, dv->metadata.ns, dv->metadata.name});
    }
}

const api::ObjectMeta& either(const api::ObjectMeta* before, const api::ObjectMeta* after) {
    return after != nullptr ? *after : *before;
}

void wake_on_changes(const std::shared_ptr<Caches>& caches, const Queues& queues) {
    using Meta = const api::ObjectMeta*;
    caches->dvs.listen([queues](Meta before, Meta after) {
        const api::ObjectMeta& meta = either(before, after);
        queues.dv({&api::kDataVolume, meta.ns, meta.name});
    });
    caches->claims.listen([queues](Meta before, Meta after) {
        const api::ObjectMeta& meta = either(before, after);
        queues.dv({&api::kDataVolume, meta.ns, meta.name});
        queues.import({&api::kClaim, meta.ns, meta.name});
    });
    caches->users.listen([queues](const std::string& ns, const std::string& claim) {
        queues.import({&api::kClaim, ns, claim});
    });
    Caches* const all = caches.get();
    const auto wake_all = [all, queues](Meta, Meta) { wake_unfinished(*all, queues); };
    const auto wake_some = [all, queues](Meta, Meta) { wake_claimless(*all, queues); };
    const auto wake_profile = [queues](Meta before, Meta after) {
        queues.profile({&api::kStorageProfile, "", either(before, after).name});
    };
    caches->cdi_configs.listen(wake_all);
    caches->cdis.listen(wake_all);
    caches->classes.listen(wake_some);
    caches->classes.listen(wake_profile);
    caches->profiles.listen(wake_some);
    caches->profiles.listen(wake_profile);
    caches->volumes.listen([all, queues](Meta, Meta) { wake_unrenderable(*all, queues); });
}

}  // namespace

void add_datavolume_controllers(kube::Engine& engine, ProgressBoard* progress) {
    // Owned by the plans below, and so by the engine; the listeners live no longer than its caches.
    const auto caches = std::make_shared<Caches>(engine);
    caches->progress = progress;
    Queues queues;
    queues.dv = engine.add({
        .name = kDataVolumeController,
        .plan = [caches](const kube::WorkKey& key) { return plan_data_volume(*caches, key); },
        .user = identity(),
    });
    queues.import = engine.add({
        .name = kImportController,
        .plan = [caches](const kube::WorkKey& key) { return plan_import(*caches, key); },
        .user = identity(),
    });
    queues.profile = engine.add({
        .name = kProfileController,
        .plan = [caches](const kube::WorkKey& key) { return plan_profile(*caches, key); },
        .user = identity(),
    });
    wake_on_changes(caches, queues);
    if (progress == nullptr) return;
    caches->on_progress = std::make_shared<const ProgressBoard::Listener>([queues](const api::Key& claim) {
        queues.dv({&api::kDataVolume, claim.ns, claim.name});
    });
    progress->listen(caches->on_progress);
}

}  // namespace berth::controllers
