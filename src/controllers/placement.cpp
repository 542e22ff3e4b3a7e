#include "controllers/placement.hpp"

#include "placement/names.hpp"
#include "placement/vm/sync.hpp"
#include "placement/vmi/sync.hpp"

namespace berth::controllers {
namespace {

using kube::WorkKey;
namespace rules = placement;

using Caches = MachineCaches;
using Name = MachineCaches::Name;

// --- VM --------------------------------------------------------------------------------------------------------------

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

// --- VMI -------------------------------------------------------------------------------------------------------------

constexpr const char* kVmiController = "virtualmachineinstance-controller";

void fill_disks(const Caches& caches, rules::vmi::View& view) {
    for (const api::VmVolume& volume : view.vmi->spec.volumes) {
        if (!volume.claim_name().empty()) view.disks.push_back(caches.disk_of(*view.vmi, volume));
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

// --- what wakes them -------------------------------------------------------------------------------------------------

const api::ObjectMeta& either(const api::ObjectMeta* before, const api::ObjectMeta* after) {
    return after != nullptr ? *after : *before;
}

}  // namespace

void add_vm_controller(const std::shared_ptr<MachineCaches>& caches) {
    kube::Controller controller;
    controller.name = kVmController;
    controller.user = machine_identity();
    controller.plan = [caches](const WorkKey& key) { return plan_vm(*caches, key); };
    const auto enqueue = caches->engine.add(std::move(controller));
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

void add_vmi_controller(const std::shared_ptr<MachineCaches>& caches) {
    kube::Controller controller;
    controller.name = kVmiController;
    controller.user = machine_identity();
    controller.plan = [caches](const WorkKey& key) { return plan_vmi(*caches, key); };
    const auto enqueue = caches->engine.add(std::move(controller));
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
