// Which names, labels and finalizers are legal (docs/spec/kube-api.md 2.8).
// Source: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
#pragma once

#include "api/cause.hpp"
#include "api/kind.hpp"

namespace berth::apiserver {

/// All that is wrong with the metadata of an object, whatever its kind.
std::vector<api::Cause> check_metadata(const api::Kind& kind, const json::Value& object);

}  // namespace berth::apiserver
