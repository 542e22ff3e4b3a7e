#include "controllers/hotplug_attach.hpp"

#include "hotplug/attach/facts.hpp"
#include "hotplug/attach/sync.hpp"
#include "placement/names.hpp"
#include "placement/vmi/facts.hpp"

namespace berth::controllers {
namespace {

using kube::WorkKey;
namespace rules = hotplug::attach;

constexpr const char* kController = "hotplug-controller";

using Caches = MachineCaches;
using Name = MachineCaches::Name;

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
    const std::vector<rules::Pair> carried =
        view.launcher == nullptr ? std::vector<rules::Pair>() : rules::pairs_of(*view.launcher);
    for (const api::VmVolume& volume : view.vmi->spec.volumes) {
        const std::string claim = volume.claim_name();
        const bool is_carried = std::ranges::find(carried, rules::Pair{volume.name, claim}) != carried.end();
        if (claim.empty() || !volume.is_hotpluggable() || is_carried) continue;
        view.disks.push_back(caches.disk_of(*view.vmi, volume));
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
    const auto entry = caches.instances.entry(key.ns, key.name);
    if (!entry) return api::settled();
    caches.read_config();
    rules::View view;
    view.now = caches.engine.clock().now();
    view.vmi = &entry->object;
    fill_pods(caches, view);
    fill_disks(caches, view);
    fill_claims(caches, view);
    view.cdi_config = caches.cdi_configs.get("", "config");
    view.failed = caches.failed(kController, key);
    view.config = &caches.config;
    return rules::plan(view);
}

// --- what wakes it ---------------------------------------------------------------------------------------------------

// A pod that is gone is not in the cache any more: who owned it is in its last metadata.
std::optional<WorkKey> key_of_owner(const Caches& caches, const api::ObjectMeta& pod) {
    api::Pod known;
    known.metadata = pod;
    const api::VirtualMachineInstance* machine = caches.machine_of(known);
    if (machine == nullptr) return {};
    return placement::key_of(*machine);
}

}  // namespace

void add_hotplug_attach_controller(const std::shared_ptr<MachineCaches>& caches) {
    kube::Controller controller;
    controller.name = kController;
    controller.user = machine_identity();
    controller.plan = [caches](const WorkKey& key) { return plan(*caches, key); };
    const auto enqueue = caches->engine.add(std::move(controller));
    // These listeners belong to what they look at, so they do not own it.
    const Caches* const known = caches.get();
    using Meta = const api::ObjectMeta*;
    caches->instances.listen([enqueue](Meta before, Meta after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        enqueue({&api::kVmi, meta.ns, meta.name});
    });
    caches->pods.listen([known, enqueue](Meta before, Meta after) {
        if (const auto key = key_of_owner(*known, after != nullptr ? *after : *before)) enqueue(*key);
    });
    const auto users = [known, enqueue](const Name& claim) {
        for (const api::VirtualMachineInstance* machine : known->vmis_of.of(claim)) {
            enqueue(placement::key_of(*machine));
        }
    };
    // Who waits for a claim looks again when another machine that names it, or a pod that does, has changed.
    caches->vmis_of.listen(users);
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
