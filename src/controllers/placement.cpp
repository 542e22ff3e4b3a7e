#include "controllers/placement.hpp"

#include "controllers/contenders.hpp"
#include "placement/names.hpp"
#include "placement/vm/sync.hpp"
#include "placement/vmi/holder.hpp"
#include "placement/vmi/sync.hpp"

namespace berth::controllers {
namespace {

using kube::WorkKey;
namespace rules = placement;

const kube::User& identity() {
    static const kube::User user{
        "system:serviceaccount:kubevirt:kubevirt-controller",
        {"system:serviceaccounts", "system:serviceaccounts:kubevirt", "system:authenticated"},
    };
    return user;
}

using Name = std::pair<std::string, std::string>;

void add_claims(std::set<Name>& out, const std::string& ns, const std::vector<api::VmVolume>& volumes) {
    for (const api::VmVolume& volume : volumes) {
        if (!volume.claim_name().empty()) out.insert({ns, volume.claim_name()});
    }
}

std::set<Name> claims_of_vmi(const api::VirtualMachineInstance& vmi) {
    std::set<Name> out;
    add_claims(out, vmi.metadata.ns, vmi.spec.volumes);
    return out;
}

// Those of its volumes, and those that its disks are cloned from.
std::set<Name> claims_of_vm(const api::VirtualMachine& vm) {
    std::set<Name> out;
    if (vm.spec.vmi_template) add_claims(out, vm.metadata.ns, vm.spec.vmi_template->spec.volumes);
    for (const api::DataVolumeTemplate& entry : vm.spec.data_volume_templates) {
        out.insert({vm.metadata.ns, entry.metadata.name});
        if (!entry.spec.source || !entry.spec.source->pvc) continue;
        const api::NamedSource& source = *entry.spec.source->pvc;
        out.insert({source.ns.empty() ? vm.metadata.ns : source.ns, source.name});
    }
    return out;
}

// What both controllers read.
struct Caches {
    Caches(kube::Engine& e, rules::Config offered)
        : engine(e),
          base(std::move(offered)),
          machines(e.cache<api::VirtualMachine>(api::kVirtualMachine)),
          instances(e.cache<api::VirtualMachineInstance>(api::kVmi)),
          pods(e.cache<api::Pod>(api::kPod)),
          claims(e.cache<api::PersistentVolumeClaim>(api::kClaim)),
          disks(e.cache<api::DataVolume>(api::kDataVolume)),
          revisions(e.cache<api::ControllerRevision>(api::kControllerRevision)),
          cdi_configs(e.cache<api::CdiConfig>(api::kCdiConfig)),
          kubevirts(e.cache<api::KubeVirt>(api::kKubeVirt)),
          vms_of(machines, claims_of_vm),
          vmis_of(instances, claims_of_vmi),
          pods_of(pods) {}

    kube::Engine& engine;
    rules::Config base;
    rules::Config config;  ///< read at the start of each pass
    kube::Cache<api::VirtualMachine>& machines;
    kube::Cache<api::VirtualMachineInstance>& instances;
    kube::Cache<api::Pod>& pods;
    kube::Cache<api::PersistentVolumeClaim>& claims;
    kube::Cache<api::DataVolume>& disks;
    kube::Cache<api::ControllerRevision>& revisions;
    kube::Cache<api::CdiConfig>& cdi_configs;
    kube::Cache<api::KubeVirt>& kubevirts;
    VolumeUsers<api::VirtualMachine> vms_of;
    VolumeUsers<api::VirtualMachineInstance> vmis_of;
    ClaimUsers pods_of;

    void read_config() {
        const std::vector<const api::KubeVirt*> all = kubevirts.all();
        config = all.empty() ? base : rules::config_from(base, *all.front());
    }

