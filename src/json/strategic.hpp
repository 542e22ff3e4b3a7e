// Strategic merge patches: merge patches that know which lists are keyed. What they know comes from a MergeSchema.
// Contract: docs/spec/kube-api.md 2.10.1
#pragma once

#include "json/value.hpp"

namespace berth::json {

class MergeSchema;

/// How one field of an object is merged.
struct MergeField {
    bool merges = false;                 ///< a list: elements are matched by merge_key, or as scalars when it is ""
    bool replaces = false;               ///< an object: the patch's value takes the place of the live one
    std::string_view merge_key;          ///< "" = elements are scalars
    const MergeSchema* inner = nullptr;  ///< of the object, of the list's elements, of the map's values; nullptr: plain
};

/// The fields of an object type, or the values of a map. Port: apiserver/types.hpp has those of the built-in kinds.
class MergeSchema {
public:
    virtual ~MergeSchema() = default;
    /// A field that is not known merges as in a plain merge patch.
    [[nodiscard]] virtual MergeField field(std::string_view name) const = 0;
};

/// Applies a strategic merge patch. No directive survives in the target. After an error it is half patched: work on a
/// copy.
///
/// Errors  invalid: a directive that is wrong, a list element without its merge key; texts are Kubernetes' own
Result<void> apply_strategic_patch(Value& target, const Value& patch, const MergeSchema& schema);

}  // namespace berth::json
