#include "node/plan/vmi.hpp"

#include "api/codec.hpp"
#include "base/ranges.hpp"

namespace berth::node {
namespace {

using api::Effect;
using api::Emit;
using api::Plan;

const api::VirtualMachineInstance& vmi(const View& view) { return *view.vmi; }
const agent::Report& report(const View& view) { return *view.report; }

Timestamp grace_end(const View& view) {
    const std::int64_t grace = vmi(view).spec.termination_grace_period_seconds.value_or(30);
    return *vmi(view).metadata.deletion_timestamp + std::chrono::seconds(grace);
}

// --- facts ---------------------------------------------------------------------------------------------------------------

bool is_elsewhere(const View& view) { return !is_ours(view); }
bool is_disconnected(const View& view) { return !view.report; }
bool has_crashed(const View& view) { return report(view).state == "crashed"; }
bool has_ended(const View& view) { return report(view).state == "shutoff"; }
bool has_no_guest_yet(const View& view) { return report(view).state.empty() || report(view).state == "starting"; }
bool is_deleted(const View& view) { return vmi(view).metadata.is_deleting(); }

// --- wants ---------------------------------------------------------------------------------------------------------------

Effect effect(const View& view, std::string verb) {
    const std::string& uid = view.launcher->metadata.uid.value;
    return {std::move(verb), api::print(view.key), json::Object{{"pod", uid}}};
}

Emit event(const View& view, std::string reason, std::string message, bool is_warning = false) {
    return {view.key, vmi(view).metadata.uid, is_warning, std::move(reason), std::move(message)};
}

void set_phase(const View& view, api::VmiStatus& status, std::string phase) {
    if (status.phase == phase) return;
    const bool is_new = std::ranges::none_of(status.phase_transition_timestamps, [&](const auto& t) { return t.phase == phase; });
    if (is_new) status.phase_transition_timestamps.push_back({phase, view.now});
    status.phase = std::move(phase);
}

void set_condition(const View& view, api::VmiStatus& status, api::Condition wanted) {
    const auto it = std::ranges::find(status.conditions, wanted.type, &api::Condition::type);
    if (it != status.conditions.end() && it->status == wanted.status && it->reason == wanted.reason && it->message == wanted.message) return;
    wanted.last_transition_time = view.now;
    if (it != status.conditions.end()) {
        *it = std::move(wanted);
    } else {
        status.conditions.push_back(std::move(wanted));
    }
}

void drop_condition(api::VmiStatus& status, std::string_view type) {
    std::erase_if(status.conditions, [&](const api::Condition& condition) { return condition.type == type; });
}

// LiveMigratable: False as long as a claim cannot be used on two nodes at once.
void set_migratable(const View& view, api::VmiStatus& status) {
    for (const api::VmVolume& volume : vmi(view).spec.volumes) {
        const std::string name = volume.claim_name();
        const auto claim = std::ranges::find_if(view.claims, [&](const auto& c) { return c.metadata.name == name; });
        if (name.empty() || claim == view.claims.end() || contains(claim->spec.access_modes, "ReadWriteMany")) continue;
        set_condition(view, status, {.type = "LiveMigratable", .status = "False", .reason = "DisksNotLiveMigratable", .message = "cannot migrate VMI: PVC " + name + " is not shared, live migration requires that all PVCs must be shared (using ReadWriteMany access mode)"});
        return;
    }
    set_condition(view, status, {.type = "LiveMigratable", .status = "True"});
}

void take_over_report(const View& view, api::VmiStatus& status) {
    for (const agent::DiskReport& disk : report(view).disks) {
        const auto it = std::ranges::find(status.volume_status, disk.name, &api::VmVolumeStatus::name);
        api::VmVolumeStatus& entry = it != status.volume_status.end() ? *it : status.volume_status.emplace_back(api::VmVolumeStatus{.name = disk.name});
        entry.target = disk.target;
        if (disk.size > 0) entry.size = disk.size;
    }
    std::ranges::sort(status.volume_status, {}, &api::VmVolumeStatus::name);
    if (!report(view).machine_type.empty()) status.machine = api::Machine{report(view).machine_type};
    if (report(view).error.empty()) {
        const api::Condition* known = api::find_condition(status.conditions, "Synchronized");
        if (known != nullptr && known->reason == "Synchronizing with the Domain failed.") drop_condition(status, "Synchronized");
    } else {
        set_condition(view, status, {.type = "Synchronized", .status = "False", .reason = "Synchronizing with the Domain failed.", .message = report(view).error});
    }
}

void add_status(const View& view, Plan& plan, const api::VmiStatus& desired) {
    auto changes = api::patch_between(vmi(view).status, desired);
    if (!changes) return;
    plan.add(api::Patch{view.key, api::Part::object, json::Object{{"status", std::move(*changes)}}, vmi(view).metadata.uid, vmi(view).metadata.resource_version});
}

Plan nothing(const View&) { return api::settled(); }

Plan await_launcher(const View& view) { return api::wait_for({"launcher", view.key, "the launcher of pod " + view.launcher->metadata.name + " does not answer yet"}); }

Plan end(const View& view, std::string_view phase) {
    Plan plan;
    api::VmiStatus status = vmi(view).status;
    set_phase(view, status, std::string(phase));
    add_status(view, plan, status);
    return plan;
}

Plan fail_machine(const View& view) { return end(view, "Failed").add(event(view, "Stopped", "The VirtualMachineInstance crashed.", true)); }

Plan finish_machine(const View& view) {
    const bool by_us = report(view).reason == "destroyed";
    Emit told = by_us ? event(view, "Deleted", "Signaled Deletion") : event(view, "Stopped", "The VirtualMachineInstance was shut down.");
    return end(view, "Succeeded").add(std::move(told));
}

Plan shut_down(const View& view) {
    Plan plan;
    plan.wait = api::Wait{"guest", view.key, "it is shutting down; it is switched off when its grace period ends"};
    if (view.now >= grace_end(view)) {
        plan.add(effect(view, "destroy domain"));
        plan.add(event(view, "Deleted", "Signaled Deletion"));
        return plan;
    }
    plan.look_again_at = grace_end(view);
    if (!view.shutdown_sent_at) {
        plan.add(effect(view, "shutdown domain"));
        plan.add(event(view, "ShuttingDown", "Signaled Graceful Shutdown"));
    }
    return plan;
}

Plan start_guest(const View& view) {
    Plan plan;
    api::VmiStatus status = vmi(view).status;
    take_over_report(view, status);
    add_status(view, plan, status);
    if (!view.synced) plan.add(effect(view, "sync domain"));
    if (!report(view).error.empty()) {
        plan.add(event(view, "SyncFailed", report(view).error, true));
        plan.wait = api::Wait{"user", view.key, report(view).error};
    } else {
        plan.wait = api::Wait{"launcher", view.key, "the guest is being started"};
    }
    return plan;
}

Plan tell_running(const View& view) {
    Plan plan;
    api::VmiStatus status = vmi(view).status;
    const bool has_just_started = status.phase == "Scheduled";
    set_phase(view, status, "Running");
    take_over_report(view, status);
    set_migratable(view, status);
    if (report(view).state == "paused") {
        set_condition(view, status, {.type = "Paused", .status = "True", .reason = "PausedByUser", .message = "VMI was paused by user"});
    } else {
        drop_condition(status, "Paused");
    }
    add_status(view, plan, status);
    if (has_just_started) plan.add(event(view, "Started", "VirtualMachineInstance started."));
    if (!view.synced) plan.add(effect(view, "sync domain"));
    return plan;
}

constexpr api::Rule<View> kSync[] = {
    {"I-15", "not-of-this-node", is_elsewhere, nothing},
    {"I-27", "launcher-answers-first", is_disconnected, await_launcher},
    {"I-29", "crashed-guest-fails-its-machine", has_crashed, fail_machine},
    {"I-31", "ended-guest-ends-its-machine", has_ended, finish_machine},
    {"V-30", "deleted-machine-shuts-its-guest-down", is_deleted, shut_down},
    {"I-27", "guest-is-started-once", has_no_guest_yet, start_guest},
    {"I-30", "running-guest-is-told", api::always<View>, tell_running},
};

}  // namespace

bool is_ours(const View& view) {
    return view.vmi && view.launcher && view.vmi->status.node_name == view.node &&
           (view.vmi->status.phase == "Scheduled" || view.vmi->status.phase == "Running");
}

api::Plan sync(const View& view) { return api::first_match(kSync, view); }

std::vector<agent::VolumePath> volume_paths(const api::VirtualMachineInstance& vmi, const std::vector<api::PersistentVolumeClaim>& claims) {
    std::vector<agent::VolumePath> out;
    for (const api::VmVolume& volume : vmi.spec.volumes) {
        agent::VolumePath path{.name = volume.name};
        const std::string claim_name = volume.claim_name();
        const auto claim = std::ranges::find_if(claims, [&](const auto& c) { return c.metadata.name == claim_name; });
        if (!claim_name.empty()) {
            if (claim == claims.end()) continue;
            path.block = claim->spec.is_block();
            path.path = path.block ? "/dev/" + volume.name : "/var/run/kubevirt-private/vmi-disks/" + volume.name + "/disk.img";
            path.read_only = (volume.persistent_volume_claim && volume.persistent_volume_claim->read_only) || volume.ephemeral.has_value();
            const auto capacity = claim->status.capacity.find("storage");
            path.size = (capacity == claim->status.capacity.end() ? claim->spec.request() : bytes_or_zero(capacity->second)).value;
            const api::OwnerReference* owner = claim->metadata.controller();
            path.create_if_absent = !path.block && (owner == nullptr || owner->kind != "DataVolume");
        } else if (volume.container_disk) {
            path.path = "/var/run/kubevirt/container-disks/" + volume.name + ".img";
            path.format = "";  // whatever the image holds
        } else if (volume.host_disk) {
            path.path = volume.host_disk->path;
        } else {
            continue;
        }
        out.push_back(std::move(path));
    }
    return out;
}

}  // namespace berth::node
