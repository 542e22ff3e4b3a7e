#include "node/plan/phases.hpp"

#include "base/ranges.hpp"
#include "node/plan/plugs.hpp"

namespace berth::node {
namespace {

using Status = api::VmVolumeStatus;

/// What is known of one volume that was or is plugged.
struct Facts {
    const Status& status;
    bool is_wanted = false;                       ///< in the spec, on the claim that the plug or the status is about
    bool is_plugged = false;                      ///< there is a plug, in place or only recorded, or one is being made
    bool is_mounted = false;                      ///< in place
    bool is_live = false;                         ///< the guest has it
    const agent::Detaching* detaching = nullptr;  ///< the guest was asked to let go

    [[nodiscard]] bool is_in(std::initializer_list<std::string_view> phases) const {
        return contains(phases, std::string_view(status.phase));
    }
};

struct Phase {
    const char* name;
    const char* reason;
    std::string message;
};

const api::VmVolume* volume_of(const View& view, const std::string& name) {
    const auto it = std::ranges::find(view.vmi->spec.volumes, name, &api::VmVolume::name);
    return it == view.vmi->spec.volumes.end() ? nullptr : &*it;
}

// With no plug to ask, the claim that the status speaks of decides: after a swap of claims the old one is not wanted.
bool is_wanted_by_status(const View& view, const Status& status) {
    const api::VmVolume* volume = volume_of(view, status.name);
    if (volume == nullptr || !volume->is_hotpluggable()) return false;
    const auto& info = status.persistent_volume_claim_info;
    return !info || info->claim_name.empty() || info->claim_name == volume->claim_name();
}

Facts facts_of(const View& view, const Status& status) {
    Facts out{.status = status};
    const Plug* plug = find_plug(view, status.name);
    out.is_wanted = plug != nullptr ? is_wanted(view, *plug) : is_wanted_by_status(view, status);
    out.is_plugged = plug != nullptr || !view.hotplug.plugs || contains(view.hotplug.busy, status.name);
    out.is_mounted = plug != nullptr && plug->in_place;
    if (!view.report) return out;
    out.is_live = contains(view.report->disks | std::views::transform(&agent::DiskReport::name), status.name);
    const auto detaching = std::ranges::find(view.report->detaching, status.name, &agent::Detaching::name);
    if (detaching != view.report->detaching.end()) out.detaching = &*detaching;
    return out;
}

// --- the lines of 9.0 that the node writes, in order
// --------------------------------------------------------------------

bool waits_for_guest(const Facts& facts) { return facts.is_live && !facts.is_wanted && facts.detaching != nullptr; }
// Removed, and the guest is about to be asked: what the status says stays true until there is an answer.
bool leaves(const Facts& facts) { return facts.is_live && !facts.is_wanted && facts.is_in({"Ready"}); }
bool is_in_guest(const Facts& facts) { return facts.is_live; }
bool has_come(const Facts& facts) {
    return facts.is_wanted && facts.is_mounted && facts.is_in({"", "Pending", "Bound", "AttachedToNode"});
}
bool has_gone(const Facts& facts) {
    return !facts.is_wanted && !facts.is_plugged && facts.is_in({"Ready", "MountedToPod", "AttachedToNode"});
}

Phase detach_pending(const Facts& facts) {
    return {
        "Ready",
        "DetachPending",
        "waiting for the guest to release " + facts.status.name + " since " + to_rfc3339(facts.detaching->since) +
            ", " + std::to_string(facts.detaching->requests) + " requests"
    };
}
Phase ready(const Facts& facts) {
    return {"Ready", "VolumeReady", "Successfully attach hotplugged volume " + facts.status.name + " to VM"};
}
Phase mounted(const Facts& facts) {
    return {
        "MountedToPod", "VolumeMountedToPod", "Volume " + facts.status.name + " has been mounted in virt-launcher pod"
    };
}
Phase unmounted(const Facts& facts) {
    return {
        "UnMountedFromPod",
        "VolumeUnMountedFromPod",
        "Volume " + facts.status.name + " has been unmounted from virt-launcher pod"
    };
}

std::optional<Phase> next_phase(const Facts& facts) {
    if (waits_for_guest(facts)) return detach_pending(facts);
    if (leaves(facts)) return {};
    if (is_in_guest(facts)) return ready(facts);
    if (has_come(facts)) return mounted(facts);
    if (has_gone(facts)) return unmounted(facts);
    return {};
}

void take_over_disks(const View& view, api::VmiStatus& status) {
    for (const agent::DiskReport& disk : view.report->disks) {
        auto it = std::ranges::find(status.volume_status, disk.name, &Status::name);
        if (it == status.volume_status.end()) {
            const api::VmVolume* volume = volume_of(view, disk.name);
            // The entries of plugged volumes are the controller's: one without `hotplugVolume` would be a permanent
            // one.
            if (volume == nullptr || volume->is_hotpluggable()) continue;
            it = status.volume_status.insert(it, Status{.name = disk.name});
        }
        it->target = disk.target;
        if (disk.size > 0) it->size = disk.size;
    }
    std::ranges::sort(status.volume_status, {}, &Status::name);
}

}  // namespace

void set_volume_status(const View& view, api::VmiStatus& status) {
    if (view.report) take_over_disks(view, status);
    for (Status& entry : status.volume_status) {
        if (!entry.hotplug_volume) continue;
        const Facts facts = facts_of(view, entry);
        if (view.report && !facts.is_live) entry.target.clear();
        if (std::optional<Phase> next = next_phase(facts)) {
            entry.phase = next->name;
            entry.reason = next->reason;
            entry.message = std::move(next->message);
        }
    }
}

void add_phase_events(const View& view, api::Plan& plan, const api::VmiStatus& desired) {
    for (const Status& entry : desired.volume_status) {
        if (!entry.hotplug_volume) continue;
        const auto& before = view.vmi->status.volume_status;
        const auto known = std::ranges::find(before, entry.name, &Status::name);
        if (known != before.end() && known->phase == entry.phase && known->reason == entry.reason) continue;
        plan.add(api::Emit{view.key, view.vmi->metadata.uid, false, entry.reason, entry.message});
    }
}

}  // namespace berth::node
