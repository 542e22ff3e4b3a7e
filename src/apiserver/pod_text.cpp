#include "apiserver/pod_text.hpp"

#include <algorithm>
#include <optional>

namespace berth::apiserver {
namespace {

using json::list_at;
using json::Value;

std::string text(const Value& value, std::string_view pointer) { return std::string(json::text_at(value, pointer)); }

bool has_condition(const Value& pod, std::string_view type) {
    return std::ranges::any_of(list_at(pod, "/status/conditions"), [&](const Value& c) {
        return json::text_at(c, "/type") == type && json::text_at(c, "/status") == "True";
    });
}

// Init containers that stay beside the others.
bool is_sidecar(const Value& pod, std::string_view name) {
    return std::ranges::any_of(list_at(pod, "/spec/initContainers"), [&](const Value& c) {
        return json::text_at(c, "/name") == name && json::text_at(c, "/restartPolicy") == "Always";
    });
}

// "Error", or "Signal:9", or "ExitCode:2" where the runtime gave no reason.
std::string end_of(const Value& terminated) {
    if (std::string reason = text(terminated, "/reason"); !reason.empty()) return reason;
    if (const auto signal = json::integer_at(terminated, "/signal").value_or(0); signal != 0)
        return "Signal:" + std::to_string(signal);
    return "ExitCode:" + std::to_string(json::integer_at(terminated, "/exitCode").value_or(0));
}

struct Restarts {
    std::int64_t count = 0;
    std::optional<Timestamp> last;

    void add(const Value& container) {
        count += json::integer_at(container, "/restartCount").value_or(0);
        const auto at = from_rfc3339(json::text_at(container, "/lastState/terminated/finishedAt"));
        if (at && (!last || *last < *at)) last = at;
    }
    std::string print(Timestamp now) const {
        std::string out = std::to_string(count);
        if (count != 0 && last) out += " (" + human_duration(now - *last) + " ago)";
        return out;
    }
};

struct Seen {
    std::string status;
    std::int64_t ready_count = 0;
    Restarts restarts;
};

// One init container: none when it is done or stays, else what it is held by.
std::optional<std::string> init_hold(const Value& pod, const Value& container, std::size_t index) {
    const Value* terminated = json::find(container, "/state/terminated");
    const bool has_ended = terminated != nullptr && terminated->is_object();
    if (has_ended && json::integer_at(*terminated, "/exitCode").value_or(0) == 0) return {};
    if (is_sidecar(pod, json::text_at(container, "/name")) && json::bool_at(container, "/started")) return {};
    if (has_ended) return "Init:" + end_of(*terminated);
    const std::string waiting = text(container, "/state/waiting/reason");
    if (!waiting.empty() && waiting != "PodInitializing") return "Init:" + waiting;
    return "Init:" + std::to_string(index) + "/" + std::to_string(list_at(pod, "/spec/initContainers").size());
}

// True while init containers hold the pod.
bool look_at_init_containers(const Value& pod, Seen& seen, Restarts& sidecars) {
    const json::Array& statuses = list_at(pod, "/status/initContainerStatuses");
    for (std::size_t i = 0; i < statuses.size(); ++i) {
        seen.restarts.add(statuses[i]);
        const bool stays = is_sidecar(pod, json::text_at(statuses[i], "/name"));
        if (stays) sidecars.add(statuses[i]);
        if (const auto hold = init_hold(pod, statuses[i], i)) {
            seen.status = *hold;
            return true;
        }
        if (stays && json::bool_at(statuses[i], "/ready")) ++seen.ready_count;
    }
    return false;
}

void look_at_containers(const Value& pod, Seen& seen) {
    const json::Array& statuses = list_at(pod, "/status/containerStatuses");
    bool any_runs = false;
    for (std::size_t i = statuses.size(); i-- > 0;) {  // the first container has the last word
        const Value& container = statuses[i];
        seen.restarts.add(container);
        const Value* terminated = json::find(container, "/state/terminated");
        if (const std::string waiting = text(container, "/state/waiting/reason"); !waiting.empty()) {
            seen.status = waiting;
        } else if (terminated != nullptr && terminated->is_object()) {
            seen.status = end_of(*terminated);
        } else if (json::bool_at(container, "/ready") && json::find(container, "/state/running") != nullptr) {
            any_runs = true;
            ++seen.ready_count;
        }
    }
    if (seen.status == "Completed" && any_runs) seen.status = has_condition(pod, "Ready") ? "Running" : "NotReady";
}

std::string status_of_pod(const Value& pod) {
    const bool is_gated = std::ranges::any_of(list_at(pod, "/status/conditions"), [](const Value& c) {
        return json::text_at(c, "/type") == "PodScheduled" && json::text_at(c, "/reason") == "SchedulingGated";
    });
    if (is_gated) return "SchedulingGated";
    const std::string reason = text(pod, "/status/reason");
    return reason.empty() ? text(pod, "/status/phase") : reason;
}

}  // namespace

PodText pod_text(const json::Value& pod, Timestamp now) {
    Seen seen{.status = status_of_pod(pod)};
    Restarts sidecars;
    const bool is_initializing = look_at_init_containers(pod, seen, sidecars);
    if (!is_initializing || has_condition(pod, "Initialized")) {
        seen.restarts = sidecars;
        look_at_containers(pod, seen);
    }
    if (!json::text_at(pod, "/metadata/deletionTimestamp").empty()) {
        seen.status = json::text_at(pod, "/status/reason") == "NodeLost" ? "Unknown" : "Terminating";
    }
    std::size_t total = list_at(pod, "/spec/containers").size();
    for (const Value& container : list_at(pod, "/spec/initContainers")) {
        if (json::text_at(container, "/restartPolicy") == "Always") ++total;
    }
    return {std::to_string(seen.ready_count) + "/" + std::to_string(total), seen.status, seen.restarts.print(now)};
}

}  // namespace berth::apiserver
