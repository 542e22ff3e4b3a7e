// Requests that wait in a VM's status (the legacy way): what they may ask for, and what they make of a template.
// Contract: docs/spec/hotplug.md 3.2
#pragma once

#include <vector>

#include "api/cause.hpp"
#include "json/value.hpp"

namespace berth::hotplug {

/// The reasons against the queue of `vm`, whose instance is `vmi` (nullptr: it does not run). `old` is the VM before,
/// nullptr on create. That the machine still makes sense with all requests done is checked on with_requests().
std::vector<api::Cause> check_queue(const json::Value& vm, const json::Value* old, const json::Value* vmi);

/// Is there a queue that this write changes?
bool changes_queue(const json::Value& vm, const json::Value* old);

/// `spec` with all requests of the queue done: volumes and disks that are there already are not added twice.
json::Value with_requests(json::Value spec, const json::Array& queue);

}  // namespace berth::hotplug
