// The status of a pod, whole, from what the runtime shows.
#include "solo/rules/kubelet/facts.hpp"

namespace berth::solo::kubelet {
namespace {

std::string short_reason(const ContainerInfo& info) {
    if (info.oom_killed) return "OOMKilled";
    if (info.id.empty()) return "ContainerStatusUnknown";
    return info.exit_code == 0 ? "Completed" : "Error";
}

api::ContainerState state_of(const ContainerInfo& info) {
    api::ContainerState state;
    if (info.phase == ContainerPhase::exited) {
        state.exit_code = info.exit_code;
        state.terminated_reason = short_reason(info);
        state.terminated_message = info.termination_message;
        state.started_at = info.started_at;
        state.finished_at = info.finished_at;
    } else if (info.phase == ContainerPhase::running) {
        state.running_since = info.started_at;
    } else {
        state.waiting_reason = "ContainerCreating";
    }
    return state;
}

const api::ContainerStatus* known(const std::vector<api::ContainerStatus>& statuses, const std::string& name) {
    const auto it = std::ranges::find(statuses, name, &api::ContainerStatus::name);
    return it == statuses.end() ? nullptr : &*it;
}

std::string pod_text(const View& view) { return view.key.name + "_" + view.key.ns + "(" + view.uid.value + ")"; }

// Why the pod's volumes are not there; "" while nothing has gone wrong.
std::string volume_trouble(const View& view) {
    if (!view.has_directory) return "";
    for (const api::PodVolume& volume : view.pod->spec.volumes) {
        if (view.prepared.contains(volume.name)) continue;
        const Result<VolumeRequest> request = volume_request(view, volume);
        if (!request) return request.error().message;
        const auto failed = view.volume_failures.find(volume.name);
        if (failed != view.volume_failures.end()) return failed->second.message;
    }
    return "";
}

// Why a container that has no attempt yet, or none any more, does not run.
api::ContainerState waiting_state(const View& view, const api::Container& container, bool is_init) {
    api::ContainerState state;
    const auto failed = view.start_failures.find(container.name);
    if (failed != view.start_failures.end()) {
        const bool is_image = failed->second.reason == "ErrImagePull" && failed->second.count > 1;
        state.waiting_reason = is_image ? "ImagePullBackOff" : failed->second.reason;
        state.waiting_message = failed->second.message;
        return state;
    }
    state.waiting_reason = is_init || view.pod->spec.init_containers.empty() ? "ContainerCreating" : "PodInitializing";
    state.waiting_message = volume_trouble(view);
    return state;
}

// How the attempt before the newest ended.
json::Value last_state(const View& view, const api::ContainerStatus* before, const ContainerInfo& info) {
    for (const ContainerInfo& older : view.containers) {
        if (older.name == info.name && older.attempt + 1 == info.attempt) return api::to_json(state_of(older));
    }
    return before != nullptr ? before->last_state : json::Value();
}

api::ContainerStatus container_status(const View& view, const api::Container& container, bool is_init) {
    const auto& before = is_init ? view.pod->status.init_container_statuses : view.pod->status.container_statuses;
    const auto info = newest(view, container.name);
    api::ContainerStatus out;
    out.name = container.name;
    out.image = container.image;
    out.image_id = container.image;
    out.started = false;
    if (!info) {
        out.state = api::to_json(waiting_state(view, container, is_init));
        return out;
    }
    const api::ContainerStatus* told = known(before, container.name);
    out.container_id = !info->id.empty() ? "crun://" + info->id : told != nullptr ? told->container_id : "";
    out.restart_count = info->attempt;
    out.last_state = last_state(view, told, *info);
    const auto step = step_of(view, container, is_init);
    const bool waits = step && step->not_before && view.now < *step->not_before;
    if (waits) {
        api::ContainerState state = waiting_state(view, container, is_init);
        if (!view.start_failures.contains(container.name)) {
            const auto pause = std::chrono::duration_cast<std::chrono::seconds>(
                crash_backoff(*view.pod, info->exit_code, step->attempt)
            );
            state.waiting_reason = "CrashLoopBackOff";
            state.waiting_message = "back-off " + std::to_string(pause.count()) +
                                    "s restarting failed container=" + container.name + " pod=" + pod_text(view);
        }
        out.state = api::to_json(state);
        out.last_state = api::to_json(state_of(*info));
        return out;
    }
    out.state = api::to_json(state_of(*info));
    const bool runs = info->phase == ContainerPhase::running;
    out.started = runs;
    out.ready =
        runs || (is_init && !is_sidecar(container) && info->phase == ContainerPhase::exited && info->exit_code == 0);
    return out;
}

bool is_initialized(const View& view, const api::Container& init) {
    const auto info = newest(view, init.name);
    if (is_sidecar(init)) return info && (info->phase != ContainerPhase::created || info->attempt > 0);
    return info && info->phase == ContainerPhase::exited && info->exit_code == 0;
}

std::string phase_of(const View& view) {
    const auto result = outcome(view);
    if (result && !has_running(view)) return *result ? "Succeeded" : "Failed";
    const bool initialized = std::ranges::all_of(view.pod->spec.init_containers, [&](const auto& init) {
        return is_initialized(view, init);
    });
    const bool all_came_up = std::ranges::all_of(view.pod->spec.containers, [&](const api::Container& container) {
        const auto info = newest(view, container.name);
        return info && (info->phase != ContainerPhase::created || info->attempt > 0);
    });
    return initialized && all_came_up ? "Running" : "Pending";
}

void set_condition(
    const View& view,
    std::vector<api::Condition>& conditions,
    std::string_view type,
    bool holds,
    std::string reason = "",
    std::string message = ""
) {
    auto it = std::ranges::find(conditions, type, &api::Condition::type);
    if (it == conditions.end()) {
        conditions.push_back({.type = std::string(type)});
        it = std::prev(conditions.end());
    }
    const std::string status = holds ? "True" : "False";
    if (it->status != status) it->last_transition_time = view.now;
    it->status = status;
    it->reason = std::move(reason);
    it->message = std::move(message);
}

std::string listed(const std::string& text, const std::vector<std::string>& names) {
    std::string out = text + " [";
    for (std::size_t i = 0; i < names.size(); ++i) out += (i == 0 ? "" : " ") + names[i];
    return out + "]";
}

// "" when every readiness gate is open.
std::string closed_gate(const View& view, const std::vector<api::Condition>& conditions) {
    const json::Value& gates = view.pod->spec.readiness_gates;
    if (!gates.is_array()) return {};
    for (const json::Value& gate : gates.get_array()) {
        const std::string type(json::text_at(gate, "/conditionType"));
        const api::Condition* condition = api::find_condition(conditions, type);
        if (condition == nullptr)
            return "corresponding condition of pod readiness gate \"" + type + "\" does not exist.";
        if (condition->status != "True")
            return "the status of pod readiness gate \"" + type + "\" is not \"True\", but " + condition->status;
    }
    return {};
}

void set_initialized(const View& view, api::PodStatus& status) {
    std::vector<std::string> incomplete;
    for (const api::Container& init : view.pod->spec.init_containers) {
        if (!is_initialized(view, init)) incomplete.push_back(init.name);
    }
    if (incomplete.empty() || status.phase == "Succeeded") {
        set_condition(view, status.conditions, "Initialized", true, status.phase == "Succeeded" ? "PodCompleted" : "");
        return;
    }
    set_condition(
        view,
        status.conditions,
        "Initialized",
        false,
        "ContainersNotInitialized",
        listed("containers with incomplete status:", incomplete)
    );
}

void set_ready(const View& view, api::PodStatus& status) {
    const bool is_final = status.phase == "Succeeded" || status.phase == "Failed";
    if (is_final) {
        const char* reason = status.phase == "Succeeded" ? "PodCompleted" : "PodFailed";
        set_condition(view, status.conditions, "Ready", false, reason);
        set_condition(view, status.conditions, "ContainersReady", false, reason);
        return;
    }
    std::vector<std::string> unready;
    for (std::size_t i = 0; i < view.pod->spec.init_containers.size(); ++i) {
        const api::ContainerStatus& one = status.init_container_statuses[i];
        if (is_sidecar(view.pod->spec.init_containers[i]) && !one.ready) unready.push_back(one.name);
    }
    for (const api::ContainerStatus& one : status.container_statuses) {
        if (!one.ready) unready.push_back(one.name);
    }
    if (!unready.empty()) {
        const std::string message = listed("containers with unready status:", unready);
        set_condition(view, status.conditions, "Ready", false, "ContainersNotReady", message);
        set_condition(view, status.conditions, "ContainersReady", false, "ContainersNotReady", message);
        return;
    }
    const std::string gate = closed_gate(view, status.conditions);
    set_condition(view, status.conditions, "Ready", gate.empty(), gate.empty() ? "" : "ReadinessGatesNotReady", gate);
    set_condition(view, status.conditions, "ContainersReady", true);
}

}  // namespace

api::PodStatus status_of(const View& view) {
    api::PodStatus status = view.pod->status;
    if (view.pod->is_terminal()) return status;
    status.container_statuses.clear();
    status.init_container_statuses.clear();
    for (const api::Container& init : view.pod->spec.init_containers) {
        status.init_container_statuses.push_back(container_status(view, init, true));
    }
    for (const api::Container& container : view.pod->spec.containers) {
        status.container_statuses.push_back(container_status(view, container, false));
    }
    status.host_ip = view.node_address;
    status.pod_ip = view.node_address;
    if (!status.start_time) status.start_time = view.now;
    status.phase = phase_of(view);
    if (status.phase == "Failed" && is_past_deadline(view)) {
        status.reason = "DeadlineExceeded";
        status.message = "Pod was active on the node longer than the specified deadline";
    }
    set_initialized(view, status);
    set_ready(view, status);
    set_condition(view, status.conditions, "PodScheduled", true);
    return status;
}

}  // namespace berth::solo::kubelet