    [[nodiscard]] std::optional<rules::Failed> failed(const std::string& controller, const WorkKey& key) const {
        const std::optional<kube::Failure> failure = engine.last_failure(controller, key);
        if (!failure) return {};
        return rules::Failed{failure->intent, failure->error.kind, failure->error.message};
    }
};

// --- VM
// ------------------------------------------------------------------------------------------------------------------

constexpr const char* kVmController = "virtualmachine-controller";

void fill_templates(const Caches& caches, rules::vm::View& view) {
    const std::string& ns = view.vm->metadata.ns;
    for (const api::DataVolumeTemplate& wanted : view.vm->spec.data_volume_templates) {
        rules::vm::Template entry{.wanted = &wanted};
        entry.disk = caches.disks.get(ns, wanted.metadata.name);
        entry.claim = caches.claims.get(ns, wanted.metadata.name);
        if (wanted.spec.source && wanted.spec.source->pvc) {
            const api::NamedSource& source = *wanted.spec.source->pvc;
            entry.clone_source = caches.claims.get(source.ns.empty() ? ns : source.ns, source.name);
        }
        view.templates.push_back(entry);
    }
    if (!view.vm->spec.vmi_template) return;
    for (const api::VmVolume& volume : view.vm->spec.vmi_template->spec.volumes) {
        if (volume.claim_name().empty()) continue;
        rules::vm::Disk disk{.volume = &volume};
        disk.claim = caches.claims.get(ns, volume.claim_name());
        if (volume.data_volume) disk.named = caches.disks.get(ns, volume.data_volume->name);
        view.disks.push_back(disk);
    }
}

api::Plan plan_vm(Caches& caches, const WorkKey& key) {
    const auto entry = caches.machines.entry(key.ns, key.name);
    if (!entry) return api::settled();
    caches.read_config();
    rules::vm::View view;
    view.now = caches.engine.clock().now();
    view.vm = &entry->object;
    view.document = entry->document.get();
    view.config = &caches.config;
    view.failed = caches.failed(kVmController, key);
    if (const api::VirtualMachineInstance* vmi = caches.instances.get(key.ns, key.name)) {
        const api::OwnerReference* owner = vmi->metadata.controller();
        view.name_is_taken = owner != nullptr && owner->uid != entry->object.metadata.uid;
        if (!view.name_is_taken) view.vmi = vmi;
    }
    fill_templates(caches, view);
    view.revisions = caches.revisions.owned_by(entry->object.metadata.uid);
    return rules::vm::plan(view);
}

// --- VMI
// -----------------------------------------------------------------------------------------------------------------

constexpr const char* kVmiController = "virtualmachineinstance-controller";

void fill_disks(const Caches& caches, rules::vmi::View& view) {
    const std::string& ns = view.vmi->metadata.ns;
    for (const api::VmVolume& volume : view.vmi->spec.volumes) {
        if (volume.claim_name().empty()) continue;
        rules::vmi::Disk disk{.volume = &volume};
        disk.claim = caches.claims.get(ns, volume.claim_name());
        if (volume.data_volume) disk.named = caches.disks.get(ns, volume.data_volume->name);
        if (disk.claim != nullptr) {
            const api::OwnerReference* owner = disk.claim->metadata.controller();
            if (owner != nullptr && owner->kind == "DataVolume") disk.owner = caches.disks.get(ns, owner->name);
            const auto contenders = contenders_for(
                {ns, disk.claim->metadata.name}, caches.vmis_of, caches.pods_of, caches.pods, caches.instances
            );
            disk.held_by = rules::vmi::holder_of(*view.vmi, *disk.claim, contenders);
        }
        view.disks.push_back(disk);
    }
}

api::Plan plan_vmi(Caches& caches, const WorkKey& key) {
    const auto entry = caches.instances.entry(key.ns, key.name);
    if (!entry) return api::settled();
    caches.read_config();
    rules::vmi::View view;
    view.now = caches.engine.clock().now();
    view.vmi = &entry->object;
    view.config = &caches.config;
    view.failed = caches.failed(kVmiController, key);
    fill_disks(caches, view);
    view.pods = caches.pods.owned_by(view.vmi->metadata.uid);
    for (const api::PersistentVolumeClaim* claim : caches.claims.all(key.ns)) {
        const std::string* state_of = claim->metadata.label("persistent-state-for");
        if (state_of != nullptr && *state_of == key.name) view.backend = claim;
    }
    if (const api::OwnerReference* owner = view.vmi->metadata.controller()) {
        const api::VirtualMachine* vm = caches.machines.get(key.ns, owner->name);
        view.has_vm = vm != nullptr && vm->metadata.uid == owner->uid;
    }
    view.cdi_config = caches.cdi_configs.get("", "config");
    return rules::vmi::plan(view);
}

// --- what wakes them
// -----------------------------------------------------------------------------------------------------

const api::ObjectMeta& either(const api::ObjectMeta* before, const api::ObjectMeta* after) {
    return after != nullptr ? *after : *before;
}

}  // namespace

void add_vm_controller(kube::Engine& engine, placement::Config base) {
    const auto caches = std::make_shared<Caches>(engine, std::move(base));
    kube::Controller controller;
    controller.name = kVmController;
    controller.user = identity();
    controller.plan = [caches](const WorkKey& key) { return plan_vm(*caches, key); };
    const auto enqueue = engine.add(std::move(controller));
    const auto by_name = [enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = either(before, after);
        enqueue({&api::kVirtualMachine, meta.ns, meta.name});
    };
    caches->machines.listen(by_name);
    caches->instances.listen(by_name);
    const auto users = [caches, enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = either(before, after);
        const api::OwnerReference* owner = meta.controller();
        if (owner != nullptr && owner->kind == "VirtualMachine") enqueue({&api::kVirtualMachine, meta.ns, owner->name});
        for (const api::VirtualMachine* vm : caches->vms_of.of({meta.ns, meta.name})) {
            enqueue({&api::kVirtualMachine, vm->metadata.ns, vm->metadata.name});
        }
    };
    caches->disks.listen(users);
    caches->claims.listen(users);
    caches->kubevirts.listen([caches, enqueue](const api::ObjectMeta*, const api::ObjectMeta*) {
        for (const api::VirtualMachine* vm : caches->machines.all())
            enqueue({&api::kVirtualMachine, vm->metadata.ns, vm->metadata.name});
    });
}

void add_vmi_controller(kube::Engine& engine, placement::Config base) {
    const auto caches = std::make_shared<Caches>(engine, std::move(base));
    kube::Controller controller;
    controller.name = kVmiController;
    controller.user = identity();
    controller.plan = [caches](const WorkKey& key) { return plan_vmi(*caches, key); };
    const auto enqueue = engine.add(std::move(controller));
    const auto by_name = [enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = either(before, after);
        enqueue({&api::kVmi, meta.ns, meta.name});
    };
    caches->instances.listen(by_name);
    caches->machines.listen(by_name);
    // Who waits for a claim looks again when another machine that names it, or a pod that does, has changed.
    // These listeners belong to what they look at, so they do not own it.
    const Caches* const known = caches.get();
    const auto waiting = [known, enqueue](const Name& claim) {
        for (const api::VirtualMachineInstance* vmi : known->vmis_of.of(claim)) {
            if (vmi->status.phase == "Pending") enqueue({&api::kVmi, vmi->metadata.ns, vmi->metadata.name});
        }
    };
    caches->vmis_of.listen(waiting);
    caches->pods_of.listen([waiting](const std::string& ns, const std::string& claim) { waiting({ns, claim}); });
    caches->pods.listen([enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = either(before, after);
        const api::OwnerReference* owner = meta.controller();
        if (owner == nullptr) return;
        if (owner->kind == "VirtualMachineInstance") enqueue({&api::kVmi, meta.ns, owner->name});
    });
    const auto users = [caches, enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = either(before, after);
        for (const api::VirtualMachineInstance* vmi : caches->vmis_of.of({meta.ns, meta.name})) {
            enqueue({&api::kVmi, vmi->metadata.ns, vmi->metadata.name});
        }
    };
    caches->disks.listen(users);
    caches->claims.listen(users);
}

}  // namespace berth::controllers
