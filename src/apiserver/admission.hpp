// What a kind adds to the path of a write: defaults before it is stored, and reasons to refuse it.
// The kinds of Kubernetes itself have theirs in builtin/; those of KubeVirt and CDI are handed over in Options.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "api/cause.hpp"
#include "api/kind.hpp"
#include "kube/transport.hpp"

namespace berth::apiserver {

/// What a check may look at besides the object itself.
struct Surroundings {
    const kube::User& user;                 ///< who asks
    const json::Value* kubevirt = nullptr;  ///< the installation's settings; nullptr: there are none
    const json::Value* vmi = nullptr;       ///< the instance of a VM's name; nullptr: there is none
};

/// An object as it is stored at this moment; nullptr when there is none.
using Look = std::function<std::shared_ptr<const json::Value>(const api::Key& key)>;

/// Each function may be empty. All are pure: they see what they are given, nothing else.
struct Admission {
    /// Fills in defaults on create, before the object is validated.
    std::function<void(json::Value& object, const kube::User& user)> mutate_create = {};
    /// The same on update and patch; may also take back what this user may not change.
    std::function<void(json::Value& object, const json::Value& old, const kube::User& user)> mutate_update = {};
    /// `old` is nullptr on create. An empty answer accepts.
    std::function<
        std::vector<api::Cause>(const json::Value& object, const json::Value* old, const Surroundings& around)>
        validate = {};
    /// On create, for reasons that lie in other objects. Those may change until the object is stored, and after:
    /// a controller must cope with what this lets pass.
    std::function<std::vector<api::Cause>(const json::Value& object, const Look& look)> validate_beside = {};
};

}  // namespace berth::apiserver
