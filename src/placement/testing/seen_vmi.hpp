// Builds a view of a VMI in one expression: seen().disk("root", "WaitForFirstConsumer").temp_pod("Running").
#pragma once

#include "placement/testing/objects.hpp"
#include "placement/vmi/view.hpp"

namespace berth::placement::testing {

struct SeenVmi {
    api::VirtualMachineInstance vmi = machine();
    std::vector<api::PersistentVolumeClaim> claims;
    std::vector<api::DataVolume> data_volumes;
    std::vector<api::Pod> pods;
    std::map<std::string, std::string> holders;  ///< claim → who has it
    std::optional<api::PersistentVolumeClaim> backend;
    std::optional<api::CdiConfig> cdi_config;
    std::optional<Failed> failed;
    bool has_vm = false;
    Config config = solo_config();
    Timestamp now = kNow;

    // --- disks
    /// A DataVolume in this phase, its claim (Bound unless the phase says otherwise) and the volume that names it.
    SeenVmi& disk(const std::string& name, const std::string& phase) {
        vmi.spec.volumes.push_back(data_volume_volume(name));
        return owned_claim(name, phase);
    }
    /// The same for a volume that names the claim.
    SeenVmi& claimed_disk(const std::string& name, const std::string& phase) {
        vmi.spec.volumes.push_back(claim_volume(name));
        return owned_claim(name, phase);
    }
    SeenVmi& bare_claim(const std::string& name, const std::string& phase = "Pending") {
        vmi.spec.volumes.push_back(claim_volume(name));
        claims.push_back(claim(name, phase));
        return *this;
    }
    SeenVmi& missing_claim(const std::string& name) {
        vmi.spec.volumes.push_back(claim_volume(name));
        return *this;
    }
    /// Its claim's DataVolume is gone.
    SeenVmi& ownerless_disk(const std::string& name) {
        disk(name, "Succeeded");
        data_volumes.pop_back();
        return *this;
    }
    SeenVmi& plugged_claim(const std::string& name) {
        vmi.spec.volumes.push_back(claim_volume(name));
        vmi.spec.volumes.back().persistent_volume_claim->hotpluggable = true;
        return *this;
    }
    SeenVmi& held_by(const std::string& name, const std::string& machine) {
        holders[name] = machine;
        return *this;
    }
    SeenVmi& disk_ready(const std::string& status) {
        data_volumes.back().status.conditions.push_back(condition("Ready", status));
        return *this;
    }
    SeenVmi& deleting_claim() {
        claims.back().metadata.deletion_timestamp = kNow;
        return *this;
    }

    // --- pods
    SeenVmi& temp_pod(const std::string& phase) {
        pods.push_back(pod("virt-launcher-web-temp", phase, true));
        return *this;
    }
    SeenVmi& launcher(const std::string& phase) {
        pods.push_back(pod("virt-launcher-web-real", phase, false));
        return *this;
    }
    SeenVmi& pod_deleting() {
        pods.back().metadata.deletion_timestamp = kNow;
        return *this;
    }
    SeenVmi& compute(json::Value state) {
        pods.back().status.container_statuses = {
            {.name = "compute", .ready = true, .state = std::move(state)}
        };
        return *this;
    }
    SeenVmi& helper(bool ready) {
        pods.back().status.container_statuses.push_back({.name = "volumecd", .ready = ready, .state = running_state()});
        return *this;
    }
    SeenVmi& pod_condition(api::Condition one) {
        pods.back().status.conditions.push_back(std::move(one));
        return *this;
    }
    SeenVmi& quality(const std::string& qos_class) {
        pods.back().status.qos_class = qos_class;
        return *this;
    }

    // --- the machine
    SeenVmi& phase(const std::string& name) {
        vmi.status.phase = name;
        if (name == "Scheduled" || name == "Running") vmi.status.node_name = "n1";
        return *this;
    }
    SeenVmi& deleted() {
        vmi.metadata.deletion_timestamp = kNow;
        return *this;
    }
    SeenVmi& has(api::Condition one) {
        vmi.status.conditions.push_back(std::move(one));
        return *this;
    }
    SeenVmi& dedicated() {
        vmi.spec.domain.cpu->dedicated_cpu_placement = true;
        return *this;
    }
    SeenVmi& keeps_tpm() {
        vmi.spec.domain.devices.tpm = json::Object{
            {"persistent", true}
        };
        return *this;
    }
    SeenVmi& of_vm(bool exists) {
        give_owner(vmi.metadata, "VirtualMachine", "web", "vm-1");
        vmi.metadata.finalizers.push_back(kVmFinalizer);
        has_vm = exists;
        return *this;
    }
    SeenVmi& create_failed(ErrorKind kind, const std::string& text) {
        failed = Failed{"create pod/default/virt-launcher-web-x", kind, text};
        return *this;
    }

    [[nodiscard]] vmi::View view() const {
        vmi::View out;
        out.now = now;
        out.vmi = &vmi;
        for (const api::VmVolume& volume : vmi.spec.volumes) {
            if (volume.claim_name().empty()) continue;
            vmi::Disk one{.volume = &volume};
            one.claim = find(claims, volume.claim_name());
            if (volume.data_volume) one.named = find(data_volumes, volume.data_volume->name);
            if (one.claim != nullptr && one.claim->metadata.controller() != nullptr) {
                one.owner = find(data_volumes, one.claim->metadata.controller()->name);
            }
            if (const auto it = holders.find(volume.claim_name()); it != holders.end()) one.held_by = it->second;
            out.disks.push_back(std::move(one));
        }
        for (const api::Pod& one : pods) out.pods.push_back(&one);
        out.backend = backend ? &*backend : nullptr;
        out.has_vm = has_vm;
        out.cdi_config = cdi_config ? &*cdi_config : nullptr;
        out.failed = failed;
        out.config = &config;
        return out;
    }

private:
    SeenVmi& owned_claim(const std::string& name, const std::string& phase) {
        const bool is_unbound = phase == "WaitForFirstConsumer" || phase == "PendingPopulation" || phase == "Pending";
        claims.push_back(claim(name, is_unbound ? "Pending" : "Bound"));
        give_owner(claims.back().metadata, "DataVolume", name, "dv-" + name);
        data_volumes.push_back(data_volume(name, phase));
        return *this;
    }

    template <class T>
    static const T* find(const std::vector<T>& list, std::string_view name) {
        const auto it = std::ranges::find_if(list, [&](const T& one) { return one.metadata.name == name; });
        return it == list.end() ? nullptr : &*it;
    }
};

inline SeenVmi seen() { return {}; }

}  // namespace berth::placement::testing
