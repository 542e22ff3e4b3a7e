// Documents of built-in kinds held against their types: what is unknown, what is of the wrong type, and what a typed
// decode would make of them. Contract: docs/spec/kube-api.md 2.5, 2.7
#pragma once

#include <string>
#include <vector>

#include "apiserver/types.hpp"

namespace berth::apiserver {

/// Adds the paths of fields the type does not have: "dat", "spec.containers[0].imag". In order of the document.
void find_unknown_fields(const json::Value& document, const Type& type, std::vector<std::string>& out);

/// Checks that every known field is of its type. null is legal everywhere.
///
/// Errors  invalid: in the words of a real API server, e.g.
///         "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
Result<void> check_types(const json::Value& document, const Type& type);

/// What decoding into a struct and encoding it again leaves: known fields only, kind, apiVersion and metadata first and
/// the others in order of declaration, without nulls and without empty values of fields that are omitted when empty.
/// The document must have passed check_types.
json::Value conformed(const json::Value& document, const Type& type);

/// Paths of keys that stand twice in one object of a JSON text: "metadata.name", "x[0].y"; each path once. The text
/// must have been parsed without an error. For documents of any kind.
std::vector<std::string> duplicate_fields(std::string_view json_text);

}  // namespace berth::apiserver
