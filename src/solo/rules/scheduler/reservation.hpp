// The reservation of a machine between its provisioning pod and its launcher (docs/spec/placement.md L-36): the pod
// that is gone goes on counting on its node, in memory only, so that nobody else takes the place.
#pragma once

#include "api/core.hpp"
#include "api/kubevirt.hpp"

namespace berth::solo::scheduler {

/// The machine a pod was made for: its controller, when that is a VMI; "" else.
Uid machine_of(const api::Pod& pod);

/// A pod that only makes volumes bind where its machine is to run.
bool is_provisioning(const api::Pod& pod);

/// Whether a place may still be kept: the machine lives and is not at its end.
/// machine   what the API has under the machine's name; nullptr: nothing
bool is_awaited(const api::Pod& reserved, const api::VirtualMachineInstance* machine);

/// Whether `asking` has to respect the place: all but the machine's own pods and those that fill its claims.
bool is_kept_from(const api::Pod& reserved, const api::Pod& asking);

}  // namespace berth::solo::scheduler
