// From a document to an object of its kind: unknown and duplicate fields, wrong types, what a typed decode would leave
// (docs/spec/kube-api.md 2.5, 2.7, 2.10).
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

/// What the document says that its kind does not know: `unknown field "spec.foo"`, `duplicate field "metadata.name"`.
/// `text` is the JSON it was parsed from, "" when there is none.
std::vector<std::string> find_complaints(const api::Kind& kind, const json::Value& document, std::string_view text);

/// The object without what its kind does not know. Errors invalid: a field of the wrong type
Result<json::Value> typed(const api::Kind& kind, json::Value document);

/// What the schema of a schema-served kind refuses; nothing for the others.
std::vector<api::Cause> check_schema(const api::Kind& kind, const json::Value& object);

/// Applies fieldValidation to complaints: warnings go to the call, strict ones are returned as one text, "" = go on.
std::string judge(Call& call, const std::vector<std::string>& complaints);

}  // namespace berth::apiserver
