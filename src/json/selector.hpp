// Label and field selectors as they stand in URLs: read once, then matched against many objects.
// Contract: docs/spec/kube-api.md 2.17
#pragma once

#include <vector>

#include "json/value.hpp"

namespace berth::json {

struct LabelRequirement {
    enum class Op { exists, lacks, in, not_in, greater, less };
    std::string key;
    Op op = Op::exists;
    std::vector<std::string> values;  ///< sorted; one for greater and less
    bool operator==(const LabelRequirement&) const = default;
};

struct LabelSelector {
    std::vector<LabelRequirement> requirements;  ///< all must hold
    bool operator==(const LabelSelector&) const = default;
    [[nodiscard]] bool empty() const { return requirements.empty(); }
};

inline constexpr std::size_t kMaxRequirements = 100;

/// Errors  invalid: the text is that of a real API server ("unable to parse requirement: …")
Result<LabelSelector> parse_label_selector(std::string_view text);

/// labels: metadata.labels, or nullptr when there are none
bool matches(const LabelSelector& selector, const Object* labels);
/// Looks at /metadata/labels of a document.
bool matches_labels_of(const LabelSelector& selector, const Value& document);

struct FieldTerm {
    std::string field;  ///< "spec.nodeName"
    std::string value;
    bool is_negated = false;
    bool operator==(const FieldTerm&) const = default;
};

struct FieldSelector {
    std::vector<FieldTerm> terms;  ///< all must hold
    bool operator==(const FieldSelector&) const = default;
    [[nodiscard]] bool empty() const { return terms.empty(); }
    /// The value that a field must have, or nullptr.
    [[nodiscard]] const std::string* required(std::string_view field) const;
};

/// Errors  invalid: the text is that of a real API server ("invalid selector: 'bad'; can't understand 'bad'")
Result<FieldSelector> parse_field_selector(std::string_view text);

/// The text a field is compared by: "" when missing; booleans and numbers as printed. Lists have none.
std::string field_text(const Value& document, std::string_view field);
/// spec.unschedulable and spec.hostNetwork count as "false" when missing.
bool matches(const FieldSelector& selector, const Value& document);

}  // namespace berth::json
