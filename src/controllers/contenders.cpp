#include "controllers/contenders.hpp"

#include "hotplug/pod/names.hpp"

namespace berth::controllers {
namespace {

const api::VirtualMachineInstance* find(
    const kube::Cache<api::VirtualMachineInstance>& machines,
    const std::string& ns,
    const std::string& name,
    const Uid& uid
) {
    const api::VirtualMachineInstance* machine = machines.get(ns, name);
    return machine != nullptr && machine->metadata.uid == uid ? machine : nullptr;
}

}  // namespace

const api::VirtualMachineInstance* machine_of(
    const api::Pod& pod, const kube::Cache<api::Pod>& pods, const kube::Cache<api::VirtualMachineInstance>& machines
) {
    const std::string& ns = pod.metadata.ns;
    const api::OwnerReference* owner = pod.metadata.controller();
    if (owner == nullptr) return nullptr;
    if (owner->kind == "VirtualMachineInstance") return find(machines, ns, owner->name, owner->uid);
    if (owner->kind != "Pod") return nullptr;
    const api::Pod* launcher = pods.get(ns, owner->name);
    if (launcher != nullptr && launcher->metadata.uid == owner->uid) {
        const api::OwnerReference* machine = launcher->metadata.controller();
        return machine == nullptr ? nullptr : find(machines, ns, machine->name, machine->uid);
    }
    const std::string* name = pod.metadata.annotation(hotplug::kOwnerVmiName);
    const std::string* uid = pod.metadata.annotation(hotplug::kOwnerVmiUid);
    return name == nullptr || uid == nullptr ? nullptr : find(machines, ns, *name, Uid{*uid});
}

std::vector<placement::vmi::Contender> contenders_for(
    const std::pair<std::string, std::string>& claim,
    const VolumeUsers<api::VirtualMachineInstance>& machines_of,
    const ClaimUsers& pods_of,
    const kube::Cache<api::Pod>& pods,
    const kube::Cache<api::VirtualMachineInstance>& machines
) {
    std::vector<placement::vmi::Contender> out;
    for (const api::VirtualMachineInstance* machine : machines_of.of(claim)) out.push_back({machine, false});
    for (const api::Pod* pod : pods_of.of(claim.first, claim.second)) {
        const api::VirtualMachineInstance* machine = pod->is_terminal() ? nullptr : machine_of(*pod, pods, machines);
        if (machine == nullptr) continue;
        const auto known = std::ranges::find(out, machine, &placement::vmi::Contender::machine);
        if (known == out.end()) {
            out.push_back({machine, true});
        } else {
            known->has_pod = true;
        }
    }
    return out;
}

}  // namespace berth::controllers
