#include "explain/plug.hpp"

#include "explain/disk.hpp"
#include "explain/pod.hpp"

namespace berth::explain {
namespace {

constexpr const char* kPlugContainer = "hotplug-disk";

const api::VmVolume* find_volume(const std::vector<api::VmVolume>& volumes, const std::string& name) {
    const auto it = std::ranges::find(volumes, name, &api::VmVolume::name);
    return it == volumes.end() ? nullptr : &*it;
}

const api::VmVolume* asked_of_instance(const View& view, const std::string& name) {
    return view.vmi ? find_volume(view.vmi->spec.volumes, name) : nullptr;
}

const api::VmVolume* asked_of_vm(const View& view, const std::string& name) {
    const bool has_template = view.vm && view.vm->spec.vmi_template;
    const api::VmVolume* volume = has_template ? find_volume(view.vm->spec.vmi_template->spec.volumes, name) : nullptr;
    return volume != nullptr && volume->is_hotpluggable() ? volume : nullptr;
}

// What one line of a plug is about.
struct Plug {
    const View& view;
    std::string name;
    std::string claim;
    const api::VmVolume* asked = nullptr;  ///< nullptr: nobody asks for it any more
    const api::VmVolumeStatus* status = nullptr;
    const api::Pod* trigger = nullptr;
    const api::Pod* attachment = nullptr;

