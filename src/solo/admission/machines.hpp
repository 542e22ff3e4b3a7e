// Machines for the API server: their defaults, what is refused, and what start, stop and restart do.
#pragma once

#include "apiserver/server.hpp"
#include "placement/config.hpp"

namespace berth::solo {

void add_machines(apiserver::Options& options, const placement::Config& config);

}  // namespace berth::solo
