// The kinds that are served from a schema, as structural schemas and as the CustomResourceDefinition objects that show
// them. Contract: docs/spec/kube-api.md 1.1, 1.3, 1.4. Pure.
#pragma once

#include "api/kind.hpp"
#include "base/time.hpp"

namespace berth::apiserver {

/// The structural schema of a schema-served kind, made from its description in src/api at the first question.
const json::Value& served_schema(const api::Kind& kind);

/// What clients of a deprecated version are told in a Warning header; "" for the storage version.
std::string deprecation_warning(const api::Kind& kind, std::string_view version);

/// The definition of a schema-served kind, ready to be stored: names, versions, columns, conditions that say it is
/// established since `at`. Older versions have an open schema: their objects are checked by that of the storage
/// version.
json::Value crd_of(const api::Kind& kind, Timestamp at);

}  // namespace berth::apiserver
