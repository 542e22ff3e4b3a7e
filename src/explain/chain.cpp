#include "explain/chain.hpp"

#include "explain/disk.hpp"
#include "explain/plug.hpp"
#include "explain/pod.hpp"

namespace berth::explain {
namespace {

// What the machine boots with; what is plugged into it comes later.
std::vector<Disk> disks_of(const View& view) {
    const std::vector<api::VmVolume>* volumes = nullptr;
    if (view.vmi) {
        volumes = &view.vmi->spec.volumes;
    } else if (view.vm && view.vm->spec.vmi_template) {
        volumes = &view.vm->spec.vmi_template->spec.volumes;
    }
    std::vector<Disk> out;
    if (volumes == nullptr) return out;
    for (const api::VmVolume& volume : *volumes) {
        if (!volume.claim_name().empty() && !is_plugged_in(view, volume)) out.push_back(disk_of(volume));
    }
    return out;
}

Line machine_line(const View& view) {
    Line line{.object = view.vm ? "vm/" + view.vm->metadata.name : "vmi/" + view.vmi->metadata.name};
    if (!view.vm) {
        line.state = view.vmi->status.phase;
        line.mark = line.state == "Running" ? Mark::done : Mark::waits;
        return line;
    }
    line.state = view.vm->status.printable_status;
    const bool is_settled = line.state == "Running" || line.state == "Stopped" || line.state == "Paused";
    line.mark = is_settled ? Mark::done : Mark::waits;
    if (const api::Condition* failure = api::find_condition(view.vm->status.conditions, "Failure")) {
        line.mark = Mark::failed;
        line.why = failure->message;
    }
    const auto& start_failure = view.vm->status.start_failure;
    if (start_failure && start_failure->retry_after_timestamp && *start_failure->retry_after_timestamp > view.now) {
        line.why = "the start failed " + std::to_string(start_failure->consecutive_fail_count) +
                   " times; the next try is in " + human_duration(*start_failure->retry_after_timestamp - view.now);
    }
    return line;
}

Line guest_line(const View& view) {
    Line line{.depth = 1, .object = "guest"};
    const std::string& phase = view.vmi->status.phase;
    line.state = phase == "Running" ? "running on node " + view.vmi->status.node_name : "not running (" + phase + ")";
    line.mark = phase == "Running" || phase == "Succeeded" ? Mark::done
                : phase == "Failed"                        ? Mark::failed
                                                           : Mark::waits;
    if (const api::Condition* condition = api::find_condition(view.vmi->status.conditions, "Synchronized")) {
        if (condition->status == "False") {
            line.why = condition->message;
            line.mark = Mark::failed;
        }
    }
    for (const api::PhaseTransition& transition : view.vmi->status.phase_transition_timestamps) {
        if (transition.phase == phase) line.since = transition.at;
    }
    return line;
}

void add_disk(const View& view, const Disk& disk, std::vector<Line>* out) {
    int depth = 1;
    if (is_filled(view, disk)) out->push_back(data_volume_line(view, disk, depth++));
    out->push_back(claim_line(view, disk, depth));
    if (const auto line = volume_line(view, disk, depth + 1)) out->push_back(*line);
}

}  // namespace

std::vector<Line> chain(const View& view) {
    std::vector<Line> out;
    if (!view.vm && !view.vmi) return out;
    out.push_back(machine_line(view));
    for (const Disk& disk : disks_of(view)) add_disk(view, disk, &out);
    for (const api::Pod& pod : view.pods) {
        if (is_plug_pod(pod)) continue;
        Line line = pod_line(view, pod, 1);
        if (pod.metadata.annotation(kProvisioning) != nullptr) line.state += " (provisioning pod: it chooses the node)";
        out.push_back(std::move(line));
    }
    if (view.vmi) out.push_back(guest_line(view));
    for (const std::string& volume : plugs_of(view)) {
        std::vector<Line> lines = plug_lines(view, volume, 1);
        out.insert(out.end(), lines.begin(), lines.end());
    }
    mark_next(out);
    return out;
}

}  // namespace berth::explain
