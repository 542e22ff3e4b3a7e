#include "datavolume/dv/conditions.hpp"

#include "datavolume/dv/facts.hpp"
#include "datavolume/names.hpp"

namespace berth::datavolume::dv {
namespace {

std::string annotation_or_empty(const api::PersistentVolumeClaim& claim, const std::string& key) {
    const std::string* value = claim.metadata.annotation(key);
    return value == nullptr ? std::string() : *value;
}

struct Said {
    std::string status;
    std::string reason;
    std::string message;
};

// The three annotations under which someone left a condition on the claim; status is "" when there is none.
Said said_on(const api::PersistentVolumeClaim& claim, const std::string& key) {
    return {
        annotation_or_empty(claim, key),
        annotation_or_empty(claim, key + ".reason"),
        annotation_or_empty(claim, key + ".message"),
    };
}

Said bound_of(const View& view) {
    if (!view.claim || claim_is_foreign(view)) return {"False", "NotFound", "No PVC found"};
    const api::PersistentVolumeClaim& claim = *view.claim;
    const std::string& name = claim.metadata.name;
    const std::string& phase = claim.status.phase;
    const Said said = said_on(claim, kBound);
    const bool is_denied = !said.status.empty() && said.status != "true";
    if (phase == "Lost") return {"False", "ClaimLost", "Claim Lost"};
    if (phase == "Bound") {
        if (is_denied) return {"False", said.reason, said.message};
        return {"True", "Bound", "PVC " + name + " Bound"};
    }
    if (!is_denied) return {"False", "Pending", "PVC " + name + " Pending"};
    const std::string* prime = claim.metadata.annotation(kPrime);
    const std::string why = prime == nullptr ? said.message : "[" + *prime + "] : " + said.message;
    return {"False", said.reason, "target PVC " + name + " Pending and " + why};
}

Said ready_of(const std::string& phase, const Said& running) {
    if (phase == "Succeeded") return {"True", "", ""};
    if (phase == "Unknown") return {"Unknown", "", ""};
    return {"False", running.status == "True" ? "TransferRunning" : "", ""};
}

std::string joined(const std::string& a, const std::string& b) { return a.empty() ? b : a + " and " + b; }

Said running_of(const View& view) {
    if (!view.claim || claim_is_foreign(view)) return {"False", "", ""};
    const std::string* schedulable = view.claim->metadata.annotation(kPodSchedulable);
    if (schedulable != nullptr && *schedulable == "false") {
        return {"False", "Unschedulable", "Importer pod cannot be scheduled"};
    }
    const Said target = said_on(*view.claim, kRunning);
    const Said source = said_on(*view.claim, kSourceRunning);
    const bool source_is_known = source.status.empty() || source.status == "true" || source.status == "false";
    if (target.status.empty()) return {"False", "", ""};
    if (target.status != "true" && target.status != "false") return {"Unknown", target.reason, target.message};
    if (!source_is_known) {
        return {"Unknown", joined(target.reason, source.reason), joined(target.message, source.message)};
    }
    if (target.status == "true") {
        if (source.status == "false") return {"False", source.reason, source.message};
        return {"True", target.reason, target.message};
    }
    if (source.status != "false") return {"False", target.reason, target.message};
    return {"False", joined(target.reason, source.reason), joined(target.message, source.message)};
}

// Times move only with what they are times of: an unchanged condition is the observed one, byte for byte.
api::Condition condition(const View& view, const char* type, const Said& said) {
    api::Condition out{.type = type, .status = said.status, .reason = said.reason, .message = said.message};
    out.last_transition_time = view.now;
    out.last_heartbeat_time = view.now;
    const api::Condition* before = api::find_condition(view.dv.status.conditions, type);
    if (before == nullptr || before->status != out.status) return out;
    out.last_transition_time = before->last_transition_time;
    if (before->reason == out.reason && before->message == out.message)
        out.last_heartbeat_time = before->last_heartbeat_time;
    return out;
}

}  // namespace

std::optional<Objection> objection_of(const View& view) {
    const std::string& name = view.dv.metadata.name;
    if (is_deleting(view) || claim_is_going(view)) return {};
    if (claim_is_foreign(view)) {
        return Objection{
            .reason = "ErrResourceExists",
            .message = "Resource \"" + name + "\" already exists and is not managed by DataVolume",
        };
    }
    if (has_claim(view) || is_prepopulated(view)) return {};
    if (source_is_unsupported(view)) {
        const std::string what =
            view.dv.spec.content_type == "archive" ? "content type archive" : "source " + source_name(view.dv.spec);
        return Objection{
            .on = Objection::On::worker,
            .reason = "SourceNotSupported",
            .message = what + " is not supported: use source http or blank with content type kubevirt",
        };
    }
    const auto claim = render_claim(view.render);
    if (!claim) return Objection{.reason = "ErrClaimNotValid", .message = claim.error().message};
    if (exceeds_quota(view)) return Objection{.reason = "ErrExceededQuota", .message = view.failed_create->message};
    return {};
}

std::vector<api::Condition> conditions_of(const View& view, const std::string& phase) {
    Said bound = bound_of(view);
    Said running = running_of(view);
    const std::optional<Objection> objection = objection_of(view);
    if (objection && objection->on == Objection::On::worker) running = {"False", objection->reason, objection->message};
    Said ready = ready_of(phase, running);
    if (objection && objection->on == Objection::On::claim) {
        bound = {"False", objection->reason, objection->message};
        ready = {"False", objection->reason, objection->message};
    }
    return {condition(view, "Bound", bound), condition(view, "Ready", ready), condition(view, "Running", running)};
}

}  // namespace berth::datavolume::dv
