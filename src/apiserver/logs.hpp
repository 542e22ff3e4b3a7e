// GET pods/NAME/log: which container is meant, and whether it has said anything yet (docs/spec/kube-api.md 2.29.1).
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

/// Errors  404: no such pod; 400: no such container, more than one, or not started
Task<kube::Answer<kube::ByteStream>> open_log(Core& core, Call call);

/// What the query asks of this pod. Pure.
Outcome<NodeStreams::LogOptions> log_options(const kube::Request& request, const json::Value& pod, Timestamp now);

}  // namespace berth::apiserver
