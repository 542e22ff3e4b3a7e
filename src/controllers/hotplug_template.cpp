#include "controllers/hotplug_template.hpp"

#include "api/kubevirt.hpp"
#include "hotplug/template/sync.hpp"

namespace berth::controllers {
namespace {

using kube::WorkKey;
namespace rules = hotplug::tmpl;

constexpr const char* kName = "hotplug-template-controller";

hotplug::Gates gates(const MachineCaches& caches) {
    const std::vector<const api::KubeVirt*> all = caches.kubevirts.all();
    if (all.empty()) return hotplug::gates_of(nullptr);
    const json::Value document = json::Object{
        {"spec", all.front()->spec}
    };
    return hotplug::gates_of(&document);
}

api::Plan plan(const MachineCaches& caches, const WorkKey& key) {
    const auto vm = caches.machines.entry(key.ns, key.name);
    if (!vm) return api::settled();
    const auto vmi = caches.instances.entry(key.ns, key.name);
    rules::View view;
    view.now = caches.engine.clock().now();
    view.vm = &vm->object;
    view.vm_document = vm->document.get();
    view.gates = gates(caches);
    const api::OwnerReference* owner = vmi == nullptr ? nullptr : vmi->object.metadata.controller();
    if (owner != nullptr && owner->uid == vm->object.metadata.uid) {
        view.vmi = &vmi->object;
        view.vmi_document = vmi->document.get();
    }
    // A conflict is no failure: the view was a moment too old.
    const auto failure = caches.engine.last_failure(kName, key);
    if (failure && failure->error.kind != ErrorKind::conflict && failure->error.kind != ErrorKind::gone)
        view.failed = failure->error.message;
    return rules::plan(view);
}

}  // namespace

void add_hotplug_template_controller(const std::shared_ptr<MachineCaches>& caches) {
    kube::Controller controller;
    controller.name = kName;
    controller.user = machine_identity();
    controller.plan = [caches](const WorkKey& key) { return plan(*caches, key); };
    const auto enqueue = caches->engine.add(std::move(controller));
    const auto by_name = [enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
        const api::ObjectMeta& meta = after != nullptr ? *after : *before;
        enqueue({&api::kVirtualMachine, meta.ns, meta.name});
    };
    caches->machines.listen(by_name);
    caches->instances.listen(by_name);
    caches->kubevirts.listen([caches, enqueue](const api::ObjectMeta*, const api::ObjectMeta*) {
        for (const api::VirtualMachine* vm : caches->machines.all())
            enqueue({&api::kVirtualMachine, vm->metadata.ns, vm->metadata.name});
    });
}

}  // namespace berth::controllers
