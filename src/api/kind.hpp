// Every kind that is served: its names, scope and subresources, once.
// Source: docs/spec/kube-api.md 1.2, 1.3
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "json/value.hpp"

namespace berth::api {

enum class Scope { cluster, namespaced };
enum class Serving {
    built_in,  ///< compiled type table, protobuf bodies, strategic merge patch
    schema,    ///< served from a schema and listed as a CustomResourceDefinition
};

struct Kind {
    std::string_view group;    ///< "" = core
    std::string_view version;  ///< the storage version
    std::string_view kind;     ///< "VirtualMachine"
    std::string_view plural;   ///< "virtualmachines"
    std::string_view singular;
    std::string_view short_names;  ///< separated by blanks
    Scope scope = Scope::namespaced;
    Serving serving = Serving::built_in;
    bool has_status = false;  ///< has a /status subresource
    bool in_all = false;      ///< listed by `kubectl get all`
    bool has_generation = false;
    std::string_view other_versions;  ///< also served, separated by blanks

    /// "v1" or "kubevirt.io/v1"
    [[nodiscard]] std::string api_version() const;
    /// "pods", "virtualmachines.kubevirt.io": as in messages
    [[nodiscard]] std::string qualified() const;
    [[nodiscard]] bool is_namespaced() const { return scope == Scope::namespaced; }
    bool operator==(const Kind& other) const { return this == &other; }
};

/// All of them, in order of discovery.
std::span<const Kind* const> kinds();
/// By URL: group and plural; nullptr when not served.
const Kind* find_kind(std::string_view group, std::string_view plural);
/// By document: "kubevirt.io/v1", "VirtualMachine"; nullptr when not served.
const Kind* find_kind_of(std::string_view api_version, std::string_view kind);

// The kinds that code names. The list in kind.cpp has them all.
extern const Kind kNamespace, kNode, kPod, kClaim, kVolume, kConfigMap, kSecret, kEvent, kEventsEvent, kServiceAccount,
    kService, kStorageClass, kCsiDriver, kCsiStorageCapacity, kLease, kPriorityClass, kControllerRevision,
    kResourceQuota, kPodDisruptionBudget, kCustomResourceDefinition;
extern const Kind kVirtualMachine, kVmi, kKubeVirt, kDataVolume, kStorageProfile, kCdi, kCdiConfig;

/// Names one object.
struct Key {
    const Kind* kind = nullptr;
    std::string ns;  ///< "" for cluster scope
    std::string name;

    bool operator==(const Key&) const = default;
    /// In order of kind name, namespace, name: never of addresses.
    bool operator<(const Key& other) const;
};

/// "pod/default/web", "node/n1"
std::string print(const Key& key);
/// The key of a document that has kind, apiVersion and metadata. Its kind is nullptr when it is not served.
Key key_of(const json::Value& document);

}  // namespace berth::api
