#include "solo/rules/kubelet/facts.hpp"

namespace berth::solo::kubelet {
namespace {

using namespace std::chrono_literals;

// Whether an ended container is started again under the pod's policy.
bool is_restarted(const api::Pod& pod, const api::Container& container, const ContainerInfo& ended, bool is_init) {
    if (is_sidecar(container)) return true;
    const std::string& policy = pod.spec.restart_policy;
    if (policy == "Never") return false;
    if (policy == "OnFailure" || is_init) return ended.exit_code != 0;
    return true;
}

std::optional<Step> step_of(const View& view, const api::Container& container, bool is_init) {
    const ContainerInfo* info = newest(view, container.name);
    const auto failed = view.start_failures.find(container.name);
    if (info == nullptr) {
        Step step{&container, 0, {}};
        if (failed != view.start_failures.end()) step.not_before = failed->second.at + backoff(failed->second.count);
        return step;
    }
    if (info->phase != ContainerPhase::exited) return {};
    if (!is_restarted(*view.pod, container, *info, is_init)) return {};
    Step step{&container, info->attempt + 1, {}};
    if (info->attempt > 0 || info->exit_code != 0) {
        step.not_before = info->finished_at.value_or(view.now) + backoff(static_cast<int>(info->attempt) + 1);
    }
    return step;
}

}  // namespace

const ContainerInfo* newest(const View& view, std::string_view container) {
    const ContainerInfo* found = nullptr;
    for (const ContainerInfo& info : view.containers) {
        if (info.name == container && (found == nullptr || info.attempt > found->attempt)) found = &info;
    }
    return found;
}

bool is_running(const View& view, std::string_view container) {
    const ContainerInfo* info = newest(view, container);
    return info != nullptr && info->phase == ContainerPhase::running;
}

bool is_sidecar(const api::Container& container) { return container.restart_policy == "Always"; }

bool is_gone(const View& view) { return !view.pod.has_value(); }

bool is_deleting(const View& view) { return view.pod->metadata.is_deleting(); }

bool is_terminal(const View& view) { return view.pod->is_terminal(); }

bool lacks_directory(const View& view) { return !view.has_directory; }

bool lacks_volume(const View& view) {
    return std::ranges::any_of(view.pod->spec.volumes, [&](const api::PodVolume& volume) { return !view.prepared.contains(volume.name); });
}

std::optional<Step> next_step(const View& view) {
    for (const api::Container& container : view.pod->spec.init_containers) {
        if (const auto step = step_of(view, container, true)) return step;
        const ContainerInfo* info = newest(view, container.name);
        if (is_sidecar(container) ? !is_running(view, container.name) : info->phase != ContainerPhase::exited) return {};
        if (!is_sidecar(container) && info->exit_code != 0) return {};  // restartPolicy Never: the pod has failed
    }
    for (const api::Container& container : view.pod->spec.containers) {
        const auto step = step_of(view, container, false);
        const bool waits = step && step->not_before && *step->not_before > view.now;
        if (step && !waits) return step;
    }
    // Nothing can start now: the earliest backoff says when to look again.
    std::optional<Step> earliest;
    for (const api::Container& container : view.pod->spec.containers) {
        const auto step = step_of(view, container, false);
        if (step && (!earliest || *step->not_before < *earliest->not_before)) earliest = step;
    }
    return earliest;
}

bool has_step(const View& view) { return next_step(view).has_value(); }

Duration backoff(int failures) {
    Duration delay = 10s;
    for (int i = 1; i < failures && delay < Duration(300s); ++i) delay *= 2;
    return std::min(delay, Duration(300s));
}

std::optional<std::int64_t> fs_group(const api::Pod& pod) { return json::integer_at(pod.spec.security_context, "/fsGroup"); }

}  // namespace berth::solo::kubelet
