// libvirt's knowledge of this machine's QEMU, handed from one VM pod to the next: asking again costs each pod 0.4 s.
#pragma once

#include <string>

#include <sys/types.h>

#include "base/result.hpp"

namespace berth::node {

/// Copies the capability files of the pod whose process 1 is `pid` into `folder`, for later pods to start from
/// (BERTH_CAPABILITY_SEED). A file that is there is replaced when it differs: QEMU or libvirt is another one by now.
/// Call it once a guest runs; a pod is not trusted: no link is followed, and only small regular files with libvirt's
/// names are taken. Blocks.
///
/// Returns  how many files were written
/// Errors   not_found: the pod is gone, or has none; io
Result<int> harvest_capabilities(pid_t pid, const std::string& folder);

}  // namespace berth::node
