// Defaults and checks of Kubernetes' own kinds, one file a kind (docs/spec/kube-api.md 2.8, 2.9; placement.md K-01,
// K-04).
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

/// Fills in what a new object leaves out. `core` is read for the default storage class.
void default_built_in(const Core& core, const api::Kind& kind, json::Value& object);
/// The same for a changed one: nothing that was set may get lost because a client does not know it.
void default_built_in_update(const api::Kind& kind, json::Value& object, const json::Value& old);
/// `old` is nullptr for a new object.
std::vector<api::Cause> check_built_in(const api::Kind& kind, const json::Value& object, const json::Value* old);

// One of each per kind.
void default_pod(json::Value& pod);
std::vector<api::Cause> check_pod(const json::Value& pod, const json::Value* old);
void default_claim(const Core& core, json::Value& claim);
void default_volume(json::Value& volume);
void default_storage_class(json::Value& storage_class);
std::vector<api::Cause> check_claim(const json::Value& claim, const json::Value* old);
std::vector<api::Cause> check_volume(const json::Value& volume, const json::Value* old);
std::vector<api::Cause> check_storage_class(const json::Value& storage_class, const json::Value* old);

/// Sets a field that is absent.
void fill(json::Object& object, std::string_view field, json::Value value);
json::Object& object_in(json::Object& object, std::string_view field);

}  // namespace berth::apiserver
