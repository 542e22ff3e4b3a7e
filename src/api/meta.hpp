// What every object has, and how objects are named and referred to.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/object-meta/
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/quantity.hpp"
#include "base/text.hpp"
#include "base/time.hpp"
#include "json/value.hpp"

namespace berth::api {

struct OwnerReference {
    std::string api_version;
    std::string kind;
    std::string name;
    Uid uid;
    bool controller = false;
    bool block_owner_deletion = false;
    bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
    std::string name;
    std::string generate_name;
    std::string ns;
    Uid uid;
    ResourceVersion resource_version;
    std::int64_t generation = 0;
    std::optional<Timestamp> creation_timestamp;
    std::optional<Timestamp> deletion_timestamp;
    std::optional<std::int64_t> deletion_grace_period_seconds;
    std::map<std::string, std::string> labels;
    std::map<std::string, std::string> annotations;
    std::vector<OwnerReference> owner_references;
    std::vector<std::string> finalizers;

    bool operator==(const ObjectMeta&) const = default;
    [[nodiscard]] bool is_deleting() const { return deletion_timestamp.has_value(); }
    /// The reference with controller = true, or nullptr.
    [[nodiscard]] const OwnerReference* controller() const;
    [[nodiscard]] bool is_controlled_by(const Uid& owner) const;
    /// The annotation's value, or nullptr.
    [[nodiscard]] const std::string* annotation(const std::string& key) const;
    [[nodiscard]] const std::string* label(const std::string& key) const;
    [[nodiscard]] bool has_finalizer(std::string_view finalizer) const;
};

/// Any object by its metadata alone.
struct Bare {
    ObjectMeta metadata;
    bool operator==(const Bare&) const = default;
};

/// metav1.Condition and its relatives; KubeVirt and CDI use subsets of these fields.
struct Condition {
    std::string type;
    std::string status;  ///< True, False or Unknown
    std::string reason;
    std::string message;
    std::optional<Timestamp> last_transition_time;
    std::optional<Timestamp> last_probe_time;
    std::optional<Timestamp> last_heartbeat_time;
    bool operator==(const Condition&) const = default;
};

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);

struct SelectorRequirement {
    std::string key;
    std::string op;  ///< In, NotIn, Exists, DoesNotExist, Gt, Lt
    std::vector<std::string> values;
    bool operator==(const SelectorRequirement&) const = default;
};

struct LabelSelector {
    std::map<std::string, std::string> match_labels;
    std::vector<SelectorRequirement> match_expressions;
    bool operator==(const LabelSelector&) const = default;
};

/// An empty selector matches everything.
bool matches(const LabelSelector& selector, const std::map<std::string, std::string>& labels);
bool matches(const SelectorRequirement& requirement, const std::map<std::string, std::string>& labels);

}  // namespace berth::api
