// The verbs of a machine: PUT …/virtualmachines/NAME/start and its relatives (docs/spec/kube-api.md 2.31).
// What a verb does is decided by a pure function of what is stored; the server applies its patches and answers.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "api/cause.hpp"
#include "base/time.hpp"
#include "kube/transport.hpp"

namespace berth::apiserver {

struct SubresourceView {
    std::string method;  ///< PUT for nearly all; GET for those that only tell
    std::string ns;
    std::string name;
    const json::Value* vm = nullptr;        ///< nullptr: there is none of that name
    const json::Value* vmi = nullptr;       ///< the same
    const json::Value* kubevirt = nullptr;  ///< the installation's settings; nullptr: there are none
    Result<json::Value> body;               ///< null when the request has none; an error: neither JSON nor YAML
    kube::User user;
    Timestamp now;
};

struct SubresourceAnswer {
    int code = 202;
    std::string reason = {};  ///< of the Status when code is 400 or more: "Conflict", "NotFound", "BadRequest"
    std::string message = {};
    std::vector<api::Cause> causes = {};  ///< of an answer "Invalid", whose message is made of them
    /// RFC 6902 operations, applied to the whole object: spec and status alike.
    std::optional<json::Value> vm_patch = {};
    std::optional<json::Value> vmi_patch = {};
    bool is_dry_run = false;               ///< the patches are checked, and nothing is stored
    std::optional<json::Value> body = {};  ///< of the answer; none: empty
    std::vector<std::string> warnings = {};
};

using Subresource = std::function<SubresourceAnswer(const SubresourceView&)>;

/// By resource and subresource: {"virtualmachines", "start"}.
using Subresources = std::map<std::pair<std::string, std::string>, Subresource>;

}  // namespace berth::apiserver
