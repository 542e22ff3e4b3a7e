// Why a VM or VMI is refused. What the schema checks (types, required fields, lists of values) is not said again here.
// Contract: docs/spec/placement.md 1.8
#pragma once

#include <vector>

#include "api/cause.hpp"
#include "placement/admission/defaults.hpp"

namespace berth::placement {

/// `old` is nullptr on create. An object whose spec did not change is always accepted: rules may have become stricter
/// since it was made, and it must still be possible to delete it.
std::vector<api::Cause> validate_vm(const json::Value& vm, const json::Value* old);
std::vector<api::Cause> validate_vmi(const json::Value& vmi, const json::Value* old, Writer writer);

/// The part that both have in common; `field` is where the spec stands: "spec", "spec.template.spec".
std::vector<api::Cause> validate_spec(const api::VmiSpec& spec, const std::string& field);

}  // namespace berth::placement
