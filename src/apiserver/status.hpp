// Status answers, one builder for each row of docs/spec/kube-api.md 2.20. Tools parse these texts: they are the
// contract.
#pragma once

#include <expected>
#include <vector>

#include "api/cause.hpp"
#include "api/kind.hpp"
#include "kube/transport.hpp"

namespace berth::apiserver {

/// What was asked for, or the answer that says why not.
template <class T>
using Outcome = std::expected<T, kube::Response>;

inline std::unexpected<kube::Response> refuse(kube::Response response) { return std::unexpected(std::move(response)); }

kube::Response failure(int code, std::string reason, std::string message, json::Object details = {});

kube::Response bad_request(std::string message);                                            // 400
kube::Response forbidden(const api::Kind& kind, const std::string& name, std::string why);  // 403
kube::Response not_found(const api::Kind& kind, const std::string& name);                   // 404
kube::Response no_such_resource();                                                          // 404, unknown resource
kube::Response no_such_path();                                                              // 404, plain text
kube::Response method_not_allowed();                                                        // 405
kube::Response not_acceptable();                                                            // 406
kube::Response already_exists(const api::Kind& kind, const std::string& name);              // 409
kube::Response conflict(const api::Kind& kind, const std::string& name, std::string why);   // 409
kube::Response expired(std::string message);                                                // 410
kube::Response too_large();                                                                 // 413
kube::Response unsupported_media(const std::string& accepted);                              // 415
/// 422. `kind_name` is "Kind.group" or "Kind"; causes are not empty.
kube::Response invalid(const std::string& kind_name, const std::string& name, const std::vector<api::Cause>& causes);
kube::Response invalid(const api::Kind& kind, const std::string& name, const std::vector<api::Cause>& causes);
kube::Response internal_error(std::string why);                              // 500
kube::Response not_implemented(std::string why);                             // 501
kube::Response unavailable(std::string message);                             // 503
kube::Response too_large_version(std::int64_t asked, std::int64_t current);  // 504

/// {status: Success} with details; code 200 or 201.
kube::Response success(int code, json::Object details);

/// A stored or computed document as an answer.
kube::Response answer(std::shared_ptr<const json::Value> document, int code = 200);
kube::Response answer(json::Value document, int code = 200);
kube::Response plain_text(int code, std::string text);

using json::quoted;  // in messages: `"a"` as Go's %q prints it

}  // namespace berth::apiserver
