// Typed structs from documents and back. Fields a struct does not know are lost in it: so documents are stored and
// patched, structs are only read (views) and compared (status).
#pragma once

#include "json/value.hpp"

namespace berth::api {

/// Errors  invalid: a field of the wrong type; the message starts with its path ("spec.volumes[0].name: …")
template <class T>
Result<T> decode(const json::Value& document);

/// Empty fields are left out.
template <class T>
json::Value encode(const T& object);

/// The OpenAPI v3 structural schema of T.
template <class T>
json::Value schema();

/// The merge patch that turns one struct into the other, looking only at the fields T describes; none when equal.
template <class T>
std::optional<json::Value> patch_between(const T& observed, const T& desired);

}  // namespace berth::api
