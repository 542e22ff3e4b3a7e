// The patch types of a PATCH and what they make of an object (docs/spec/kube-api.md 2.10). Pure.
#pragma once

#include "apiserver/core.hpp"

namespace berth::apiserver {

enum class PatchType { json, merge, strategic };

struct ReadPatch {
    PatchType type = PatchType::merge;
    json::Value body;
    std::string_view text;  ///< of the request, which must live on; "" in process
};

/// Errors  400: not a patch; 415: another type, or strategic for a kind without a type table
Outcome<ReadPatch> read_patch(const Call& call);

/// 422: a test of a JSON patch failed, or a path is not there. Clients know the text: virtctl tries again on it.
kube::Response unfit_patch();

/// The object with the patch applied; `old` is not changed.
/// Errors  400, 422: the patch does not fit the object
Outcome<json::Value> patched(Call& call, const ReadPatch& patch, const json::Value& old);

}  // namespace berth::apiserver
