// What the API server of an installation knows about our kinds: their admission and the verbs of machines.
#pragma once

#include "apiserver/server.hpp"

namespace berth::solo {

apiserver::Options server_options();

}  // namespace berth::solo
