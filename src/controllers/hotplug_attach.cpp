#include "controllers/hotplug_attach.hpp"

#include "controllers/contenders.hpp"
#include "hotplug/attach/facts.hpp"
#include "hotplug/attach/sync.hpp"
#include "placement/names.hpp"
#include "placement/vmi/facts.hpp"

namespace berth::controllers {
namespace {

using kube::WorkKey;
namespace rules = hotplug::attach;

constexpr const char* kController = "hotplug-controller";

using Name = std::pair<std::string, std::string>;

const kube::User& identity() {
    static const kube::User user{
        "system:serviceaccount:kubevirt:kubevirt-controller",
        {"system:serviceaccounts", "system:serviceaccounts:kubevirt", "system:authenticated"},
    };
    return user;
}

std::set<Name> claims_of(const api::VirtualMachineInstance& vmi) {
    std::set<Name> out;
    for (const api::VmVolume& volume : vmi.spec.volumes) {
        if (!volume.claim_name().empty()) out.insert({vmi.metadata.ns, volume.claim_name()});
    }
    return out;
}

struct Caches {
    Caches(kube::Engine& e, placement::Config offered)
        : engine(e),
          base(std::move(offered)),
          machines(e.cache<api::VirtualMachineInstance>(api::kVmi)),
          pods(e.cache<api::Pod>(api::kPod)),
          claims(e.cache<api::PersistentVolumeClaim>(api::kClaim)),
          disks(e.cache<api::DataVolume>(api::kDataVolume)),
          cdi_configs(e.cache<api::CdiConfig>(api::kCdiConfig)),
          kubevirts(e.cache<api::KubeVirt>(api::kKubeVirt)),
          machines_of(machines, claims_of),
          pods_of(pods) {}

    kube::Engine& engine;
    placement::Config base;
    placement::Config config;  ///< read at the start of each pass
    kube::Cache<api::VirtualMachineInstance>& machines;
    kube::Cache<api::Pod>& pods;
    kube::Cache<api::PersistentVolumeClaim>& claims;
    kube::Cache<api::DataVolume>& disks;
    kube::Cache<api::CdiConfig>& cdi_configs;
    kube::Cache<api::KubeVirt>& kubevirts;
    VolumeUsers<api::VirtualMachineInstance> machines_of;
    ClaimUsers pods_of;

