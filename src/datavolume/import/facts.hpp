// Questions about a claim that a worker fills.
#pragma once

#include "datavolume/import/view.hpp"

namespace berth::datavolume::import {

/// Nothing for us: no request, a source that we do not serve, or someone else's to populate.
bool is_not_ours(const View& view);
bool claim_is_going(const View& view);
/// A pod of the worker's name that the claim does not control.
bool pod_is_foreign(const View& view);
bool is_filled(const View& view);
bool is_beyond_repair(const View& view);
bool pod_is_going(const View& view);
/// The worker has failed, and what the claim asks for has changed since: a new one need not wait.
bool fails_at_old_request(const View& view);
bool checksum_differs(const View& view);
bool worker_succeeded(const View& view);
/// The pod ended without its worker having succeeded: evicted, or its node went away.
bool pod_failed(const View& view);
bool has_pod(const View& view);
/// The claim has no volume, and the worker must not be what makes it bind.
bool awaits_binding(const View& view);
bool is_in_use(const View& view);
bool create_was_refused(const View& view);

/// The annotation's value, or "".
std::string annotation(const View& view, const std::string& key);

/// How the worker's container ended last; none while it never has.
std::optional<api::ContainerState> last_end(const api::Pod& pod);
/// The worker's container; nullptr before the kubelet has said anything.
const api::ContainerStatus* worker_status(const api::Pod& pod);

}  // namespace berth::datavolume::import
