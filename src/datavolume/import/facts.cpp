#include "datavolume/import/facts.hpp"

#include "api/codec.hpp"
#include "base/ranges.hpp"
#include "datavolume/import/pod.hpp"
#include "datavolume/names.hpp"

namespace berth::datavolume::import {

std::string annotation(const View& view, const std::string& key) {
    const std::string* value = view.claim.metadata.annotation(key);
    return value == nullptr ? std::string() : *value;
}

bool is_not_ours(const View& view) {
    const std::string source = annotation(view, kImportSource);
    const bool is_served =
        source == "http" || source == "none" || (source.empty() && !annotation(view, kImportEndpoint).empty());
    return !is_served || annotation(view, kExternalPopulation) == "true";
}

bool claim_is_going(const View& view) { return view.claim.metadata.is_deleting(); }

bool pod_is_foreign(const View& view) {
    return view.pod && !view.pod->metadata.is_controlled_by(view.claim.metadata.uid);
}

bool is_filled(const View& view) { return annotation(view, kPodPhase) == "Succeeded"; }

bool is_beyond_repair(const View& view) {
    return annotation(view, kPodPhase) == "Failed" && annotation(view, kFatalError) == "true";
}

bool pod_is_going(const View& view) { return view.pod && view.pod->metadata.is_deleting(); }

const api::ContainerStatus* worker_status(const api::Pod& pod) {
    return pod.status.container_statuses.empty() ? nullptr : &pod.status.container_statuses.front();
}

std::optional<api::ContainerState> last_end(const api::Pod& pod) {
    const api::ContainerStatus* worker = worker_status(pod);
    if (worker == nullptr) return {};
    for (const json::Value* state : {&worker->state, &worker->last_state}) {
        api::ContainerState read = api::container_state(*state);
        if (read.exit_code) return read;
    }
    return {};
}

bool fails_at_old_request(const View& view) {
    if (!view.pod) return false;
    const api::ContainerStatus* worker = worker_status(*view.pod);
    const auto end = last_end(*view.pod);
    const bool runs = worker != nullptr && api::container_state(worker->state).running_since.has_value();
    if (!end || end->exit_code == 0 || runs || view.pod->spec.containers.empty()) return false;
    const auto wanted = api::decode<api::Pod>(worker_pod_for(view));
    if (!wanted) return false;
    // What others have added to the pod says nothing about the request.
    const std::vector<api::EnvVar>& has = view.pod->spec.containers.front().env;
    return !std::ranges::all_of(wanted->spec.containers.front().env, [&](const api::EnvVar& one) {
        return contains(has, one);
    });
}

bool checksum_differs(const View& view) {
    if (!view.pod) return false;
    const auto end = last_end(*view.pod);
    return end && end->terminated_message.find("checksum mismatch") != std::string::npos;
}

bool worker_succeeded(const View& view) { return view.pod && view.pod->status.phase == "Succeeded"; }

bool pod_failed(const View& view) { return view.pod && view.pod->status.phase == "Failed"; }

bool has_pod(const View& view) { return view.pod.has_value(); }

bool awaits_binding(const View& view) {
    if (view.claim.status.phase == "Bound") return false;
    return view.settings.honors_first_consumer && view.claim.metadata.annotation(kImmediateBinding) == nullptr;
}

bool is_in_use(const View& view) { return !view.users.empty(); }

bool create_was_refused(const View& view) { return view.failed_create.has_value(); }

}  // namespace berth::datavolume::import
