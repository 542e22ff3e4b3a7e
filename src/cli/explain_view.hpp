// Reads what `berth explain` looks at from the API.
#pragma once

#include "explain/chain.hpp"
#include "kube/api.hpp"

namespace berth::cli {

/// Errors  not_found: no machine of that name; as kube::Api::list
Task<Result<explain::View>> read_view(kube::Api api, std::string ns, std::string name, Timestamp now);

}  // namespace berth::cli
