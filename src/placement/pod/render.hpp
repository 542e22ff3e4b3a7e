// The pod of a machine, twice: the provisioning pod that lets the scheduler choose a node for all disks at once, and
// the launcher pod that hosts the guest. One function makes both, so that the node is chosen under the rules the guest
// runs under. Contract: docs/spec/placement.md 3 (L-01 to L-35)
#pragma once

#include "placement/config.hpp"

namespace berth::placement {

enum class Role {
    temp,  ///< binds the claims, prints a line and ends
    real,  ///< hosts the guest
};

struct RenderInput {
    const api::VirtualMachineInstance& vmi;
    /// Every claim that a volume of the machine names, as far as it exists.
    const std::vector<const api::PersistentVolumeClaim*>& claims;
    /// The claim of persistent TPM, EFI or block tracking; nullptr when the machine has none.
    const api::PersistentVolumeClaim* backend = nullptr;
    const Config& config;
};

/// The whole pod, named and owned.
/// Errors  not_found: a claim is missing ("didn't find PVC …")
Result<api::Pod> render(const RenderInput& input, Role role);

}  // namespace berth::placement
