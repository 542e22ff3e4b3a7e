#include "datavolume/dv/status.hpp"

#include <charconv>

#include "api/codec.hpp"
#include "base/ranges.hpp"
#include "datavolume/dv/conditions.hpp"
#include "datavolume/dv/facts.hpp"
#include "datavolume/names.hpp"

namespace berth::datavolume::dv {
namespace {

std::string pod_phase(const View& view) {
    const std::string* phase = view.claim->metadata.annotation(kPodPhase);
    return phase == nullptr ? std::string() : *phase;
}

bool is_fatal(const View& view) {
    const std::string* fatal = view.claim->metadata.annotation(kFatalError);
    return fatal != nullptr && *fatal == "true";
}

// What the worker has come to, for a claim that is to be filled (datavolumes.md 2.7, import).
std::string import_phase(const View& view, const std::string& otherwise) {
    const std::string pod = pod_phase(view);
    if (pod == "Succeeded") return "Succeeded";
    const bool has_worker = view.claim->metadata.annotation(kImportPod) != nullptr;
    if (!has_worker || view.claim->status.phase != "Bound") return otherwise;
    if (pod == "Running") return "ImportInProgress";
    if (pod == "Failed" && is_fatal(view)) return "Failed";
    return "ImportScheduled";
}

std::string bound_phase(const View& view) {
    constexpr std::string_view kBefore[] = {"", "Pending", "WaitForFirstConsumer", "Unknown"};
    const std::string& phase = view.dv.status.phase;
    return import_phase(view, contains(kBefore, phase) ? "PVCBound" : phase);
}

std::string pending_phase(const View& view) {
    const bool waits = view.claim_class && view.claim_class->waits_for_consumer();
    return view.settings.honors_first_consumer && waits ? "WaitForFirstConsumer" : "Pending";
}

std::string phase_without_claim(const View& view) {
    const std::string& phase = view.dv.status.phase;
    const std::optional<Objection> objection = objection_of(view);
    if (objection && objection->reason == "ErrClaimNotValid") return phase;
    if (objection && objection->reason == "ErrExceededQuota") return "Pending";
    return phase.empty() || is_prepopulated(view) ? "Pending" : phase;
}

std::string phase_of(const View& view) {
    if (!view.claim) return phase_without_claim(view);
    const std::string& phase = view.dv.status.phase;
    if (claim_is_going(view) || claim_is_foreign(view)) return phase;
    const std::string& claim = view.claim->status.phase;
    if (claim == "Lost") return "Failed";
    if (claim_needs_no_work(view)) return claim.empty() ? phase : "Succeeded";
    if (pod_phase(view) == "Succeeded") return "Succeeded";
    if (claim == "Pending") return pending_phase(view);
    if (claim == "Bound") return bound_phase(view);
    return claim.empty() ? phase : "Unknown";
}

// -1 for what is not a figure.
double percent_of(const std::string& figure) {
    double out = -1;
    std::from_chars(figure.data(), figure.data() + figure.size(), out);
    return out;
}

std::string progress_of(const View& view, const std::string& phase) {
    const std::string& before = view.dv.status.progress;
    if (claim_is_going(view)) return before;
    if (phase == "Succeeded") return claim_needs_no_work(view) ? "N/A" : "100.0%";
    const bool is_being_filled = phase == "ImportInProgress" || phase == "ImportScheduled";
    // A claim that is filled a second time starts over; a worker that starts again does not take the figure back.
    const bool is_of_this_claim = is_being_filled && !before.empty() && !before.starts_with("100");
    const std::string shown = is_of_this_claim ? before : "N/A";
    if (phase != "ImportInProgress" || !view.progress) return shown;
    return percent_of(*view.progress) > percent_of(shown) ? *view.progress : shown;
}

std::int64_t restarts_of(const View& view) {
    const std::string* text = view.claim ? view.claim->metadata.annotation(kPodRestarts) : nullptr;
    std::int64_t count = view.dv.status.restart_count;
    if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), count);
    return count;
}

struct PhaseEvent {
    std::string_view phase;
    bool is_warning;
    const char* reason;
    const char* before;  ///< the claim's name goes between these two
    const char* after;
};

