// What an update of a running instance may do to its volumes and disks.
// Contract: docs/spec/hotplug.md 3.1. That only Berth itself may change a spec (A1) is checked before:
// placement/admission.
#pragma once

#include <string_view>
#include <vector>

#include "api/cause.hpp"
#include "hotplug/gates.hpp"

namespace berth::hotplug {

/// `now` and `old` are whole instances whose specs differ. Empty: accepted.
std::vector<api::Cause> check_vmi_update(const json::Value& now, const json::Value& old, const Gates& gates);

/// Utility volumes come with a running instance only.
std::vector<api::Cause> check_vmi_create(const json::Value& vmi);

}  // namespace berth::hotplug