    [[nodiscard]] bool is_in(std::string_view phase) const { return status != nullptr && status->phase == phase; }
    [[nodiscard]] bool is_ready() const { return is_in("Ready"); }
    [[nodiscard]] bool is_mounted() const { return is_in("Ready") || is_in("MountedToPod"); }
    /// Another machine has the claim.
    [[nodiscard]] bool is_held_elsewhere() const {
        return status != nullptr && status->message.find("in use by") != std::string::npos;
    }
    [[nodiscard]] std::string machine() const { return view.vm ? view.vm->metadata.name : view.vmi->metadata.name; }
    [[nodiscard]] std::string instance() const { return "virtualmachineinstance/" + view.vmi->metadata.name; }
};

bool mentions(const api::Pod& pod, const std::string& volume, const std::string& claim) {
    return std::ranges::any_of(pod.spec.volumes, [&](const api::PodVolume& source) {
        if (!source.persistent_volume_claim) return false;
        return source.name == volume || (!claim.empty() && source.persistent_volume_claim->claim_name == claim);
    });
}

Plug find_plug(const View& view, const std::string& name) {
    Plug plug{.view = view, .name = name, .claim = {}, .asked = asked_of_instance(view, name)};
    plug.status = status_of(view, name);
    const api::VmVolume* source = plug.asked != nullptr ? plug.asked : asked_of_vm(view, name);
    if (source != nullptr) plug.claim = source->claim_name();
    if (plug.claim.empty() && plug.status != nullptr && plug.status->persistent_volume_claim_info) {
        plug.claim = plug.status->persistent_volume_claim_info->claim_name;
    }
    const std::string named = plug.status != nullptr && plug.status->hotplug_volume
                                  ? plug.status->hotplug_volume->attach_pod_name
                                  : std::string();
    for (const api::Pod& pod : view.pods) {
        if (!is_plug_pod(pod) || !mentions(pod, name, plug.claim)) continue;
        const bool triggers = pod.metadata.annotation(kProvisioning) != nullptr;
        const api::Pod*& slot = triggers ? plug.trigger : plug.attachment;
        if (slot == nullptr || pod.metadata.name == named) slot = &pod;
    }
    return plug;
}

// --- One line each
// -------------------------------------------------------------------------------------------------------

Line request_line(const Plug& plug) {
    Line line{.object = "volume/" + plug.name};
    const bool is_in_template = asked_of_vm(plug.view, plug.name) != nullptr;
    if (!is_running(plug.view)) {
        line.state = "is part of the machine from its next start";
        if (plug.view.vmi) line.state = "comes with the start of the machine";
        return line;
    }
    line.mark = plug.asked != nullptr && plug.is_ready() ? Mark::done : Mark::waits;
    line.state = plug.status != nullptr ? plug.status->phase : "requested";
    if (plug.is_ready() && !plug.status->target.empty()) line.state += " as " + plug.status->target;
    if (plug.asked == nullptr && !is_in_template) {
        line.state = "is being taken out: " + line.state;
    } else if (plug.asked == nullptr) {
        line.why = "waits for the controller to pass it from the VM to the running machine";
        if (plug.status != nullptr) line.why += ": the earlier volume of that name is still on its way out";
    } else if (plug.status == nullptr) {
        line.why = "waits for the controller to look at it";
    } else if (plug.status->reason == "FailedPvcNotFound") {
        line.mark = Mark::failed;
        line.why = plug.status->message + ": create the claim, or berth removevolume " + plug.machine() +
                   " --volume-name " + plug.name;
    } else if (plug.is_held_elsewhere()) {
        line.why = plug.status->message + ": take it out there, or use a claim with access mode ReadWriteMany";
    } else if (plug.view.vm && is_in_template && api::find_condition(plug.view.vm->status.conditions, "Failure")) {
        line.why = api::find_condition(plug.view.vm->status.conditions, "Failure")->message;
    }
    return line;
}

std::string joined(const std::vector<std::string>& names) {
    std::string out;
    for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
    return out;
}

// Where the disk lies, where the guest runs, and what helps when those are not the same node.
std::string way_out(const Plug& plug, const std::string& refusal) {
    const std::string& guest = plug.view.vmi->status.node_name;
    const api::PersistentVolumeClaim* claim = find_named(plug.view.claims, plug.claim);
    const api::PersistentVolume* volume =
        claim == nullptr ? nullptr : find_named(plug.view.volumes, claim->spec.volume_name);
    const std::vector<std::string> nodes = volume == nullptr ? std::vector<std::string>() : nodes_of(*volume);
    if (nodes.empty() || std::ranges::find(nodes, guest) != nodes.end()) {
        return "no room for its pod on node " + guest + ", where the guest runs: " + refusal;
    }
    return "the volume of claim " + plug.claim + " lies on node " + joined(nodes) + " and the guest runs on node " +
           guest + ", so it cannot be reached: berth removevolume " + plug.machine() + " --volume-name " + plug.name +
           ", then plug a disk that is made on node " + guest +
           " (a new DataVolume whose class waits for its first consumer is), or start the machine on node " +
           nodes.front();
}

std::optional<Line> trigger_line(const Plug& plug) {
    if (plug.trigger == nullptr) return {};
    Line line = pod_line(plug.view, *plug.trigger, 0);
    line.state += " (trigger pod: first consumer of the claim, on the guest's node)";
    if (const std::string refusal = unschedulable(*plug.trigger); !refusal.empty()) line.why = way_out(plug, refusal);
    return line;
}

// The claim is bound or will be by the attachment pod, and what it holds is complete.
bool is_claim_ready(const Plug& plug) {
    if (find_named(plug.view.claims, plug.claim) == nullptr || plug.is_held_elsewhere()) return false;
    const api::DataVolume* dv = find_named(plug.view.data_volumes, plug.claim);
    return dv == nullptr || dv->status.phase == "Succeeded" || dv->status.phase == "PendingPopulation";
}

Line attachment_line(const Plug& plug) {
    if (plug.attachment == nullptr) {
        Line line{.object = "attachment pod", .state = "not made yet", .mark = Mark::waits};
        if (plug.asked == nullptr) {
            line.state = "gone";
            line.mark = Mark::done;
        } else if (is_claim_ready(plug) && is_running(plug.view)) {
            line.why = warning_of(plug.view, plug.instance(), "hp-volume-");
            if (line.why.empty()) line.why = "waits for the controller to make it";
        }
        return line;
    }
    Line line = pod_line(plug.view, *plug.attachment, 0);
    line.state += " (attachment pod)";
    if (const std::string refusal = unschedulable(*plug.attachment); !refusal.empty())
        line.why = way_out(plug, refusal);
    if (plug.asked == nullptr && !plug.is_mounted()) {
        line.mark = Mark::waits;
        line.why = plug.attachment->metadata.is_deleting() ? "waits for the kubelet to end it"
                                                           : "waits for the controller to delete it";
    }
    return line;
}

Line mount_line(const Plug& plug) {
    Line line{.object = "mount", .state = "in the launcher pod", .mark = Mark::done};
    if (plug.asked == nullptr) {
        const bool is_held = plug.is_mounted();
        if (!is_held) line.state = "gone";
        if (is_held) line.mark = Mark::waits;
        if (is_held && plug.status->target.empty()) {
            line.why = "waits for the node's agent to take it away";
            const std::string warning = warning_of(plug.view, plug.instance(), plug.name);
            if (!warning.empty()) line.why = warning;
        }
        return line;
    }
    if (plug.is_mounted()) return line;
    line.state = "not there yet";
    line.mark = Mark::waits;
    if (plug.attachment == nullptr || !is_ready(*plug.attachment, kPlugContainer)) return line;
    line.why = "waits for the agent of node " + plug.view.vmi->status.node_name + " to show it in the launcher pod";
    if (const std::string warning = warning_of(plug.view, plug.instance(), plug.name); !warning.empty()) {
        line.why = warning;
        line.mark = Mark::failed;
    }
    return line;
}

Line guest_disk_line(const Plug& plug) {
    Line line{.object = "guest disk", .state = "not there yet", .mark = Mark::waits};
    const bool is_there = plug.is_ready() && !plug.status->target.empty();
    if (is_there) line.state = plug.status->target;
    if (plug.asked != nullptr) {
        if (is_there) line.mark = Mark::done;
        if (is_there || !plug.is_mounted()) return line;
        line.why = "waits for the launcher to attach it";
        if (const std::string warning = warning_of(plug.view, plug.instance(), plug.name); !warning.empty()) {
            line.why = warning;
            line.mark = Mark::failed;
        }
        return line;
    }
    if (!is_there) {
        line.state = "gone";
        line.mark = Mark::done;
        return line;
    }
    line.why = "waits for the launcher to ask the guest for it";
    if (plug.status->reason == "DetachPending") {
        line.why = plug.status->message + ": see in the guest what uses it, or restart the machine";
    }
    return line;
}

}  // namespace

bool is_plugged_in(const View& view, const api::VmVolume& volume) {
    if (volume.is_hotpluggable()) return true;
    const api::VmVolumeStatus* status = status_of(view, volume.name);
    return status != nullptr && status->hotplug_volume.has_value();
}

bool is_plug_pod(const api::Pod& pod) {
    const std::string* app = pod.metadata.label("kubevirt.io");
    return app != nullptr && *app == "hotplug-disk";
}

const api::VmVolumeStatus* status_of(const View& view, const std::string& volume) {
    if (!view.vmi) return nullptr;
    const auto& entries = view.vmi->status.volume_status;
    const auto it = std::ranges::find(entries, volume, &api::VmVolumeStatus::name);
    return it == entries.end() ? nullptr : &*it;
}

std::vector<std::string> plugs_of(const View& view) {
    std::vector<std::string> out;
    const auto add = [&out](const std::string& name) {
        if (std::ranges::find(out, name) == out.end()) out.push_back(name);
    };
    if (view.vmi) {
        for (const api::VmVolume& volume : view.vmi->spec.volumes) {
            if (is_plugged_in(view, volume)) add(volume.name);
        }
        for (const api::VmVolumeStatus& status : view.vmi->status.volume_status) {
            if (status.hotplug_volume) add(status.name);
        }
    }
    if (view.vm && view.vm->spec.vmi_template) {
        for (const api::VmVolume& volume : view.vm->spec.vmi_template->spec.volumes) {
            if (volume.is_hotpluggable()) add(volume.name);
        }
    }
    return out;
}

bool is_running(const View& view) { return view.vmi && view.vmi->status.phase == "Running"; }

bool is_attached(const View& view, const std::string& volume) {
    const Plug plug = find_plug(view, volume);
    if (plug.asked == nullptr || !plug.is_ready() || plug.status->target.empty()) return false;
    if (plug.status->reason == "DetachPending") return false;
    const auto& claim = plug.status->persistent_volume_claim_info;
    return !claim || claim->claim_name == plug.claim;
}

bool is_released(const View& view, const std::string& volume) {
    if (asked_of_vm(view, volume) != nullptr) return false;
    return !view.vmi || view.vmi->is_final() ||
           (asked_of_instance(view, volume) == nullptr && status_of(view, volume) == nullptr);
}

std::vector<Line> plug_lines(const View& view, const std::string& volume, int depth) {
    const Plug plug = find_plug(view, volume);
    std::vector<Line> out{request_line(plug)};
    if (!plug.claim.empty()) {
        const Disk disk{plug.name, plug.claim, plug.asked != nullptr && plug.asked->data_volume.has_value()};
        if (is_filled(view, disk)) out.push_back(data_volume_line(view, disk, 1));
        out.push_back(claim_line(view, disk, 1));
        if (const auto line = volume_line(view, disk, 1)) out.push_back(*line);
    }
    if (is_running(view) && (plug.asked != nullptr || plug.status != nullptr)) {
        if (const auto line = trigger_line(plug)) out.push_back(*line);
        if (plug.asked != nullptr) {
            for (Line (*const step)(const Plug&) : {attachment_line, mount_line, guest_disk_line})
                out.push_back(step(plug));
        } else {
            for (Line (*const step)(const Plug&) : {guest_disk_line, mount_line, attachment_line})
                out.push_back(step(plug));
        }
    }
    for (Line& line : out) line.depth = &line == &out.front() ? depth : depth + 1;
    return out;
}

}  // namespace berth::explain
