#include "explain/chain.hpp"

namespace berth::explain {
namespace {

constexpr const char* kProvisioning = "kubevirt.io/ephemeral-provisioning";

struct Disk {
    std::string volume;
    std::string claim;
    bool by_data_volume = false;
};

template <class T>
const T* find_named(const std::vector<T>& objects, const std::string& name) {
    const auto it = std::ranges::find_if(objects, [&](const T& object) { return object.metadata.name == name; });
    return it == objects.end() ? nullptr : &*it;
}

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
        if (const std::string claim = volume.claim_name(); !claim.empty()) {
            out.push_back({volume.name, claim, volume.data_volume.has_value()});
        }
    }
    return out;
}

std::string warning_of(const View& view, const std::string& object) {
    const auto it = view.last_warnings.find(object);
    return it == view.last_warnings.end() ? std::string() : it->second;
}

std::optional<Timestamp> transition(const std::vector<api::Condition>& conditions, std::string_view type) {
    const api::Condition* condition = api::find_condition(conditions, type);
    return condition == nullptr ? std::optional<Timestamp>() : condition->last_transition_time;
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
        line.why = "the start failed " + std::to_string(start_failure->consecutive_fail_count) + " times; the next try is in " +
                   human_duration(*start_failure->retry_after_timestamp - view.now);
    }
    return line;
}

Line data_volume_line(const View& view, const Disk& disk) {
    Line line{.depth = 1, .object = "dv/" + disk.claim};
    const api::DataVolume* dv = find_named(view.data_volumes, disk.claim);
    if (dv == nullptr) {
        line.state = "missing";
        line.mark = Mark::waits;
        line.why = "waits for the DataVolume \"" + disk.claim + "\" to be created";
        return line;
    }
    line.state = dv->status.phase.empty() ? "new" : dv->status.phase;
    if (!dv->status.progress.empty() && dv->status.progress != "N/A" && line.state == "ImportInProgress") {
        line.state += " " + dv->status.progress;
    }
    if (dv->status.phase == "Succeeded") return line;
    line.mark = dv->status.phase == "Failed" ? Mark::failed : Mark::waits;
    const api::Condition* running = api::find_condition(dv->status.conditions, "Running");
    const api::Condition* bound = api::find_condition(dv->status.conditions, "Bound");
    if (running != nullptr && running->status == "False" && !running->message.empty()) {
        line.why = (running->reason.empty() ? "" : running->reason + ": ") + running->message;
        line.since = running->last_transition_time;
        line.mark = Mark::failed;
    } else if (dv->status.phase == "WaitForFirstConsumer") {
        line.why = "waits for a pod that uses its claim, so that the disk is made where the machine can run";
    } else if (bound != nullptr && bound->status != "True") {
        line.why = bound->message;
    } else if (dv->status.phase.starts_with("Import")) {
        line.why = "waits for the worker pod importer-" + disk.claim + " to fill it";
    }
    if (line.why.empty()) line.why = warning_of(view, "datavolume/" + disk.claim);
    if (!line.since) line.since = transition(dv->status.conditions, "Bound");
    return line;
}

Line claim_line(const View& view, const Disk& disk, int depth) {
    Line line{.depth = depth, .object = "pvc/" + disk.claim};
    const api::PersistentVolumeClaim* claim = find_named(view.claims, disk.claim);
    if (claim == nullptr) {
        line.state = "missing";
        line.mark = disk.by_data_volume ? Mark::waits : Mark::failed;
        line.why = disk.by_data_volume ? "waits for its DataVolume" : "create the claim \"" + disk.claim + "\": the machine starts then";
        return line;
    }
    line.state = claim->metadata.is_deleting() ? "Terminating" : claim->status.phase;
    if (line.state == "Bound") return line;
    line.mark = line.state == "Lost" ? Mark::failed : Mark::waits;
    const std::string* node = claim->metadata.annotation("volume.kubernetes.io/selected-node");
    if (line.state == "Lost") {
        line.why = "its volume is gone and the data with it: delete the claim";
    } else if (node != nullptr) {
        line.why = "waits for the provisioner to make its volume on node " + *node;
    } else {
        line.why = "waits for the scheduler to choose a node";
    }
    const std::string warning = warning_of(view, "persistentvolumeclaim/" + disk.claim);
    if (!warning.empty()) line.why += ": " + warning;
    line.since = claim->metadata.creation_timestamp;
    return line;
}

std::optional<Line> volume_line(const View& view, const Disk& disk, int depth) {
    const api::PersistentVolumeClaim* claim = find_named(view.claims, disk.claim);
    if (claim == nullptr || claim->spec.volume_name.empty()) return {};
    Line line{.depth = depth, .object = "pv/" + claim->spec.volume_name};
    const api::PersistentVolume* volume = find_named(view.volumes, claim->spec.volume_name);
    if (volume == nullptr) {
        line.state = "missing";
        line.mark = Mark::failed;
        return line;
    }
    line.state = volume->status.phase;
    if (volume->spec.node_affinity && volume->spec.node_affinity->required) {
        for (const api::NodeSelectorTerm& term : volume->spec.node_affinity->required->node_selector_terms) {
            for (const api::SelectorRequirement& requirement : term.match_expressions) {
                if (requirement.key == "kubernetes.io/hostname" && !requirement.values.empty()) {
                    line.state += " on node " + requirement.values.front();
                }
            }
        }
    }
    return line;
}