    void read_config() {
        const std::vector<const api::KubeVirt*> all = kubevirts.all();
        config = all.empty() ? base : placement::config_from(base, *all.front());
    }
};

// --- the view --------------------------------------------------------------------------------------------------------

void fill_pods(const Caches& caches, rules::View& view) {
    placement::vmi::View machine{.vmi = view.vmi};
    machine.pods = caches.pods.owned_by(view.vmi->metadata.uid);
    view.launcher = placement::vmi::launcher(machine);
    view.launcher_is_ready = view.launcher != nullptr && placement::vmi::is_ready(*view.launcher);
    for (const api::Pod* owner : machine.pods) {
        for (const api::Pod* pod : caches.pods.owned_by(owner->metadata.uid)) {
            if (owner != view.launcher) {
                if (owner->is_terminal()) view.left.push_back(pod);
            } else {
                (placement::is_temp(*pod) ? view.triggers : view.pods).push_back(pod);
            }
        }
    }
}

void fill_disks(const Caches& caches, rules::View& view) {
    const std::string& ns = view.vmi->metadata.ns;
    const std::vector<hotplug::attach::Pair> carried =
        view.launcher == nullptr ? std::vector<hotplug::attach::Pair>() : rules::pairs_of(*view.launcher);
    for (const api::VmVolume& volume : view.vmi->spec.volumes) {
        const std::string claim = volume.claim_name();
        const bool is_carried = std::ranges::find(carried, rules::Pair{volume.name, claim}) != carried.end();
        if (claim.empty() || !volume.is_hotpluggable() || is_carried) continue;
        rules::Disk disk{.volume = &volume};
        disk.claim = caches.claims.get(ns, claim);
        if (volume.data_volume) disk.named = caches.disks.get(ns, volume.data_volume->name);
        if (disk.claim != nullptr) {
            const api::OwnerReference* owner = disk.claim->metadata.controller();
            if (owner != nullptr && owner->kind == "DataVolume") disk.owner = caches.disks.get(ns, owner->name);
            const auto contenders =
                contenders_for({ns, claim}, caches.machines_of, caches.pods_of, caches.pods, caches.machines);
            disk.held_by = placement::vmi::holder_of(*view.vmi, *disk.claim, contenders);
        }
        view.disks.push_back(std::move(disk));
    }
}

void fill_claims(const Caches& caches, rules::View& view) {
    std::set<std::string> names;
    for (const rules::Disk& disk : view.disks) names.insert(disk.volume->claim_name());
    for (const api::VmVolumeStatus& entry : view.vmi->status.volume_status) {
        if (entry.hotplug_volume) names.insert(rules::claim_of(entry));
    }
    for (const api::Pod* pod : view.pods) {
        for (const rules::Pair& pair : rules::pairs_of(*pod)) names.insert(pair.claim);
    }
    for (const std::string& name : names) {
        if (const auto* claim = caches.claims.get(view.vmi->metadata.ns, name)) view.claims.push_back(claim);
    }
}

api::Plan plan(Caches& caches, const WorkKey& key) {
    const auto entry = caches.machines.entry(key.ns, key.name);
    if (!entry) return api::settled();
    caches.read_config();
    rules::View view;
    view.now = caches.engine.clock().now();
    view.vmi = &entry->object;
    fill_pods(caches, view);
    fill_disks(caches, view);
    fill_claims(caches, view);
    view.cdi_config = caches.cdi_configs.get("", "config");
    if (const auto failure = caches.engine.last_failure(kController, key)) {
        view.failed = placement::Failed{failure->intent, failure->error.kind, failure->error.message};
    }
    view.config = &caches.config;
    return rules::plan(view);
}

// --- what wakes it ---------------------------------------------------------------------------------------------------

// A pod that is gone is not in the cache any more: who owned it is in its last metadata.
std::optional<WorkKey> key_of_owner(const Caches& caches, const api::ObjectMeta& pod) {
    api::Pod known;
    known.metadata = pod;
    const api::VirtualMachineInstance* machine = machine_of(known, caches.pods, caches.machines);
    if (machine == nullptr) return {};
    return placement::key_of(*machine);
}

}  // namespace

void add_hotplug_attach_controller(kube::Engine& engine, placement::Config base) {
    const auto caches = std::make_shared<Caches>(engine, std::move(base));
    kube::Controller controller;
    controller.name = kController;
    controller.user = identity();
    controller.plan = [caches](const WorkKey& key) { return plan(*caches, key); };
    const auto enqueue = engine.add(std::move(controller));
    // These listeners belong to what they look at, so they do not own it.
    const Caches* const known = caches.get();
    using Meta = const api::ObjectMeta*;
    caches->machines.listen([enqueue](Meta before, Meta after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        enqueue({&api::kVmi, meta.ns, meta.name});
    });
    caches->pods.listen([known, enqueue](Meta before, Meta after) {
        if (const auto key = key_of_owner(*known, after != nullptr ? *after : *before)) enqueue(*key);
    });
    const auto users = [known, enqueue](const Name& claim) {
        for (const api::VirtualMachineInstance* machine : known->machines_of.of(claim)) {
            enqueue(placement::key_of(*machine));
        }
    };
    // Who waits for a claim looks again when another machine that names it, or a pod that does, has changed.
    caches->machines_of.listen(users);
    caches->pods_of.listen([users](const std::string& ns, const std::string& claim) { users({ns, claim}); });
    // Every change of a claim counts, its binding too.
    const auto by_name = [users](Meta before, Meta after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        users({meta.ns, meta.name});
    };
    caches->claims.listen(by_name);
    caches->disks.listen(by_name);
}

}  // namespace berth::controllers
