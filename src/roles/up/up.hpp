// The role behind `berth up`: store, API server, every controller and every node of a one-machine cluster in one
// process.
#pragma once

#include "roles/up/options.hpp"

namespace berth::roles {

/// Runs until SIGINT or SIGTERM. Prints one line on standard output when the API answers. Returns the exit code.
int up(UpOptions options);

}  // namespace berth::roles
