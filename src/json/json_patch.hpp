// JSON patches (RFC 6902): a list of operations on pointers.
#pragma once

#include "json/value.hpp"

namespace berth::json {

inline constexpr std::size_t kMaxPatchOperations = 10'000;
/// What all `copy` and `move` operations of one patch may touch together: a patch must not grow a document without end.
inline constexpr std::size_t kMaxPatchedBytes = 3u << 20;

/// What is wrong with a patch before it is applied to anything.
enum class PatchDefect {
    undecodable,          ///< not a list of objects
    too_many_operations,  ///< more than kMaxPatchOperations
};

std::optional<PatchDefect> find_defect(const Value& operations);

/// Applies the operations in order. After an error the target is half patched: work on a copy.
///
/// Errors  invalid: a defect, an unknown operation, a failing test, a path that is not there, a result nested deeper
/// than 512 Source  https://www.rfc-editor.org/rfc/rfc6902
Result<void> apply_json_patch(Value& target, const Value& operations);

}  // namespace berth::json
