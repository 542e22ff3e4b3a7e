// Structural schemas: what an object of a schema-served kind may look like, what is dropped from it, what is filled in.
// Contract: docs/spec/kube-api.md 2.7 (CRs). Pure.
// Source:
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema
#pragma once

#include <string>
#include <vector>

#include "api/cause.hpp"
#include "json/value.hpp"

namespace berth::apiserver {

/// Everything that is wrong with a document: types, enums, required fields, bounds, patterns, duplicate keys of
/// associative lists. Empty: it is valid. Unknown fields are not an error. In order of the document.
///
/// schema  the OpenAPI v3 structural schema of the whole object
std::vector<api::Cause> validate(const json::Value& document, const json::Value& schema);

/// Adds the paths of fields the schema does not have: "spec.runStrategi", "spec.template.spec.domain.devices.disk".
/// x-kubernetes-preserve-unknown-fields and additionalProperties allow all; apiVersion, kind and metadata are always
/// known, inside metadata the fields of ObjectMeta.
void find_unknown_fields(const json::Value& document, const json::Value& schema, std::vector<std::string>& out);

/// Removes those fields.
void prune(json::Value& document, const json::Value& schema);

/// Fills in the schema's defaults where a field is missing, or null and not nullable. Other nulls of fields that are
/// not nullable are dropped.
void apply_defaults(json::Value& document, const json::Value& schema);

}  // namespace berth::apiserver
