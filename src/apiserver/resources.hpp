// What is served, as discovery and OpenAPI describe it: groups, their versions, and the resources of each.
// Contract: docs/spec/kube-api.md 1.2, 1.3, 2.24. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kind.hpp"

namespace berth::apiserver {

struct ServedGroup {
    std::string_view name;                   ///< "" = core
    std::vector<std::string_view> versions;  ///< preferred first
};

/// A resource or ("pods/status") a subresource.
struct ServedResource {
    std::string name;
    std::string_view singular = {};
    bool is_namespaced = false;
    std::string_view kind = {};        ///< what it answers with; "" for the verbs of machines
    std::string_view kind_group = {};  ///< of `kind`; usually the group it is listed in
    std::string_view kind_version = {};
    std::vector<std::string_view> verbs = {};
    std::string_view short_names = {};  ///< separated by blanks
    std::string_view categories = {};   ///< separated by blanks
    const api::Kind* stored = nullptr;  ///< nullptr: reviews, subresources
};

/// In order of priority: core, the built-in groups, then the others by name.
std::vector<ServedGroup> served_groups();

/// A subresource follows its resource. Empty: no such group version.
std::vector<ServedResource> served_resources(std::string_view group, std::string_view version);

/// "v1", "apps/v1"
std::string group_version(std::string_view group, std::string_view version);
/// Words of a list that is separated by blanks.
std::vector<std::string_view> words_of(std::string_view list);

}  // namespace berth::apiserver
