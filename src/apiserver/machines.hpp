// subresources.kubevirt.io: the verbs of machines, and their consoles (docs/spec/kube-api.md 2.31).
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

Task<kube::Response> handle_machine(Core& core, Call call);

/// Errors  404: no such machine; 400: it is not running yet, or cannot be reached now (virtctl tries again on exactly
/// 400)
Task<kube::Answer<kube::Duplex>> open_console(Core& core, Call call);

}  // namespace berth::apiserver
