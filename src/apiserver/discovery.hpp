// The answers of /, /api and /apis: which groups, versions and resources there are, in the aggregated form that kubectl
// asks for first and in the legacy forms (docs/spec/kube-api.md 2.24). Pure.
#pragma once

#include <optional>
#include <string>

#include "json/value.hpp"

namespace berth::apiserver {

struct DiscoveryAnswer {
    json::Value body;
    /// Names the aggregated form letter by letter: that is how client-go tells it from the legacy one.
    std::string content_type = "application/json";
    std::string etag;  ///< quoted; of aggregated answers only. If-None-Match with it is answered 304
};

/// path    "/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1"; a slash at the end is ignored
/// accept  of the request; decides the form of /api and /apis
/// None when there is no such group or version. Send with `Vary: Accept` and `Cache-Control: public` when it has an
/// ETag.
std::optional<DiscoveryAnswer> discover(std::string_view path, std::string_view accept);

}  // namespace berth::apiserver
