// What a VM or VMI has that its author did not write.
// Contract: docs/spec/placement.md 1.6
#pragma once

#include "placement/config.hpp"

namespace berth::placement {

/// Who writes: people, or Berth itself.
enum class Writer { user, component };

/// `name` is a user name as authentication gives it: "system:serviceaccount:kubevirt:kubevirt-controller".
Writer writer_of(std::string_view name);

/// On create. The object has its UID and creationTimestamp already: what is random is made from the UID.
void default_vm(json::Value& vm);
void default_vmi(json::Value& vmi, const Config& config, Writer writer);

/// On update: keeps what the server gave and the new object lacks.
void keep_vm(json::Value& vm, const json::Value& old);
/// On update: a user's changes of the status are taken back.
void keep_vmi(json::Value& vmi, const json::Value& old, Writer writer);

}  // namespace berth::placement