std::string waiting_reason(const api::Pod& pod) {
    for (const auto* statuses : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
        for (const api::ContainerStatus& status : *statuses) {
            const api::ContainerState state = api::container_state(status.state);
            if (!state.waiting_reason.empty() && state.waiting_reason != "PodInitializing") {
                return state.waiting_reason + (state.waiting_message.empty() ? "" : ": " + state.waiting_message);
            }
        }
    }
    return {};
}

Line pod_line(const View& view, const api::Pod& pod) {
    Line line{.depth = 1, .object = "pod/" + pod.metadata.name};
    line.state = pod.metadata.is_deleting() ? "Terminating" : pod.status.phase;
    if (!pod.spec.node_name.empty()) line.state += " on node " + pod.spec.node_name;
    if (pod.metadata.annotation(kProvisioning) != nullptr) line.state += " (provisioning pod: it chooses the node)";
    line.since = pod.metadata.creation_timestamp;
    if (pod.status.phase == "Running" || pod.status.phase == "Succeeded") return line;
    line.mark = pod.status.phase == "Failed" ? Mark::failed : Mark::waits;
    const api::Condition* scheduled = api::find_condition(pod.status.conditions, "PodScheduled");
    if (pod.spec.node_name.empty()) {
        line.why = "waits for the scheduler";
        if (scheduled != nullptr && scheduled->status == "False") {
            line.why = scheduled->message;
            line.since = scheduled->last_transition_time;
            if (scheduled->reason == "Unschedulable") line.mark = Mark::failed;
        }
    } else {
        line.why = waiting_reason(pod);
        const std::string warning = warning_of(view, "pod/" + pod.metadata.name);
        if (!warning.empty()) line.why = warning;
    }
    return line;
}

Line guest_line(const View& view) {
    Line line{.depth = 1, .object = "guest"};
    const std::string& phase = view.vmi->status.phase;
    line.state = phase == "Running" ? "running on node " + view.vmi->status.node_name : "not running (" + phase + ")";
    line.mark = phase == "Running" || phase == "Succeeded" ? Mark::done : phase == "Failed" ? Mark::failed : Mark::waits;
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

}  // namespace

std::vector<Line> chain(const View& view) {
    std::vector<Line> out;
    if (!view.vm && !view.vmi) return out;
    out.push_back(machine_line(view));
    for (const Disk& disk : disks_of(view)) {
        int depth = 1;
        const bool filled = disk.by_data_volume || find_named(view.data_volumes, disk.claim) != nullptr;
        if (filled) out.push_back(data_volume_line(view, disk));
        if (filled) depth = 2;
        out.push_back(claim_line(view, disk, depth));
        if (const auto line = volume_line(view, disk, depth + 1)) out.push_back(*line);
    }
    for (const api::Pod& pod : view.pods) out.push_back(pod_line(view, pod));
    if (view.vmi) out.push_back(guest_line(view));
    // The one that must act: what failed, else the deepest that waits with a reason.
    const auto failed = std::ranges::find_if(out, [](const Line& line) { return line.mark == Mark::failed && !line.why.empty(); });
    if (failed == out.end()) {
        Line* deepest = nullptr;
        for (Line& line : out) {
            const bool is_candidate = line.mark == Mark::waits && !line.why.empty();
            if (is_candidate && (deepest == nullptr || line.depth >= deepest->depth)) deepest = &line;
        }
        if (deepest != nullptr) deepest->mark = Mark::next;
    }
    return out;
}

std::string print(const std::vector<Line>& lines, Timestamp now) {
    std::string text;
    for (const Line& line : lines) {
        constexpr std::string_view kMarks[] = {"✓ ", "· ", "→ ", "✗ "};
        text += std::string(static_cast<std::size_t>(line.depth) * 2, ' ');
        text += kMarks[static_cast<std::size_t>(line.mark)];
        text += line.object + "  " + line.state;
        if (line.since && line.mark != Mark::done) text += "  for " + human_duration(now - *line.since);
        text += '\n';
        if (!line.why.empty()) text += std::string(static_cast<std::size_t>(line.depth) * 2 + 4, ' ') + line.why + '\n';
    }
    return text;
}

json::Value to_json(const std::vector<Line>& lines) {
    json::Array out;
    for (const Line& line : lines) {
        constexpr const char* kMarks[] = {"done", "waits", "next", "failed"};
        json::Object object{
            {"depth", line.depth},
            {"object", line.object},
            {"state", line.state},
            {"mark", kMarks[static_cast<std::size_t>(line.mark)]},
        };
        if (!line.why.empty()) object["why"] = line.why;
        if (line.since) object["since"] = to_rfc3339(*line.since);
        out.push_back(std::move(object));
    }
    return out;
}

}  // namespace berth::explain
