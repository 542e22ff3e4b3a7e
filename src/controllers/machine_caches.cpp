#include "controllers/machine_caches.hpp"

#include "hotplug/pod/names.hpp"
#include "placement/vmi/holder.hpp"

namespace berth::controllers {
namespace {

using Name = MachineCaches::Name;

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

const api::VirtualMachineInstance* find(
    const kube::Cache<api::VirtualMachineInstance>& machines,
    const std::string& ns,
    const std::string& name,
    const Uid& uid
) {
    const api::VirtualMachineInstance* machine = machines.get(ns, name);
    return machine != nullptr && machine->metadata.uid == uid ? machine : nullptr;
}

// Who wants a claim that only one machine may have at a time: those that name it, and those whose pods still do.
std::vector<placement::vmi::Contender> contenders_for(const MachineCaches& caches, const Name& claim) {
    std::vector<placement::vmi::Contender> out;
    for (const api::VirtualMachineInstance* machine : caches.vmis_of.of(claim)) out.push_back({machine, false});
    for (const api::Pod* pod : caches.pods_of.of(claim.first, claim.second)) {
        const api::VirtualMachineInstance* machine = pod->is_terminal() ? nullptr : caches.machine_of(*pod);
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

}  // namespace

const kube::User& machine_identity() {
    static const kube::User user{
        "system:serviceaccount:kubevirt:kubevirt-controller",
        {"system:serviceaccounts", "system:serviceaccounts:kubevirt", "system:authenticated"},
    };
    return user;
}

MachineCaches::MachineCaches(kube::Engine& e, placement::Config offered)
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

void MachineCaches::read_config() {
    const std::vector<const api::KubeVirt*> all = kubevirts.all();
    config = all.empty() ? base : placement::config_from(base, *all.front());
}

std::optional<placement::Failed> MachineCaches::failed(const std::string& controller, const kube::WorkKey& key) const {
    const std::optional<kube::Failure> failure = engine.last_failure(controller, key);
    if (!failure) return {};
    return placement::Failed{failure->intent, failure->error.kind, failure->error.message};
}

placement::vmi::Disk MachineCaches::disk_of(const api::VirtualMachineInstance& machine, const api::VmVolume& volume)
    const {
    const std::string& ns = machine.metadata.ns;
    placement::vmi::Disk disk{.volume = &volume};
    disk.claim = claims.get(ns, volume.claim_name());
    if (volume.data_volume) disk.named = disks.get(ns, volume.data_volume->name);
    if (disk.claim == nullptr) return disk;
    const api::OwnerReference* owner = disk.claim->metadata.controller();
    if (owner != nullptr && owner->kind == "DataVolume") disk.owner = disks.get(ns, owner->name);
    disk.held_by =
        placement::vmi::holder_of(machine, *disk.claim, contenders_for(*this, {ns, disk.claim->metadata.name}));
    return disk;
}

const api::VirtualMachineInstance* MachineCaches::machine_of(const api::Pod& pod) const {
    const std::string& ns = pod.metadata.ns;
    const api::OwnerReference* owner = pod.metadata.controller();
    if (owner == nullptr) return nullptr;
    if (owner->kind == "VirtualMachineInstance") return find(instances, ns, owner->name, owner->uid);
    if (owner->kind != "Pod") return nullptr;
    const api::Pod* launcher = pods.get(ns, owner->name);
    if (launcher != nullptr && launcher->metadata.uid == owner->uid) {
        const api::OwnerReference* machine = launcher->metadata.controller();
        return machine == nullptr ? nullptr : find(instances, ns, machine->name, machine->uid);
    }
    const std::string* name = pod.metadata.annotation(hotplug::kOwnerVmiName);
    const std::string* uid = pod.metadata.annotation(hotplug::kOwnerVmiUid);
    return name == nullptr || uid == nullptr ? nullptr : find(instances, ns, *name, Uid{*uid});
}

}  // namespace berth::controllers
