// What start, stop and restart of a VM do: pure functions from what is stored to a patch, or to a refusal.
// Contract: docs/spec/placement.md 2.2, last table
#pragma once

#include <optional>
#include <string>

#include "json/value.hpp"

namespace berth::placement {

struct Decision {
    int code = 202;
    std::string message = {};                   ///< why not, when code is 400 or more
    std::optional<json::Value> vm_patch = {};   ///< RFC 6902, with tests of what was read, for the whole VM
    std::optional<json::Value> vmi_patch = {};  ///< the same for the VMI
    bool operator==(const Decision&) const = default;
};

/// `vmi` is the machine of the VM's name, or nullptr; `options` the body of the request: StartOptions, StopOptions or
/// RestartOptions, null when there is none.
Decision start(const json::Value& vm, const json::Value* vmi, const json::Value& options);
Decision stop(const json::Value& vm, const json::Value* vmi, const json::Value& options);
Decision restart(const json::Value& vm, const json::Value* vmi, const json::Value& options);

}  // namespace berth::placement
