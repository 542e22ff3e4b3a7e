// Subresources of pods that are written to: binding and eviction.
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

/// POST pods/NAME/binding: gives a pod its node. Errors 404; 409: it has one already, is being deleted, or another uid
Task<kube::Response> bind(Core& core, Call call);
/// POST pods/NAME/eviction: a deletion that asks first.
Task<kube::Response> evict(Core& core, Call call);

}  // namespace berth::apiserver
