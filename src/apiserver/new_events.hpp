// events.k8s.io/v1 Event: another view of the one stored event (docs/spec/kube-api.md 2.21). Pure.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/cluster-resources/event-v1/
#pragma once

#include <vector>

#include "api/cause.hpp"
#include "json/value.hpp"

namespace berth::apiserver {

/// The stored (core/v1) form of an events.k8s.io/v1 event, and back.
json::Value stored_event_of(const json::Value& event);
json::Value new_event_of(const json::Value& stored);

/// What a new events.k8s.io/v1 event must have. Looks at the stored form.
std::vector<api::Cause> check_new_event(const json::Value& stored);

/// A field selector's field in the stored form: "regarding.name" becomes "involvedObject.name".
std::string stored_event_field(std::string_view field);

}  // namespace berth::apiserver
