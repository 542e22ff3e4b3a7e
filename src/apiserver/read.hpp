// GET of one object and of collections, page by page (docs/spec/kube-api.md 2.16).
#pragma once

#include "apiserver/core.hpp"
#include "apiserver/select.hpp"

namespace berth::apiserver {

Task<kube::Response> get(Core& core, Call call);
Task<kube::Response> list(Core& core, Call call);

struct Page {
    std::vector<store::RecordPtr> records;
    store::Revision at = 0;
    std::string next;                           ///< the continue token; "" on the last page
    std::optional<std::size_t> remaining = {};  ///< objects after this page, where it is known
};

/// Errors  400, 410, 422, 504 (2.16)
Outcome<Page> read_page(const Core& core, const Call& call);

/// resourceVersion of a read, checked: none when absent, 0 for "any".
Outcome<std::optional<store::Revision>> wanted_version(const kube::Request& request);

}  // namespace berth::apiserver
