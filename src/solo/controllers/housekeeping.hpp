// Garbage collection and namespaces: the controllers that look at every kind by its metadata.
#pragma once

#include "kube/engine.hpp"

namespace berth::solo {

/// Add it last: it takes the caches that the other controllers made.
void add_housekeeping(kube::Engine& engine, std::string ca_certificate);

}  // namespace berth::solo
