// The objects that are there from the start, and those that every namespace has.
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

Task<Result<void>> seed_all(Core& core);

/// Puts into a namespace what each has: ServiceAccount `default` and ConfigMap `kube-root-ca.crt`.
Task<Result<void>> furnish(Core& core, std::string ns);

/// ClusterRoles and their bindings.
std::vector<json::Value> default_roles();

}  // namespace berth::apiserver
