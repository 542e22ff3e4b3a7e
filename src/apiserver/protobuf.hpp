// Request bodies in Kubernetes' protobuf envelope: client-go sends them for every built-in kind since 0.32.
// Contract: docs/spec/kube-api.md 2.6; field numbers are in docs/spec/kube-types.tsv
#pragma once

#include "json/value.hpp"

namespace berth::apiserver {

/// True when the body starts with the magic bytes "k8s\0".
bool is_protobuf(std::string_view body);

/// The document a protobuf body stands for, conformed to its type (type_check.hpp): what JSON would have said.
/// apiVersion and kind are those of the envelope; options (DeleteOptions, …) are decoded under every version.
///
/// Errors  not_found: a kind that is not built in (kinds served from a schema take JSON and YAML only)
///         invalid: not an envelope, cut off, nested deeper than 128, text that is not UTF-8
Result<json::Value> decode_protobuf(std::string_view body);

}  // namespace berth::apiserver
