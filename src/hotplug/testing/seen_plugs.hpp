// Builds a view of a running machine's plugged volumes in one expression. No product code includes this.
#pragma once

#include "hotplug/attach/view.hpp"
#include "hotplug/pod/names.hpp"
#include "placement/testing/objects.hpp"
#include "placement/vmi/volumes.hpp"

namespace berth::hotplug::testing {

using namespace placement::testing;

struct SeenPlugs {
    SeenPlugs() {
        vmi.status.phase = "Running";
        vmi.status.node_name = "n1";
        vmi.status.selinux_context = "none";
        launcher.metadata.labels = {
            {"kubevirt.io", "virt-launcher"}
        };
        launcher.metadata.uid = Uid{"launcher-1"};
    }

    api::VirtualMachineInstance vmi = machine();
    api::Pod launcher = pod("virt-launcher-web", "Running", false);
    std::vector<api::PersistentVolumeClaim> claims;
    std::vector<api::DataVolume> data_volumes;
    std::vector<api::Pod> pods;
    std::vector<api::Pod> triggers;
    std::vector<api::Pod> left;
    std::map<std::string, std::string> holders;
    std::optional<placement::Failed> failed;
    placement::Config config = placement::solo_config();
    Timestamp now = kNow;
    bool launcher_is_ready = true;

    // --- the spec
    /// A volume "v" on claim "c", in the spec.
    SeenPlugs& volume(const std::string& name, const std::string& claim_name) {
        vmi.spec.volumes.push_back(claim_volume(claim_name));
        vmi.spec.volumes.back().name = name;
        vmi.spec.volumes.back().persistent_volume_claim->hotpluggable = true;
        return *this;
    }
    SeenPlugs& has_claim(const std::string& name, const std::string& phase = "Bound") {
        claims.push_back(claim(name, phase));
        return *this;
    }
    /// Volume and bound claim of one name.
    SeenPlugs& plugged(const std::string& name) { return volume(name, name).has_claim(name); }
    /// A DataVolume in this phase with its claim, and the volume that names it.
    SeenPlugs& disk(const std::string& name, const std::string& phase) {
        vmi.spec.volumes.push_back(data_volume_volume(name));
        vmi.spec.volumes.back().data_volume->hotpluggable = true;
        has_claim(name, phase == "WaitForFirstConsumer" || phase == "PendingPopulation" ? "Pending" : "Bound");
        give_owner(claims.back().metadata, "DataVolume", name, "dv-" + name);
        data_volumes.push_back(data_volume(name, phase));
        return *this;
    }
    SeenPlugs& mode(const std::string& access) {
        claims.back().spec.access_modes = {access};
        return *this;
    }
    SeenPlugs& block() {
        claims.back().spec.volume_mode = "Block";
        return *this;
    }
    SeenPlugs& held_by(const std::string& claim_name, const std::string& machine) {
        holders[claim_name] = machine;
        return *this;
    }

    // --- the status
    SeenPlugs& entry(const std::string& name, const std::string& phase, const std::string& claim_name) {
        api::VmVolumeStatus one{.name = name, .phase = phase};
        one.hotplug_volume.emplace();
        one.persistent_volume_claim_info.emplace().claim_name = claim_name;
        if (const auto* known = find(claims, claim_name)) {
            one.persistent_volume_claim_info = placement::vmi::summary_of(*known, nullptr);
        }
        vmi.status.volume_status.push_back(std::move(one));
        return *this;
    }
    SeenPlugs& entry(const std::string& name, const std::string& phase) { return entry(name, phase, name); }
    /// The last entry names this pod, and its UID.
    SeenPlugs& through(const std::string& pod_name) {
        vmi.status.volume_status.back().hotplug_volume = api::HotplugVolumeStatus{pod_name, Uid{pod_name}};
        return *this;
    }
    SeenPlugs& permanent(const std::string& name) {
        vmi.status.volume_status.push_back({.name = name, .target = "vda"});
        return *this;
    }

    // --- pods
    /// An attachment pod with these volumes ("v" or "v=claim"): "Pending", "Running" (and ready), "Failed".
    SeenPlugs& attached(
        const std::string& name, const std::vector<std::string>& volumes, const std::string& phase = "Running"
    ) {
        pods.push_back(hotplug_pod(name, volumes, phase));
        return *this;
    }
    SeenPlugs& trigger(const std::string& name, const std::string& volume, const std::string& phase = "Running") {
        triggers.push_back(hotplug_pod(name, {volume}, phase));
        triggers.back().metadata.annotations[placement::kTempPod] = "true";
        return *this;
    }
    SeenPlugs& left_pod(const std::string& name) {
        left.push_back(hotplug_pod(name, {"v"}, "Running"));
        return *this;
    }
    SeenPlugs& going() {
        pods.back().metadata.deletion_timestamp = now;
        return *this;
    }
    SeenPlugs& made(Duration before_now) {
        pods.back().metadata.creation_timestamp = now - before_now;
        return *this;
    }
    SeenPlugs& after(Duration span) {
        now += span;
        return *this;
    }

    [[nodiscard]] attach::View view() const {
        attach::View out;
        out.now = now;
        out.vmi = &vmi;
        for (const api::VmVolume& one : vmi.spec.volumes) {
            attach::Disk disk{.volume = &one};
            disk.claim = find(claims, one.claim_name());
            if (one.data_volume) disk.named = find(data_volumes, one.data_volume->name);
            if (disk.claim != nullptr && disk.claim->metadata.controller() != nullptr) {
                disk.owner = find(data_volumes, disk.claim->metadata.controller()->name);
            }
            if (const auto it = holders.find(one.claim_name()); it != holders.end()) disk.held_by = it->second;
            out.disks.push_back(std::move(disk));
        }
        for (const auto& one : claims) out.claims.push_back(&one);
        out.launcher = &launcher;
        out.launcher_is_ready = launcher_is_ready;
        for (const auto& one : pods) out.pods.push_back(&one);
        for (const auto& one : triggers) out.triggers.push_back(&one);
        for (const auto& one : left) out.left.push_back(&one);
        out.failed = failed;
        out.config = &config;
        return out;
    }

private:
    static api::Pod hotplug_pod(
        const std::string& name, const std::vector<std::string>& volumes, const std::string& phase
    ) {
        api::Pod out;
        out.metadata = meta(name, name);
        out.status.phase = phase;
        for (const std::string& text : volumes) {
            const std::size_t sign = text.find('=');
            api::PodVolume one{.name = text.substr(0, sign)};
            one.persistent_volume_claim = api::ClaimVolumeSource{.claim_name = text.substr(sign + 1)};
            out.spec.volumes.push_back(std::move(one));
        }
        if (phase == "Pending") return out;
        out.spec.node_name = "n1";
        api::ContainerStatus status{.name = kContainer, .ready = phase == "Running"};
        status.state = phase == "Running" ? running_state() : exited_state(1);
        out.status.container_statuses.push_back(std::move(status));
        return out;
    }

    template <class T>
    static const T* find(const std::vector<T>& list, std::string_view name) {
        const auto it = std::ranges::find_if(list, [&](const T& one) { return one.metadata.name == name; });
        return it == list.end() ? nullptr : &*it;
    }
};

inline SeenPlugs seen() { return {}; }

}  // namespace berth::hotplug::testing
