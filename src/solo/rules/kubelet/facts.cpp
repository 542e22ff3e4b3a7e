#include "solo/rules/kubelet/facts.hpp"

#include "api/pod_annotations.hpp"

namespace berth::solo::kubelet {
namespace {

using namespace std::chrono_literals;

constexpr int kLostExitCode = 137;
constexpr Duration kLongestPause = 5min;
constexpr Duration kGoodRun = 10min;  ///< after a run this long a crash counts as the first

const api::ContainerStatus* known_status(const View& view, std::string_view container) {
    for (const auto* list : {&view.pod->status.init_container_statuses, &view.pod->status.container_statuses}) {
        const auto it = std::ranges::find(*list, container, &api::ContainerStatus::name);
        if (it != list->end()) return &*it;
    }
    return nullptr;
}

// A container that ran and left no trace: the machine's records are gone. It must not run a second time as the first.
std::optional<ContainerInfo> lost(const View& view, std::string_view container) {
    const api::ContainerStatus* known = view.pod ? known_status(view, container) : nullptr;
    if (known == nullptr || known->container_id.empty()) return {};
    const api::ContainerState state = api::container_state(known->state);
    ContainerInfo info;
    info.pod_uid = view.uid;
    info.name = container;
    info.attempt = known->restart_count;
    info.phase = ContainerPhase::exited;
    info.exit_code = state.exit_code ? static_cast<int>(*state.exit_code) : kLostExitCode;
    info.started_at = state.running_since ? state.running_since : state.started_at;
    info.finished_at = state.finished_at;
    info.termination_message =
        state.exit_code ? state.terminated_message : "the machine has no record of the container any more";
    return info;
}

Duration doubled(Duration first, std::int64_t failures) {
    Duration delay = first;
    for (std::int64_t i = 1; i < failures && delay < kLongestPause; ++i) delay *= 2;
    return std::min(delay, kLongestPause);
}

// Whether an ended container is started again under the pod's policy.
bool is_restarted(const View& view, const api::Container& container, int exit_code, bool is_init) {
    if (view.pod->metadata.is_deleting() || is_past_deadline(view)) return false;
    if (is_sidecar(container)) return true;
    const std::string& policy = view.pod->spec.restart_policy;
    if (policy == "Never") return false;
    if (policy == "OnFailure" || is_init) return exit_code != 0;
    return true;
}

bool has_failed_for_good(const View& view, const api::Container& init) {
    const auto info = newest(view, init.name);
    if (!info || info->phase != ContainerPhase::exited || info->exit_code == 0) return false;
    return !is_restarted(view, init, info->exit_code, true);
}

}  // namespace

std::optional<ContainerInfo> newest(const View& view, std::string_view container) {
    const ContainerInfo* found = nullptr;
    for (const ContainerInfo& info : view.containers) {
        if (info.name == container && (found == nullptr || info.attempt > found->attempt)) found = &info;
    }
    return found != nullptr ? *found : lost(view, container);
}

bool is_running(const View& view, std::string_view container) {
    const auto info = newest(view, container);
    return info && info->phase == ContainerPhase::running;
}

bool is_sidecar(const api::Container& container) { return container.restart_policy == "Always"; }

bool is_sidecar_name(const View& view, std::string_view container) {
    return std::ranges::any_of(view.pod->spec.init_containers, [&](const api::Container& init) {
        return init.name == container && is_sidecar(init);
    });
}

bool is_unknown(const View& view) { return !view.knows_containers; }

bool is_gone(const View& view) { return !view.pod.has_value(); }

bool is_deleting(const View& view) { return view.pod->metadata.is_deleting(); }

bool has_running(const View& view) {
    return std::ranges::any_of(view.containers, [](const ContainerInfo& info) {
        return info.phase != ContainerPhase::exited;
    });
}

bool is_past_deadline(const View& view) {
    const auto& seconds = view.pod->spec.active_deadline_seconds;
    const auto& start = view.pod->status.start_time;
    return seconds && start && view.now >= *start + std::chrono::seconds(*seconds);
}

std::optional<bool> outcome(const View& view) {
    if (view.pod->is_terminal()) return view.pod->status.phase == "Succeeded";
    if (is_past_deadline(view)) return false;
    for (const api::Container& init : view.pod->spec.init_containers) {
        if (!is_sidecar(init) && has_failed_for_good(view, init)) return false;
    }
    bool went_well = true;
    for (const api::Container& container : view.pod->spec.containers) {
        const auto info = newest(view, container.name);
        if (!info || info->phase != ContainerPhase::exited) return {};
        if (is_restarted(view, container, info->exit_code, false)) return {};
        went_well = went_well && info->exit_code == 0;
    }
    return went_well;
}

bool is_over(const View& view) { return outcome(view).has_value(); }

bool is_over_but_runs(const View& view) { return has_running(view) && is_over(view); }

bool lacks_step(const View& view) { return !next_step(view); }

bool lacks_directory(const View& view) { return !view.has_directory; }

bool lacks_volume(const View& view) {
    return std::ranges::any_of(view.pod->spec.volumes, [&](const api::PodVolume& volume) {
        return !view.prepared.contains(volume.name);
    });
}

std::optional<Step> step_of(const View& view, const api::Container& container, bool is_init) {
    Step step{&container, 0, {}};
    if (const auto info = newest(view, container.name)) {
        if (info->phase != ContainerPhase::exited) return {};
        if (!is_restarted(view, container, info->exit_code, is_init)) return {};
        step.attempt = info->attempt + 1;
        const Timestamp ended = info->finished_at.value_or(view.now);
        const bool ran_well = info->started_at && ended - *info->started_at >= kGoodRun;
        if (!ran_well) step.not_before = ended + crash_backoff(*view.pod, info->exit_code, step.attempt);
    }
    if (const auto failed = view.start_failures.find(container.name); failed != view.start_failures.end()) {
        step.not_before =
            std::max(step.not_before.value_or(Timestamp{}), failed->second.at + backoff(failed->second.count));
    }
    return step;
}

std::optional<Step> next_step(const View& view) {
    for (const api::Container& init : view.pod->spec.init_containers) {
        if (auto step = step_of(view, init, true)) return step;
        const auto info = newest(view, init.name);
        const bool is_done = is_sidecar(init) ? is_running(view, init.name) : info->phase == ContainerPhase::exited;
        if (!is_done) return {};
    }
    // The first that can start now, else the one whose pause ends first.
    std::optional<Step> earliest;
    for (const api::Container& container : view.pod->spec.containers) {
        auto step = step_of(view, container, false);
        if (!step) continue;
        if (!step->not_before || *step->not_before <= view.now) return step;
        if (!earliest || *step->not_before < *earliest->not_before) earliest = step;
    }
    return earliest;
}

Duration backoff(int failures) { return doubled(10s, failures); }

Duration crash_backoff(const api::Pod& pod, int exit_code, std::int64_t attempt) {
    const std::string* permanent = pod.metadata.annotation(api::kPermanentExitCode);
    if (permanent != nullptr && *permanent == std::to_string(exit_code)) return kLongestPause;
    return attempt <= 1 ? Duration(0) : doubled(1s, attempt - 1);
}

Timestamp grace_ends_at(const View& view) {
    Timestamp over{};
    if (is_past_deadline(view))
        over = *view.pod->status.start_time + std::chrono::seconds(*view.pod->spec.active_deadline_seconds);
    for (const ContainerInfo& info : view.containers) {
        if (info.phase == ContainerPhase::exited && info.finished_at) over = std::max(over, *info.finished_at);
    }
    return over + std::chrono::seconds(view.pod->spec.termination_grace_period_seconds.value_or(30));
}

std::optional<std::int64_t> fs_group(const api::Pod& pod) {
    return json::integer_at(pod.spec.security_context, "/fsGroup");
}

}  // namespace berth::solo::kubelet
