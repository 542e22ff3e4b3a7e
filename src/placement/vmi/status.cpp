// The whole status of a VMI, as far as the controller owns it: phase, conditions, volumes, pods.
#include "base/ranges.hpp"
#include "placement/conditions.hpp"
#include "placement/names.hpp"
#include "placement/vmi/facts.hpp"
#include "placement/vmi/sync.hpp"
#include "placement/vmi/volumes.hpp"

namespace berth::placement::vmi {
namespace {

// --- Phase -----------------------------------------------------------------------------------------------------------

enum class Stage { unprocessed, scheduling, on_node, other };

Stage stage_of(const View& view) {
    if (is_unprocessed(view)) return Stage::unprocessed;
    if (view.vmi->status.phase == "Scheduling") return Stage::scheduling;
    return is_on_node(view) ? Stage::on_node : Stage::other;
}

bool has_launcher(const View& view) { return launcher(view) != nullptr; }
bool must_fail_early(const View& view) { return is_deleted(view) || has_failed_disk(view); }
bool lost_temp_pod(const View& view) {
    const api::Pod* pod = temp_pod(view);
    return pod != nullptr && has_waiting_disk(view) && is_failed_or_going_down(*pod);
}
bool lost_launcher(const View& view) {
    const api::Pod* pod = launcher(view);
    return pod == nullptr || is_down_or_going_down(*pod);
}
bool lacks_guarantee(const View& view) {
    const auto& cpu = view.vmi->spec.domain.cpu;
    const api::Pod* pod = launcher(view);
    return cpu && cpu->dedicated_cpu_placement && pod != nullptr && pod->status.qos_class != "Guaranteed";
}
bool hands_over(const View& view) {
    const api::Pod* pod = launcher(view);
    return pod != nullptr && is_ready(*pod) && !is_deleted(view) && !lacks_guarantee(view);
}
bool lacks_launcher(const View& view) { return launcher(view) == nullptr; }

struct Transition {
    std::string_view spec;
    Stage from;
    bool (*when)(const View&);
    std::string_view to;
};

constexpr Transition kPhases[] = {
    {"I-20", Stage::unprocessed, has_launcher,      "Scheduling"},
    {"I-21", Stage::unprocessed, must_fail_early,   "Failed"    },
    {"I-24", Stage::unprocessed, lost_temp_pod,     "Failed"    },
    {"I-22", Stage::unprocessed, api::always<View>, "Pending"   },
    {"I-28", Stage::scheduling,  lost_launcher,     "Failed"    },
    {"I-27", Stage::scheduling,  hands_over,        "Scheduled" },
    {"I-29", Stage::on_node,     lacks_launcher,    "Failed"    },
};

std::string phase_of(const View& view) {
    const Stage stage = stage_of(view);
    for (const Transition& transition : kPhases) {
        if (transition.from == stage && transition.when(view)) return std::string(transition.to);
    }
    return view.vmi->status.phase;
}

void set_phase(api::VmiStatus& status, std::string phase, Timestamp now) {
    status.phase = std::move(phase);
    // The first time a phase is entered counts.
    if (!contains(
            status.phase_transition_timestamps | std::views::transform(&api::PhaseTransition::phase), status.phase
        )) {
        status.phase_transition_timestamps.push_back({status.phase, now});
    }
}

// --- Errors ----------------------------------------------------------------------------------------------------------

// The error of the flow, or what the pod says about its image (I-26), or the missing guarantee (I-27).
std::optional<SyncError> error_of(const View& view, const Outcome& outcome) {
    if (outcome.error) return outcome.error;
    const api::Pod* pod = current_pod(view);
    if (pod == nullptr || is_on_node(view) || is_final(view)) return {};
    if (auto image = image_error(*pod)) return image;
    if (stage_of(view) == Stage::scheduling && is_ready(*pod) && lacks_guarantee(view)) {
        return SyncError{"FailedGuaranteeResources", "failed to guarantee pod resources"};
    }
    return {};
}

// --- Conditions ------------------------------------------------------------------------------------------------------

void set_provisioning(api::VmiStatus& status, const View& view) {
    if (status.phase == "Pending") {
        // Not removed while still Pending: what was waited for may be waited for again.
        if (has_waiting_disk(view)) update_condition(status.conditions, {.type = "Provisioning", .status = "True"});
    } else {
        remove_condition(status.conditions, "Provisioning");
    }
}

void copy_pod_scheduled(api::VmiStatus& status, const api::Pod& pod) {
    const api::Condition* scheduled = api::find_condition(pod.status.conditions, "PodScheduled");
    if (scheduled == nullptr || scheduled->status != "False") {
        remove_condition(status.conditions, "PodScheduled");
    } else {
        refresh_condition(status.conditions, *scheduled);
    }
}

void set_pod_scheduled(api::VmiStatus& status, const View& view, const std::optional<SyncError>& error) {
    if (is_unprocessed(view)) {
        const api::Pod* pod = temp_pod(view);
        if (error && error->reason == "FailedPvcNotFound") {
            refresh_condition(
                status.conditions,
                {.type = "PodScheduled",
                 .status = "False",
                 .reason = "Unschedulable",
                 .message = error->message,
                 .last_transition_time = view.now}
            );
        } else if (pod != nullptr && has_waiting_disk(view)) {
            copy_pod_scheduled(status, *pod);
        }
    }
    const bool is_scheduling = view.vmi->status.phase == "Scheduling" || status.phase == "Scheduling";
    if (const api::Pod* pod = launcher(view); is_scheduling && pod != nullptr) copy_pod_scheduled(status, *pod);
}

void set_synchronized(api::VmiStatus& status, const View& view, const std::optional<SyncError>& error) {
    if (is_on_node(view) || is_final(view)) return;  // the node's agent writes it from the hand-over on
    if (!error) {
        remove_condition(status.conditions, "Synchronized");
        return;
    }
    update_condition(
        status.conditions,
        {.type = "Synchronized",
         .status = "False",
         .reason = error->reason,
         .message = error->message,
         .last_transition_time = view.now}
    );
}

api::Condition readiness_condition(const api::VmiStatus& status, const View& view) {
    const auto not_ready = [&](const char* reason, const char* message) {
        return api::Condition{
            .type = "Ready", .status = "False", .reason = reason, .message = message, .last_transition_time = view.now
        };
    };
    const api::Pod* pod = launcher(view);
    if (pod == nullptr) return not_ready("PodNotExists", "virt-launcher pod has not yet been scheduled");
    if (is_down_or_going_down(*pod)) return not_ready("PodTerminating", "virt-launcher pod is terminating");
    if (status.phase != "Running") return not_ready("GuestNotRunning", "Guest VM is not reported as running");
    const api::Condition* ready = api::find_condition(pod->status.conditions, "Ready");
    if (ready == nullptr) return not_ready("PodConditionMissing", "virt-launcher pod is missing the Ready condition");
    return *ready;
}

void set_disks_ready(api::VmiStatus& status, const View& view) {
    const auto disks = data_volumes(view);
    if (disks.empty()) {
        remove_condition(status.conditions, "DataVolumesReady");
        return;
    }
    bool any_false = false;
    bool all_true = true;
    for (const api::DataVolume* disk : disks) {
        any_false = any_false || has_condition(disk->status.conditions, "Ready", "False");
        all_true = all_true && has_condition(disk->status.conditions, "Ready", "True");
    }
    api::Condition condition{.type = "DataVolumesReady", .last_transition_time = view.now};
    if (all_true) {
        condition.status = "True";
        condition.reason = "AllDVsReady";
        condition.message = "All of the VMI's DVs are bound and ready";
    } else {
        condition.status = any_false ? "False" : "Unknown";
        condition.reason = "NotAllDVsReady";
        condition.message = "Not all of the VMI's DVs are ready";
    }
    update_condition(status.conditions, std::move(condition));
}

// --- The rest --------------------------------------------------------------------------------------------------------

std::map<std::string, std::string> active_pods(const View& view) {
    std::map<std::string, std::string> out;
    for (const api::Pod* pod : view.pods) out[pod->metadata.uid.value] = pod->spec.node_name;
    return out;
}

void hand_over(api::VmiStatus& status, const api::Pod& pod) {
    status.node_name = pod.spec.node_name;
    status.migration_transport = "Unix";
    if (!pod.spec.containers.empty()) status.launcher_container_image_version = pod.spec.containers.front().image;
}

}  // namespace

api::VmiStatus status(const View& view, const Outcome& outcome) {
    api::VmiStatus out = view.vmi->status;
    const std::optional<SyncError> error = error_of(view, outcome);
    set_phase(out, phase_of(view), view.now);
    if (const api::Pod* pod = launcher(view)) {
        if (out.phase == "Scheduling" || out.phase == "Scheduled") out.qos_class = pod->status.qos_class;
        if (out.phase == "Scheduled" && out.node_name.empty()) hand_over(out, *pod);
    }
    if (out.phase == "Scheduled" || out.phase == "Running") out.volume_status = volume_status(view);
    set_provisioning(out, view);
    set_pod_scheduled(out, view, error);
    set_synchronized(out, view, error);
    refresh_condition(out.conditions, readiness_condition(out, view));
    set_disks_ready(out, view);
    out.active_pods = active_pods(view);
    return out;
}

}  // namespace berth::placement::vmi
