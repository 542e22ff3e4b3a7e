#include "explain/pod.hpp"

namespace berth::explain {
namespace {

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

// The scheduler's word that no node takes the pod now; nullptr when it has said none.
const api::Condition* refusal_of(const api::Pod& pod) {
    if (!pod.spec.node_name.empty()) return nullptr;
    const api::Condition* scheduled = api::find_condition(pod.status.conditions, "PodScheduled");
    return scheduled != nullptr && scheduled->status == "False" ? scheduled : nullptr;
}

}  // namespace

std::string unschedulable(const api::Pod& pod) {
    const api::Condition* refused = refusal_of(pod);
    return refused != nullptr && refused->reason == "Unschedulable" ? refused->message : std::string();
}

bool is_ready(const api::Pod& pod, const std::string& container) {
    return std::ranges::any_of(pod.status.container_statuses, [&](const api::ContainerStatus& status) {
        return status.name == container && status.ready;
    });
}

Line pod_line(const View& view, const api::Pod& pod, int depth) {
    Line line{.depth = depth, .object = "pod/" + pod.metadata.name};
    line.state = pod.metadata.is_deleting() ? "Terminating" : pod.status.phase;
    if (!pod.spec.node_name.empty()) line.state += " on node " + pod.spec.node_name;
    line.since = pod.metadata.creation_timestamp;
    if (pod.status.phase == "Running" || pod.status.phase == "Succeeded") return line;
    line.mark = pod.status.phase == "Failed" ? Mark::failed : Mark::waits;
    if (const api::Condition* refused = refusal_of(pod)) {
        line.why = refused->message;
        line.since = refused->last_transition_time;
        if (refused->reason == "Unschedulable") line.mark = Mark::failed;
    } else if (pod.spec.node_name.empty()) {
        line.why = "waits for the scheduler";
    } else {
        line.why = waiting_reason(pod);
        const std::string warning = warning_of(view, "pod/" + pod.metadata.name);
        if (!warning.empty()) line.why = warning;
        if (line.why.empty()) line.why = "waits for the kubelet of node " + pod.spec.node_name + " to start it";
    }
    return line;
}

}  // namespace berth::explain
