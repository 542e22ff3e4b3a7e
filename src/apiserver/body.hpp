// From the bytes of a request to a document (docs/spec/kube-api.md 2.5, 2.7).
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

constexpr std::size_t kBodyBytesMax = 3 * 1024 * 1024;

/// The object in the body of a create or update. Warnings about unknown fields are added to the call.
/// Errors  400: not a document or not of this kind; 413; 415
Outcome<json::Value> read_object(Call& call);

/// A body of options or of a review: JSON, YAML or protobuf; null when there is none.
Outcome<json::Value> read_options(const kube::Request& request);

/// A body of any content type: JSON when it begins like an object, else YAML; null when there is none.
/// Errors  invalid: neither
Result<json::Value> read_any(const kube::Request& request);

/// YAML as a document: 1.1 scalars as Kubernetes reads them. Errors invalid: not YAML
Result<json::Value> parse_yaml(const std::string& text);
std::string print_yaml(const json::Value& value);

}  // namespace berth::apiserver
