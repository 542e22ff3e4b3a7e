// The objects a solo installation starts with: its nodes, its storage classes and the configuration objects.
// Source: design of solo mode ("Solo nodes", "Solo storage"), docs/spec/kube-api.md 1.5
#pragma once

#include <string>
#include <vector>

#include "base/text.hpp"
#include "base/time.hpp"
#include "json/value.hpp"

namespace berth::solo {

/// Provisioner of the classes `local` and `local-immediate`.
inline constexpr std::string_view kProvisioner = "local.berth.dev";
/// Allocatable resource of a node: how many bytes its claims may have in sum.
inline constexpr std::string_view kStorageResource = "local.berth.dev/storage";

struct NodeSize {
    MilliCpu cpu;
    Bytes memory;
    Bytes storage;
    std::int64_t pods = 250;
};

/// A Node, ready and schedulable.
json::Value node_object(const std::string& name, const NodeSize& size, const std::string& address, Timestamp now);

/// The same node's parts that change when `berth up` starts with other sizes: a merge patch of its status.
json::Value node_status(const NodeSize& size, const std::string& address, Timestamp now);

/// Storage classes, StorageProfile-free; KubeVirt, CDI and CDIConfig with their defaults.
std::vector<json::Value> installation_objects();

}  // namespace berth::solo
