// Builds a view of a VM in one expression: seen_vm("Always").disk("root", "Succeeded").vmi("Running").
#pragma once

#include "placement/testing/objects.hpp"
#include "placement/vm/view.hpp"

namespace berth::placement::testing {

struct SeenVm {
    api::VirtualMachine vm;
    json::Value document;  ///< filled by view(); what the VM looks like in the store
    std::optional<api::VirtualMachineInstance> machine_of_vm;
    std::vector<api::PersistentVolumeClaim> claims;
    std::vector<api::DataVolume> data_volumes;
    std::vector<api::ControllerRevision> revisions;
    bool name_is_taken = false;
    std::optional<Failed> failed;
    Config config = solo_config();
    Timestamp now = kNow;

    /// A template, and its DataVolume in this phase; "absent": none yet.
    SeenVm& disk(const std::string& name, const std::string& phase) {
        api::DataVolumeTemplate entry;
        entry.metadata.name = name;
        entry.spec.source.emplace().blank = json::Object();
        entry.spec.pvc.emplace().access_modes = {"ReadWriteOnce"};
        vm.spec.data_volume_templates.push_back(entry);
        vm.spec.vmi_template->spec.volumes.push_back(data_volume_volume(name));
        if (phase == "absent") return *this;
        data_volumes.push_back(data_volume(name, phase));
        give_owner(data_volumes.back().metadata, "VirtualMachine", "web", "vm-1");
        return *this;
    }
    SeenVm& claim_of(const std::string& name, const std::string& phase) {
        claims.push_back(claim(name, phase));
        return *this;
    }
    SeenVm& disk_condition(api::Condition one) {
        data_volumes.back().status.conditions.push_back(std::move(one));
        return *this;
    }
    SeenVm& bare_claim(const std::string& name, const std::string& phase) {
        vm.spec.vmi_template->spec.volumes.push_back(claim_volume(name));
        return claim_of(name, phase);
    }
    SeenVm& vmi(const std::string& phase) {
        machine_of_vm = machine();
        machine_of_vm->status.phase = phase;
        machine_of_vm->status.phase_transition_timestamps = {
            {"Pending", kNow}
        };
        machine_of_vm->metadata.finalizers = {kVmFinalizer, kVmiFinalizer};
        machine_of_vm->status.virtual_machine_revision_name = revision_name(vm.metadata.uid, 1);
        give_owner(machine_of_vm->metadata, "VirtualMachine", "web", "vm-1");
        if (phase == "Running") has_run();
        return *this;
    }
    SeenVm& has_run() {
        machine_of_vm->status.phase_transition_timestamps.push_back({"Running", kNow});
        return *this;
    }
    SeenVm& vmi_condition(api::Condition one) {
        machine_of_vm->status.conditions.push_back(std::move(one));
        return *this;
    }
    SeenVm& vmi_deleting() {
        machine_of_vm->metadata.deletion_timestamp = kNow;
        return *this;
    }
    SeenVm& request(const std::string& action, const std::string& uid = "") {
        vm.status.state_change_requests.push_back({.action = action, .uid = Uid{uid}});
        return *this;
    }
    SeenVm& acted_on(const std::string& strategy) {
        vm.status.run_strategy = strategy;
        return *this;
    }
    SeenVm& start_failures(std::int64_t count, const std::string& last, Timestamp retry_after) {
        vm.status.start_failure = api::StartFailure{count, Uid{last}, retry_after};
        return *this;
    }
    SeenVm& has(api::Condition one) {
        vm.status.conditions.push_back(std::move(one));
        return *this;
    }
    SeenVm& deleted() {
        vm.metadata.deletion_timestamp = kNow;
        return *this;
    }
    SeenVm& annotated(const std::string& key, const std::string& value) {
        vm.metadata.annotations[key] = value;
        return *this;
    }
    SeenVm& finalizer(const std::string& one) {
        vm.metadata.finalizers.push_back(one);
        return *this;
    }
    SeenVm& unmarked() {
        vm.metadata.finalizers.clear();
        return *this;
    }
    SeenVm& create_failed(const std::string& what, const std::string& text) {
        failed = Failed{"create " + what, ErrorKind::invalid, text};
        return *this;
    }

    [[nodiscard]] vm::View view() {
        document = document_of(api::kVirtualMachine, vm);
        vm::View out;
        out.now = now;
        out.vm = &vm;
        out.document = &document;
        if (!name_is_taken && machine_of_vm) out.vmi = &*machine_of_vm;
        out.name_is_taken = name_is_taken;
        for (const api::DataVolumeTemplate& entry : vm.spec.data_volume_templates) {
            vm::Template one{
                .wanted = &entry,
                .disk = find(data_volumes, entry.metadata.name),
                .claim = find(claims, entry.metadata.name)
            };
            if (entry.spec.source && entry.spec.source->pvc)
                one.clone_source = find(claims, entry.spec.source->pvc->name);
            out.templates.push_back(one);
        }
        for (const api::VmVolume& volume : vm.spec.vmi_template->spec.volumes) {
            vm::Disk one{.volume = &volume, .claim = find(claims, volume.claim_name())};
            if (volume.data_volume) one.named = find(data_volumes, volume.data_volume->name);
            out.disks.push_back(one);
        }
        for (const api::ControllerRevision& one : revisions) out.revisions.push_back(&one);
        out.failed = failed;
        out.config = &config;
        return out;
    }

private:
    template <class T>
    static const T* find(const std::vector<T>& list, std::string_view name) {
        const auto it = std::ranges::find_if(list, [&](const T& one) { return one.metadata.name == name; });
        return it == list.end() ? nullptr : &*it;
    }
};

/// "default/web" with UID vm-1, marked, with this strategy.
inline SeenVm seen_vm(const std::string& strategy) {
    SeenVm out;
    out.vm.metadata = meta("web", "vm-1");
    out.vm.metadata.generation = 1;
    out.vm.metadata.finalizers = {kVmFinalizer};
    out.vm.metadata.annotations = {
        {kLatestApiVersion,  "v1"},
        {kStorageApiVersion, "v1"}
    };
    out.vm.spec.run_strategy = strategy;
    out.vm.spec.vmi_template.emplace().spec = machine().spec;
    return out;
}

}  // namespace berth::placement::testing
