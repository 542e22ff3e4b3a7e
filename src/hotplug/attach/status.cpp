#include "hotplug/attach/status.hpp"

#include "base/ranges.hpp"
#include "placement/names.hpp"
#include "placement/vmi/volumes.hpp"

namespace berth::hotplug::attach {
namespace {

using Status = api::VmVolumeStatus;

void set(Status& entry, const char* phase, const char* reason, std::string message) {
    entry.phase = phase;
    entry.reason = reason;
    entry.message = std::move(message);
}

bool is_in(const Status& entry, std::initializer_list<std::string_view> phases) {
    return contains(phases, std::string_view(entry.phase));
}

// "default/a" → "a": a claim and those who use it are of one namespace.
std::string name_of(const std::string& machine) { return machine.substr(machine.find('/') + 1); }

// Pending or Bound, and no pod: how far the claim is.
void reset_to_claim(Status& entry, const Disk& disk) {
    entry.hotplug_volume = api::HotplugVolumeStatus();
    if (disk.claim == nullptr) {
        set(entry, "Pending", "FailedPvcNotFound", "PVC " + disk.volume->claim_name() + " not found");
    } else if (!disk.held_by.empty()) {
        const std::string holder = name_of(disk.held_by);
        set(entry, "Pending", "PVCNotReady", "PVC " + disk.claim->metadata.name + " is in use by VMI " + holder);
    } else if (disk.claim->status.phase == "Bound") {
        set(entry, "Bound", "PVCNotReady", "PVC is in phase Bound");
    } else if (disk.claim->status.phase == "Lost") {
        set(entry, "Pending", "PVCNotReady", "PVC is in phase Lost");
    } else {
        set(entry, "Pending", "PVCNotReady", "PVC is in phase ClaimPending");
    }
}

// --- in the spec -----------------------------------------------------------------------------------------------------

/// One line of 9.0 about a volume of the spec: from these phases, with or without a pod.
struct Line {
    std::initializer_list<std::string_view> from;
    enum class Pod { none, some, any } pod;
    void (*act)(Status& entry, const Disk& disk, const api::Pod* pod);
};

void reset(Status& entry, const Disk& disk, const api::Pod*) { reset_to_claim(entry, disk); }

void attach_to_node(Status& entry, const Disk&, const api::Pod* pod) {
    set(entry,
        "AttachedToNode",
        "SuccessfulCreate",
        "Created hotplug attachment pod " + pod->metadata.name + ", for volume " + entry.name);
}

// MountedToPod and Ready are not here: what the launcher sees is never taken back while the volume is wanted.
constexpr std::string_view kNone;
const Line kInSpec[] = {
    {{"Detaching", "UnMountedFromPod"},             Line::Pod::any,  reset         }, // it came back
    {{kNone, "Pending", "Bound", "AttachedToNode"}, Line::Pod::none, reset         },
    {{kNone, "Pending", "Bound"},                   Line::Pod::some, attach_to_node},
};

// The UID is what the node mounts from: only of a pod that runs, and never of one that goes.
void name_pod(api::HotplugVolumeStatus& plug, const api::Pod* pod) {
    if (pod != nullptr) plug.attach_pod_name = pod->metadata.name;
    plug.attach_pod_uid = pod != nullptr && is_ready(*pod) ? pod->metadata.uid : Uid();
}

Status in_spec(const View& view, const Disk& disk, Status entry) {
    entry.name = disk.volume->name;
    // Another claim under the same name: the old plug is out, this one begins.
    if (!is_about(entry, disk)) entry = Status{.name = entry.name};
    if (!entry.hotplug_volume) entry.hotplug_volume.emplace();
    const api::Pod* pod = is_wanted(view, disk) ? pod_for(view, disk) : nullptr;
    for (const Line& line : kInSpec) {
        const bool fits = line.pod == Line::Pod::any || (line.pod == Line::Pod::some) == (pod != nullptr);
        if (!fits || !is_in(entry, line.from)) continue;
        line.act(entry, disk, pod);
        break;
    }
    if (!is_in(entry, {"Pending", "Bound"})) name_pod(*entry.hotplug_volume, pod);
    if (disk.claim != nullptr) {
        entry.persistent_volume_claim_info = placement::vmi::summary_of(*disk.claim, view.cdi_config);
    }
    return entry;
}

// --- not in the spec -------------------------------------------------------------------------------------------------

// Any pod that mentions the volume keeps the entry, those that go too.
const api::Pod* pod_that_mentions(const View& view, const Status& entry) {
    const std::string claim = claim_of(entry);
    const api::Pod* out = nullptr;
    for (const api::Pod* pod : view.pods) {
        if (claim.empty() ? !mentions_volume(*pod, entry.name) : !mentions(*pod, {entry.name, claim})) continue;
        if (pod->metadata.name == entry.hotplug_volume->attach_pod_name) return pod;
        if (out == nullptr || !pod->metadata.is_deleting()) out = pod;
    }
    return out;
}

/// None: the entry goes.
std::optional<Status> out_of_spec(const View& view, Status entry) {
    const api::Pod* pod = pod_that_mentions(view, entry);
    if (pod == nullptr) {
        if (!may_be_mounted(view, entry)) return {};
        return entry;
    }
    if (is_in(entry, {"UnMountedFromPod"}) || (!is_released(entry) && !may_be_mounted(view, entry))) {
        entry.phase = "Detaching";
        entry.hotplug_volume->attach_pod_uid = Uid();
    }
    if (entry.phase != "Detaching") {
        const bool is_known = entry.hotplug_volume->attach_pod_name == pod->metadata.name;
        if (!is_known) name_pod(*entry.hotplug_volume, pod);
        return entry;
    }
    entry.hotplug_volume->attach_pod_name = pod->metadata.name;
    if (pod->metadata.is_deleting()) {
        set(entry,
            "Detaching",
            "SuccessfulDelete",
            "Deleted hotplug attachment pod " + pod->metadata.name + ", for volume " + entry.name);
    }
    return entry;
}

bool has_left(const View& view, const Status& entry) {
    const Disk* disk = disk_of(view, entry.name);
    if (disk == nullptr) return true;
    return !is_about(entry, *disk) && may_be_mounted(view, entry);
}

api::Emit normal(const View& view, std::string reason, std::string message) {
    return {placement::key_of(*view.vmi), view.vmi->metadata.uid, false, std::move(reason), std::move(message)};
}

}  // namespace

std::vector<Status> volume_status(const View& view) {
    std::vector<Status> out;
    for (const Status& entry : view.vmi->status.volume_status) {
        if (!entry.hotplug_volume) {
            if (disk_of(view, entry.name) == nullptr) out.push_back(entry);
        } else if (has_left(view, entry)) {
            if (auto kept = out_of_spec(view, entry)) out.push_back(std::move(*kept));
        }
    }
    for (const Disk& disk : view.disks) {
        const auto& entries = view.vmi->status.volume_status;
        const auto known = std::ranges::find(entries, disk.volume->name, &Status::name);
        if (known == entries.end()) {
            out.push_back(in_spec(view, disk, {}));
        } else if (!known->hotplug_volume || !has_left(view, *known)) {
            out.push_back(in_spec(view, disk, *known));
        }
    }
    std::ranges::sort(out, {}, &Status::name);
    return out;
}

std::vector<api::Emit> events(const View& view, const std::vector<Status>& desired) {
    std::vector<api::Emit> out;
    for (const Status& before : view.vmi->status.volume_status) {
        const bool is_gone = std::ranges::find(desired, before.name, &Status::name) == desired.end();
        if (before.hotplug_volume && is_gone) {
            out.push_back(normal(view, "VolumeUnplugged", "Volume " + before.name + " has been unplugged from the VM"));
        }
    }
    for (const Status& after : desired) {
        if (!after.hotplug_volume) continue;
        const Status* before = entry_of(view, after.name);
        const bool was = before != nullptr && before->phase == after.phase && before->reason == after.reason;
        if (was) continue;
        const bool says_more =
            after.phase == "AttachedToNode" || (after.phase == "Detaching" && after.reason == "SuccessfulDelete");
        if (says_more) out.push_back(normal(view, after.reason, after.message));
    }
    return out;
}

}  // namespace berth::hotplug::attach
