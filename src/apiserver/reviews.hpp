// Create-only kinds without storage: who am I, may I (docs/spec/kube-api.md 2.3.2, 2.4).
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

kube::Response review(const Call& call);

/// The user may do nothing here: 403 with the text that tools parse. None: go on.
std::optional<kube::Response> authorize(const Call& call);

}  // namespace berth::apiserver
