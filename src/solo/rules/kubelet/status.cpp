// The status of a pod, whole, from what the runtime shows.
#include "solo/rules/kubelet/facts.hpp"

namespace berth::solo::kubelet {
namespace {

std::string short_reason(const ContainerInfo& info) {
    if (info.oom_killed) return "OOMKilled";
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

// An ended container that is about to be started again waits; how it ended moves to lastState.
bool waits_for_restart(const View& view, const api::Container& container, const ContainerInfo& info, bool is_init) {
    if (info.phase != ContainerPhase::exited || view.pod->metadata.is_deleting()) return false;
    if (is_sidecar(container)) return true;
    if (view.pod->spec.restart_policy == "Never") return false;
    if (view.pod->spec.restart_policy == "OnFailure" || is_init) return info.exit_code != 0;
    return true;
}

api::ContainerStatus container_status(const View& view, const api::Container& container, bool is_init) {
    const auto& before = is_init ? view.pod->status.init_container_statuses : view.pod->status.container_statuses;
    api::ContainerStatus out;
    out.name = container.name;
    out.image = container.image;
    out.image_id = container.image;
    const ContainerInfo* info = newest(view, container.name);
    if (info == nullptr) {
        api::ContainerState state;
        state.waiting_reason = is_init || view.pod->spec.init_containers.empty() ? "ContainerCreating" : "PodInitializing";
        const auto failed = view.start_failures.find(container.name);
        if (failed != view.start_failures.end()) {
            const bool is_image = failed->second.message.starts_with("image ");
            state.waiting_reason = !is_image ? "CreateContainerError" : failed->second.count > 1 ? "ImagePullBackOff" : "ErrImagePull";
            state.waiting_message = failed->second.message;
        }
        out.state = api::to_json(state);
        out.started = false;
        return out;
    }
    out.container_id = "crun://" + info->id;
    out.restart_count = info->attempt;
    if (const api::ContainerStatus* last = known(before, container.name)) out.last_state = last->last_state;
    if (waits_for_restart(view, container, *info, is_init)) {
        api::ContainerState state;
        state.waiting_reason = "CrashLoopBackOff";
        state.waiting_message = "the container is started again after a pause";
        out.state = api::to_json(state);
        out.last_state = api::to_json(state_of(*info));
        out.started = false;
        return out;
    }
    if (info->attempt > 0 && info->phase != ContainerPhase::exited) {
        for (const ContainerInfo& older : view.containers) {
            if (older.name == container.name && older.attempt == info->attempt - 1) out.last_state = api::to_json(state_of(older));
        }
    }
    out.state = api::to_json(state_of(*info));
    const bool runs = info->phase == ContainerPhase::running;
    out.started = runs;
    out.ready = runs || (is_init && info->phase == ContainerPhase::exited && info->exit_code == 0);
    return out;
}

bool is_done(const api::ContainerStatus& status) { return json::find(status.state, "/terminated") != nullptr; }
bool has_failed(const api::ContainerStatus& status) {
    const auto code = json::integer_at(status.state, "/terminated/exitCode");
    return code && *code != 0;
}
bool runs_now(const api::ContainerStatus& status) { return json::find(status.state, "/running") != nullptr; }

std::string phase_of(const View& view, const api::PodStatus& status) {
    if (view.pod->is_terminal()) return view.pod->status.phase;
    for (const api::ContainerStatus& init : status.init_container_statuses) {
        if (has_failed(init)) return "Failed";
    }
    const auto& apps = status.container_statuses;
    if (!apps.empty() && std::ranges::all_of(apps, is_done)) return std::ranges::any_of(apps, has_failed) ? "Failed" : "Succeeded";
    const bool has_run = std::ranges::any_of(apps, [](const auto& s) { return runs_now(s) || is_done(s) || s.restart_count > 0 || !s.last_state.is_null(); });
    const bool all_started = std::ranges::all_of(apps, [](const auto& s) { return !s.container_id.empty(); });
    return has_run && all_started ? "Running" : "Pending";
}

void set_condition(const View& view, std::vector<api::Condition>& conditions, std::string_view type, bool holds, std::string reason, std::string message) {
    auto it = std::ranges::find(conditions, type, &api::Condition::type);
    if (it == conditions.end()) {
        conditions.push_back({.type = std::string(type)});
        it = std::prev(conditions.end());
    }
    const std::string status = holds ? "True" : "False";
    if (it->status != status) it->last_transition_time = view.now;
    it->status = status;
    it->reason = holds ? "" : std::move(reason);
    it->message = holds ? "" : std::move(message);
}

}  // namespace

api::PodStatus status_of(const View& view) {
    api::PodStatus status = view.pod->status;
    status.container_statuses.clear();
    status.init_container_statuses.clear();
    for (const api::Container& container : view.pod->spec.init_containers) {
        status.init_container_statuses.push_back(container_status(view, container, true));
    }
    for (const api::Container& container : view.pod->spec.containers) {
        status.container_statuses.push_back(container_status(view, container, false));
    }
    status.host_ip = view.node_address;
    status.pod_ip = view.node_address;
    if (!status.start_time) status.start_time = view.now;
    status.phase = phase_of(view, status);

    const auto& inits = view.pod->spec.init_containers;
    bool initialized = true;
    for (std::size_t i = 0; i < inits.size(); ++i) {
        const api::ContainerStatus& init = status.init_container_statuses[i];
        initialized = initialized && (is_sidecar(inits[i]) ? runs_now(init) : is_done(init) && !has_failed(init));
    }
    const bool is_over = status.phase == "Succeeded" || status.phase == "Failed";
    const bool ready = !is_over && std::ranges::all_of(status.container_statuses, &api::ContainerStatus::ready);
    bool gates_open = true;
    if (const json::Value& gates = view.pod->spec.readiness_gates; gates.is_array()) {
        for (const json::Value& gate : gates.get_array()) {
            const api::Condition* condition = api::find_condition(status.conditions, json::text_at(gate, "/conditionType"));
            gates_open = gates_open && condition != nullptr && condition->status == "True";
        }
    }
    const std::string unready = is_over ? "PodCompleted" : "ContainersNotReady";
    set_condition(view, status.conditions, "Initialized", initialized || is_over, "ContainersNotInitialized", "init containers have not finished");
    set_condition(view, status.conditions, "ContainersReady", ready, unready, is_over ? "" : "containers are not ready");
    const std::string why = ready && !gates_open ? "ReadinessGatesNotReady" : unready;
    set_condition(view, status.conditions, "Ready", ready && gates_open, why, ready && !gates_open ? "a readiness gate is not open" : is_over ? "" : "containers are not ready");
    set_condition(view, status.conditions, "PodScheduled", true, "", "");
    return status;
}

}  // namespace berth::solo::kubelet
