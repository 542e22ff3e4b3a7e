// OpenAPI v3: an index and one document for each group version. kubectl needs them to create, apply, edit and explain.
// Contract: docs/spec/kube-api.md 2.25. Pure.
#pragma once

#include <map>
#include <string>

#include "base/time.hpp"
#include "json/value.hpp"

namespace berth::apiserver {

/// A whole answer; header names in lower case.
struct OpenApiAnswer {
    int code = 200;  ///< 200, 301: the document has another hash by now, 404
    std::map<std::string, std::string> headers;
    std::string body;
};

class OpenApi {
public:
    /// version: what the server calls itself, e.g. "v1.32.0+berth"
    explicit OpenApi(std::string version) : version_(std::move(version)) {}

    /// path  below /openapi/: "v3", "v3/api/v1", "v3/apis/apps/v1"
    /// hash  the query parameter of that name, or ""
    /// now   documents asked for by their hash may be kept for a year from now
    OpenApiAnswer answer(std::string_view path, std::string_view hash, Timestamp now);

    /// The document of "v1" or "apps/v1"; null when there is no such group version. Made anew at each call (about 5 ms
    /// for the largest): clients keep documents by their hash, so one is asked for rarely.
    [[nodiscard]] json::Value document(std::string_view group, std::string_view version) const;

private:
    const std::map<std::string, std::string>& hashes();

    std::string version_;
    std::map<std::string, std::string>
        hashes_;  // path below /openapi/v3/ → upper-case hex; filled at the first question
};

}  // namespace berth::apiserver
