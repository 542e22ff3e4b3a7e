// What the server itself writes into an object: identity, times, generation, and which part of it a request may change
// (docs/spec/kube-api.md 2.8, 2.9). Pure: the caller brings the time and the randomness.
#pragma once

#include "apiserver/status.hpp"
#include "base/text.hpp"
#include "base/time.hpp"

namespace berth::apiserver {

/// Fields in the order of the API's own declaration; metadata keeps only the fields that exist.
void order_fields(json::Value& object);

/// Checks namespace and resourceVersion of a new object, and puts the namespace in. Errors 400, 422
Outcome<void> place(const api::Kind& kind, const std::string& ns, json::Value& object);

/// Makes a new object the server's: uid, creation time, generation; drops what a client cannot set.
void adopt(const api::Kind& kind, json::Value& object, const Uid& uid, Timestamp now);
/// Drops the status of an object that a client creates, where controllers make it.
void drop_status(const api::Kind& kind, json::Value& object);

/// The parts of an object that a request changes.
enum class Scope {
    main,      ///< everything but the status, where the status is a subresource
    status,    ///< the status alone
    finalize,  ///< spec.finalizers of a namespace
    whole,     ///< everything: changes the server computed itself
};

/// The object as stored after the request: `proposed`, limited to what `scope` may change.
/// Errors  400: another name or namespace; 409: another uid or resourceVersion; 422: a protected field
Outcome<json::Value> merge(const api::Kind& kind, const json::Value& old, json::Value proposed, Scope scope);

/// A name from generateName and five random characters.
std::string generated_name(std::string_view prefix, std::string_view suffix);

/// Nothing holds this deleted object any longer: no finalizer, no grace period.
bool is_released(const api::Kind& kind, const json::Value& object);

void bump_generation(json::Value& object);

}  // namespace berth::apiserver
