// The whole status of a VM, computed from the view and what the pass does. Contract: docs/spec/placement.md V-40 to
// V-44
#include "base/hash.hpp"
#include "placement/conditions.hpp"
#include "placement/names.hpp"
#include "placement/vm/facts.hpp"
#include "placement/vm/start.hpp"
#include "placement/vm/sync.hpp"

namespace berth::placement::vm {
namespace {

// Conditions the VM keeps for itself; all others are the machine's.
bool is_own(std::string_view type) {
    return type == "Ready" || type == "Failure" || type == "RestartRequired" || type == "ManualRecoveryRequired";
}

// Written and taken back by the rules that plug volumes (hotplug/template).
bool has_plug_failure(const std::vector<api::Condition>& conditions) {
    const api::Condition* failure = api::find_condition(conditions, "Failure");
    return failure != nullptr && failure->reason == "HotPlugVolumeError";
}

api::Condition ready_condition(const View& view) {
    if (view.vmi == nullptr)
        return {.type = "Ready", .status = "False", .reason = "VMINotExists", .message = "VMI does not exist"};
    const api::Condition* ready = api::find_condition(view.vmi->status.conditions, "Ready");
    if (ready != nullptr) return *ready;
    return {
        .type = "Ready",
        .status = "False",
        .reason = "VMIConditionMissing",
        .message = "VMI is missing the Ready condition"
    };
}

void mirror_conditions(const View& view, const Pass& pass, std::vector<api::Condition>& conditions) {
    std::erase_if(conditions, [&](const api::Condition& condition) {
        return !is_own(condition.type) &&
               (view.vmi == nullptr || api::find_condition(view.vmi->status.conditions, condition.type) == nullptr);
    });
    api::Condition ready = ready_condition(view);
    if (!ready.last_transition_time) ready.last_transition_time = view.now;
    refresh_condition(conditions, std::move(ready));
    if (view.vmi != nullptr) {
        for (const api::Condition& condition : view.vmi->status.conditions) {
            if (!is_own(condition.type)) refresh_condition(conditions, condition);
        }
    }
    if (pass.outcome.error) {
        refresh_condition(
            conditions,
            {.type = "Failure",
             .status = "True",
             .reason = pass.outcome.error->reason,
             .message = pass.outcome.error->message,
             .last_transition_time = view.now}
        );
    } else if (!has_plug_failure(conditions)) {
        remove_condition(conditions, "Failure");
    }
    if (pass.starts || view.vmi == nullptr) {
        remove_condition(conditions, "RestartRequired");
    } else if (needs_restart(view)) {
        update_condition(
            conditions,
            {.type = "RestartRequired",
             .status = "True",
             .reason = "RestartRequired",
             .message = "a non-live-updatable field was changed in the template spec",
             .last_transition_time = view.now}
        );
    }
}

// True for a request that was answered, or that names a machine which is no more.
bool is_done(const View& view, const api::StateChangeRequest& request) {
    if (request.action == "Stop") return view.vmi == nullptr || request.uid != view.vmi->metadata.uid;
    return view.vmi != nullptr && !vmi_is_deleting(view) && !vmi_is_final(view);
}

// V-41: requests are a queue. A start behind a stop is for the next machine: it is looked at when the stop is done.
std::vector<api::StateChangeRequest> open_requests(const View& view, const Pass& pass) {
    std::vector<api::StateChangeRequest> out = view.vm->status.state_change_requests;
    const auto first_open = std::ranges::find_if(out, [&](const auto& request) { return !is_done(view, request); });
    out.erase(out.begin(), first_open);
    if (pass.restarts_later && start_request(view) == nullptr) out.push_back({.action = "Start"});
    return out;
}

// V-42: a machine that failed before it ever ran counts once; the pause grows with the square of the count. One that
// was taken away before it ran, as a restart does, did not fail by itself.
std::optional<api::StartFailure> start_failure(const View& view) {
    const std::string strategy = run_strategy(*view.vm);
    const bool counts = strategy == "Always" || strategy == "RerunOnFailure" || strategy == "Once";
    if (!counts) return {};
    const std::optional<api::StartFailure>& before = view.vm->status.start_failure;
    if (view.vmi == nullptr) return before;
    if (has_been(*view.vmi, "Running")) return {};
    if (view.vmi->status.phase != "Failed") return before;
    if (before && before->last_failed_vmi_uid == view.vmi->metadata.uid) return before;
    if (view.vmi->metadata.is_deleting()) return before;
    api::StartFailure out;
    out.consecutive_fail_count = (before ? before->consecutive_fail_count : 0) + 1;
    out.last_failed_vmi_uid = view.vmi->metadata.uid;
    // Rules draw no lots: the jitter, up to half of the pause, is a function of the machine that failed.
    const std::int64_t pause = 10 * out.consecutive_fail_count * out.consecutive_fail_count;
    const auto jitter =
        static_cast<std::int64_t>(fnv1a64(view.vmi->metadata.uid.value) % static_cast<std::uint64_t>(pause / 2 + 1));
    const std::int64_t seconds = std::min(view.config->max_crash_loop_backoff_seconds, pause + jitter);
    // Wire times have whole seconds, cut off: never earlier than the contract's least pause.
    out.retry_after_timestamp = std::chrono::ceil<std::chrono::seconds>(view.now + std::chrono::seconds(seconds));
    return out;
}

}  // namespace

api::VmStatus status(const View& view, const Pass& pass) {
    api::VmStatus out = view.vm->status;
    out.created = view.vmi != nullptr;
    const api::Condition ready = ready_condition(view);
    out.ready = view.vmi != nullptr && ready.status == "True";
    mirror_conditions(view, pass, out.conditions);
    out.state_change_requests = open_requests(view, pass);
    out.start_failure = start_failure(view);
    if (view.vmi != nullptr) out.run_strategy = run_strategy(*view.vm);
    out.desired_generation = view.vm->metadata.generation;
    const std::string* generation = view.vmi == nullptr ? nullptr : view.vmi->metadata.annotation(kVmGeneration);
    if (generation != nullptr && !generation->empty() &&
        generation->find_first_not_of("0123456789") == std::string::npos) {
        out.observed_generation = std::stoll(*generation);
    } else {
        out.observed_generation = view.vm->metadata.generation;
    }
    out.printable_status = printable_status(view, pass, out.start_failure);
    return out;
}

}  // namespace berth::placement::vm
