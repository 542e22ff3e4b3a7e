// What the API shows of one machine, gathered for explain::chain(): only copies and joins.
#pragma once

#include <string>

#include "base/async/clock.hpp"
#include "cli/words.hpp"
#include "explain/view.hpp"
#include "kube/api.hpp"

namespace berth::cli {

/// Errors  not_found: neither a VM nor a VMI has this name; otherwise as the server refuses
Task<Result<explain::View>> gather(kube::Api api, Clock& clock, std::string ns, MachineName machine);

/// The Warnings about each object, the newest first, by "kind/name" with the kind in lower case.
std::map<std::string, std::vector<std::string>> warnings_in(const std::vector<kube::Document>& events);

}  // namespace berth::cli
