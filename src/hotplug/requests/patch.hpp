// The patches that a request becomes: tests of what was read, then the lists as they shall be.
// Contract: docs/spec/hotplug.md 2.5
#pragma once

#include <string_view>

#include "hotplug/requests/options.hpp"

namespace berth::hotplug {

/// `spec` is where volumes and devices stand: "/spec" of an instance, "/spec/template/spec" of a VM.
json::Value patch_to_add(const json::Value& object, const std::string& spec, const Options& options);
json::Value patch_to_remove(const json::Value& object, const std::string& spec, std::string_view volume);

/// The same as an entry of status.volumeRequests.
json::Value patch_to_queue_add(const json::Value& vm, const Options& options);
json::Value patch_to_queue_remove(const json::Value& vm, std::string_view volume);

}  // namespace berth::hotplug
