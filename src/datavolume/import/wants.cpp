#include "datavolume/import/wants.hpp"

#include "datavolume/import/facts.hpp"
#include "datavolume/import/pod.hpp"
#include "datavolume/import/report.hpp"
#include "datavolume/names.hpp"

namespace berth::datavolume::import {
namespace {

api::Key claim_key(const View& view) { return {&api::kClaim, view.claim.metadata.ns, view.claim.metadata.name}; }

api::Key pod_key(const View& view) {
    return {&api::kPod, view.claim.metadata.ns, importer_name(view.claim.metadata.name)};
}

api::Emit event(const View& view, bool is_warning, std::string reason, std::string message) {
    return {claim_key(view), view.claim.metadata.uid, is_warning, std::move(reason), std::move(message)};
}

api::Delete removal(const View& view) { return {.key = pod_key(view), .uid = view.pod->metadata.uid}; }

bool keeps_pod(const View& view) { return annotation(view, kRetainPod) == "true"; }

std::map<std::string, std::string> labels_from_image(const View& view) {
    std::map<std::string, std::string> out;
    const auto end = last_end(*view.pod);
    const auto read = json::parse(end ? end->terminated_message : std::string());
    const json::Value* labels = read ? json::find(*read, "/labels") : nullptr;
    if (labels == nullptr || !labels->is_object()) return out;
    for (const auto& [key, value] : labels->get_object()) {
        if (value.is_string()) out[std::string(key)] = std::string(value.get_string());
    }
    return out;
}

}  // namespace

api::Plan nothing(const View&) { return api::settled(); }

api::Plan remove_worker(const View& view) {
    if (!view.pod || pod_is_foreign(view) || pod_is_going(view)) return api::settled();
    return api::want(removal(view));
}

api::Plan await_foreign_pod(const View& view) {
    return api::wait_for(
        {.who = "user", .on = pod_key(view), .why = "a pod that is not the claim's worker has its name: delete it"}
    );
}

api::Plan clean_up(const View& view) {
    if (!view.pod || pod_is_going(view) || keeps_pod(view)) return api::settled();
    return api::want(removal(view));
}

api::Plan give_up(const View& view) {
    api::Plan plan;
    const bool is_new = add_patch(plan, view, mismatch_report(view));
    if (is_new) plan.add(event(view, true, "ErrImportFailed", last_end(*view.pod)->terminated_message));
    return std::move(plan).add(removal(view));
}

api::Plan record_success(const View& view) {
    api::Plan plan;
    add_patch(plan, view, success_report(view), labels_from_image(view));
    plan.add(event(view, false, "ImportSucceeded", "Import Successful"));
    if (!keeps_pod(view)) plan.add(removal(view));
    return plan;
}

api::Plan replace_failed_pod(const View& view) {
    api::Plan plan;
    add_patch(plan, view, report_of(view));
    return std::move(plan).add(removal(view));
}

api::Plan report_worker(const View& view) {
    const std::string& node = view.pod->spec.node_name;
    api::Plan plan = api::wait_for({
        .who = node.empty() ? "scheduler" : "worker",
        .on = pod_key(view),
        .why = node.empty() ? "the worker has no node yet" : "the claim is being filled on node " + node,
    });
    const auto end = last_end(*view.pod);
    const bool failed = end && end->exit_code != 0;
    const api::ContainerStatus* worker = worker_status(*view.pod);
    if (failed && worker != nullptr) {
        plan.wait->why = "the last try failed: " + end->terminated_message;
        const auto since = api::container_state(worker->state).running_since;
        if (since && view.now - *since < kSettlingTime) plan.look_again_at = *since + kSettlingTime;
    }
    const std::string restarts = annotation(view, kPodRestarts);
    const std::string message = annotation(view, std::string(kRunning) + ".message");
    const auto report = report_of(view);
    const bool is_new = add_patch(plan, view, report);
    // One event a failure: when the message changed, or the same one came again with another restart.
    const auto reported = report.find(std::string(kRunning) + ".message");
    const bool tells = failed && is_new && reported != report.end() && !reported->second.empty() &&
                       (reported->second != message || report.at(kPodRestarts) != restarts);
    if (tells) plan.add(event(view, true, "ErrImportFailed", end->terminated_message));
    return plan;
}

api::Plan await_pod_removal(const View& view) {
    return api::wait_for({.who = "node", .on = pod_key(view), .why = "the worker's last pod is being removed"});
}

api::Plan await_binding(const View& view) {
    return api::wait_for({.who = "scheduler", .on = claim_key(view), .why = "the claim binds with its first consumer"});
}

api::Plan await_users(const View& view) {
    const Use& user = view.users.front();
    const std::string text =
        "pod " + view.claim.metadata.ns + "/" + user.pod + " using PersistentVolumeClaim " + view.claim.metadata.name;
    api::Plan plan = api::wait_for({
        .who = "pod", .on = {&api::kPod, view.claim.metadata.ns, user.pod},
             .why = text
    });
    // A provisioning pod is there to bind the claim and goes by itself: that is the flow, not a fault.
    if (!user.is_provisioning) plan.add(event(view, true, "ImportTargetInUse", text));
    return plan;
}

api::Plan create_worker(const View& view) { return api::want(api::Create{worker_pod_for(view)}); }

api::Plan report_refusal_and_retry(const View& view) {
    const bool is_quota = view.failed_create->find("exceeded quota:") != std::string::npos;
    const std::string name = importer_name(view.claim.metadata.name);
    const std::string reason = is_quota ? "ErrExceededQuota" : "ErrStartingPod";
    const std::string text = "Error starting pod '" + name + "': " + *view.failed_create;
    api::Plan plan;
    const std::map<std::string, std::string> said{
        {kRunning,                           "false"},
        {std::string(kRunning) + ".reason",  reason },
        {std::string(kRunning) + ".message", text   },
    };
    if (add_patch(plan, view, said)) plan.add(event(view, true, reason, text));
    return std::move(plan).add(api::Create{worker_pod_for(view)});
}

}  // namespace berth::datavolume::import
