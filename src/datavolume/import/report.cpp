#include "datavolume/import/report.hpp"

#include <algorithm>
#include <charconv>

#include "base/ranges.hpp"
#include "datavolume/import/facts.hpp"
#include "datavolume/names.hpp"

namespace berth::datavolume::import {
namespace {

using Annotations = std::map<std::string, std::string>;

const std::string kReason = std::string(kRunning) + ".reason";
const std::string kMessage = std::string(kRunning) + ".message";

void set_running(Annotations& out, const char* status, std::string reason, std::string message) {
    out[kRunning] = status;
    out[kReason] = std::move(reason);
    out[kMessage] = std::move(message);
}

void add_restarts(const View& view, Annotations& out) {
    const std::string before = annotation(view, kPodRestarts);
    std::int64_t count = 0;
    std::from_chars(before.data(), before.data() + before.size(), count);
    if (const api::ContainerStatus* worker = worker_status(*view.pod)) count = std::max(count, worker->restart_count);
    out[kPodRestarts] = std::to_string(count);
}

bool is_unschedulable(const api::Pod& pod) {
    const api::Condition* scheduled = api::find_condition(pod.status.conditions, "PodScheduled");
    return pod.status.phase != "Running" && scheduled != nullptr && scheduled->status == "False" &&
           scheduled->reason == "Unschedulable";
}

bool has_just_restarted(const View& view, const api::ContainerState& state) {
    const auto end = last_end(*view.pod);
    return end && end->exit_code != 0 && state.running_since && view.now - *state.running_since < kSettlingTime;
}

void add_running(const View& view, Annotations& out) {
    const api::ContainerStatus* worker = worker_status(*view.pod);
    if (worker == nullptr) return;
    const api::ContainerState state = api::container_state(worker->state);
    const auto end = last_end(*view.pod);
    // Between two tries the reason of the last one stays, so that a worker that fails at once does not flicker.
    const bool shows_end =
        state.exit_code || state.waiting_reason == "CrashLoopBackOff" || has_just_restarted(view, state);
    if (shows_end && end && end->exit_code != 0) {
        set_running(
            out,
            "false",
            end->terminated_reason.empty() ? "Error" : end->terminated_reason,
            simplified(end->terminated_message)
        );
    } else if (state.running_since) {
        set_running(out, "true", "Pod is running", "");
    } else if (!state.waiting_reason.empty()) {
        constexpr std::string_view kOnItsWay[] = {"ContainerCreating", "PodInitializing"};
        if (contains(kOnItsWay, state.waiting_reason) && state.waiting_message.empty()) return;
        if (state.waiting_reason == "CrashLoopBackOff") return;
        set_running(out, "false", state.waiting_reason, simplified(state.waiting_message));
    }
}

// The one line of JSON that a worker leaves when it has succeeded.
json::Value termination_of(const View& view) {
    const auto end = last_end(*view.pod);
    const auto read = json::parse(end ? end->terminated_message : std::string());
    return read && read->is_object() ? *read : json::Value(json::Object());
}

}  // namespace

std::string simplified(const std::string& message) {
    constexpr const char* kTooSmall[] = {
        "is larger than the reported available",
        "no space left on device",
        "file largest block is bigger than maxblock",
        "disk quota exceeded",
    };
    const bool is_too_small =
        std::ranges::any_of(kTooSmall, [&](const char* text) { return message.find(text) != std::string::npos; });
    return is_too_small ? "DataVolume too small to contain image: " + message : message;
}

Annotations report_of(const View& view) {
    Annotations out;
    const std::string& phase = view.pod->status.phase;
    out[kImportPod] = importer_name(view.claim.metadata.name);
    out[kPodPhase] = phase.empty() ? "Pending" : phase;
    add_restarts(view, out);
    const bool was_unschedulable = annotation(view, kPodSchedulable) == "false";
    if (is_unschedulable(*view.pod) != was_unschedulable) out[kPodSchedulable] = was_unschedulable ? "true" : "false";
    add_running(view, out);
    return out;
}

Annotations success_report(const View& view) {
    Annotations out;
    const json::Value termination = termination_of(view);
    const std::string_view message = json::text_at(termination, "/message");
    out[kImportPod] = importer_name(view.claim.metadata.name);
    out[kPodPhase] = "Succeeded";
    add_restarts(view, out);
    if (annotation(view, kPodSchedulable) == "false") out[kPodSchedulable] = "true";
    if (json::bool_at(termination, "/preallocationApplied")) out[kPreallocated] = "true";
    set_running(out, "false", "Completed", message.empty() ? "Import Complete" : std::string(message));
    return out;
}

Annotations mismatch_report(const View& view) {
    Annotations out;
    out[kPodPhase] = "Failed";
    out[kFatalError] = "true";
    add_restarts(view, out);
    set_running(out, "false", "ChecksumError", last_end(*view.pod)->terminated_message);
    return out;
}

bool add_patch(api::Plan& plan, const View& view, const Annotations& annotations, const Annotations& labels) {
    json::Object changed;
    for (const auto& [key, value] : annotations) {
        const std::string* before = view.claim.metadata.annotation(key);
        // A reason or message that is not there reads the same as an empty one.
        if (before == nullptr ? value.empty() : *before == value) continue;
        changed[key] = value;
    }
    json::Object added;
    for (const auto& [key, value] : labels) {
        if (view.claim.metadata.label(key) == nullptr) added[key] = value;
    }
    if (changed.empty() && added.empty()) return false;
    json::Object metadata;
    if (!changed.empty()) metadata["annotations"] = std::move(changed);
    if (!added.empty()) metadata["labels"] = std::move(added);
    plan.add(api::Patch{
        .key = {&api::kClaim, view.claim.metadata.ns, view.claim.metadata.name},
        .patch = json::Value(json::Object{{"metadata", std::move(metadata)}}
          ),
        .uid = view.claim.metadata.uid,
    });
    return true;
}

}  // namespace berth::datavolume::import
