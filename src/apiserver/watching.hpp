// Watches: synthetic ADDED events, transitions of the selection, bookmarks, and their end (docs/spec/kube-api.md 2.18).
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

/// Errors  400, 422, 504 before the stream starts; a version that is too old is an ERROR event inside it
kube::Answer<kube::WatchStream> open_watch(Core& core, const Call& call);

}  // namespace berth::apiserver