constexpr PhaseEvent kPhaseEvents[] = {
    {"ImportScheduled",  false, "ImportScheduled",  "Import into ",                    " scheduled"  },
    {"ImportInProgress", false, "ImportInProgress", "Import into ",                    " in progress"},
    {"Failed",           true,  "ImportFailed",     "Failed to import into PVC ",      ""            },
    {"Succeeded",        false, "ImportSucceeded",  "Successfully imported into PVC ", ""            },
};

api::Emit event(const View& view, bool is_warning, std::string reason, std::string message) {
    return {key_of(view.dv), view.dv.metadata.uid, is_warning, std::move(reason), std::move(message)};
}

void add_phase_event(const View& view, const api::DataVolumeStatus& status, std::vector<api::Intent>& out) {
    if (status.phase == view.dv.status.phase || !view.claim) return;
    const std::string& name = view.claim->metadata.name;
    if (view.claim->status.phase == "Lost") {
        out.emplace_back(event(view, true, "ErrClaimLost", "PVC " + name + " lost"));
        return;
    }
    if (claim_needs_no_work(view)) return;
    const std::string pod = pod_phase(view);
    if (status.phase == "ImportScheduled" && pod == "Failed") {
        out.emplace_back(event(view, true, "ImportFailed", "Failed to import into PVC " + name));
        return;
    }
    if (status.phase == "ImportScheduled" && pod != "Pending") return;
    for (const PhaseEvent& row : kPhaseEvents) {
        if (row.phase == status.phase) {
            out.emplace_back(event(view, row.is_warning, row.reason, row.before + name + row.after));
        }
    }
}

bool says_the_same(const api::Condition* a, const api::Condition& b) {
    return a != nullptr && a->status == b.status && a->reason == b.reason && a->message == b.message;
}

void add_condition_events(const View& view, const api::DataVolumeStatus& status, std::vector<api::Intent>& out) {
    const api::Condition& bound = *api::find_condition(status.conditions, "Bound");
    const api::Condition& ready = *api::find_condition(status.conditions, "Ready");
    const api::Condition& running = *api::find_condition(status.conditions, "Running");
    const std::optional<Objection> objection = objection_of(view);
    const bool on_claim = objection && objection->on == Objection::On::claim;
    if (!says_the_same(api::find_condition(view.dv.status.conditions, "Bound"), bound)) {
        out.emplace_back(event(view, on_claim, bound.reason, bound.message));
    }
    const api::Condition* ran = api::find_condition(view.dv.status.conditions, "Running");
    const bool message_is_new = !running.message.empty() && (ran == nullptr || ran->message != running.message);
    const bool tells = bound.status == "True" || (objection && !on_claim);
    if (ready.status == "False" && running.status == "False" && tells && message_is_new) {
        out.emplace_back(event(view, true, running.reason, running.message));
    }
}

}  // namespace

api::Key key_of(const api::DataVolume& dv) { return {&api::kDataVolume, dv.metadata.ns, dv.metadata.name}; }

api::Key claim_key(const api::DataVolume& dv) { return {&api::kClaim, dv.metadata.ns, dv.metadata.name}; }

api::DataVolumeStatus status_of(const View& view) {
    api::DataVolumeStatus out;
    out.phase = phase_of(view);
    out.claim_name = view.dv.status.claim_name;
    if (view.claim && !claim_is_going(view) && !claim_is_foreign(view)) out.claim_name = view.claim->metadata.name;
    out.progress = progress_of(view, out.phase);
    out.restart_count = restarts_of(view);
    out.conditions = conditions_of(view, out.phase);
    return out;
}

api::Plan with_report(api::Plan plan, const View& view) {
    const api::DataVolumeStatus status = status_of(view);
    const std::optional<json::Value> change = api::patch_between(view.dv.status, status);
    if (!change) return plan;
    plan.add(api::Patch{
        .key = key_of(view.dv),
        .part = api::Part::status,
        .patch = json::Value(json::Object{{"status", *change}}
          ),
        .uid = view.dv.metadata.uid,
    });
    // After the patch: an event tells of a change that was made.
    add_phase_event(view, status, plan.intents);
    add_condition_events(view, status, plan.intents);
    return plan;
}

}  // namespace berth::datavolume::dv
