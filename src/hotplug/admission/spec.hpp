// What the disks and plugged volumes of a machine must be like, in a VM's template and in an instance. What holds for
// every volume is checked by placement/admission, what the schema says by the API server.
// Contract: docs/spec/hotplug.md 3.3, 3.5
#pragma once

#include <string>
#include <vector>

#include "api/cause.hpp"
#include "api/kubevirt.hpp"
#include "hotplug/gates.hpp"

namespace berth::hotplug {

/// `field` is where the spec stands: "spec", "spec.template.spec". A disk that is in `old` too, with the same volume,
/// is not looked at: rules may have become stricter since, and the machine must still be changeable.
std::vector<api::Cause> check_spec(
    const api::VmiSpec& spec, const api::VmiSpec* old, const std::string& field, const Gates& gates
);

}  // namespace berth::hotplug
