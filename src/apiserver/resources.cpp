#include "apiserver/resources.hpp"

#include <algorithm>
#include <ranges>

#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

constexpr std::string_view kMachineGroup = "subresources.kubevirt.io";
constexpr std::string_view kVerbs[] = {
    "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"
};

// Kinds that are created and answered, never stored.
struct Review {
    std::string_view group;
    std::string_view plural;
    std::string_view kind;
    bool is_namespaced = false;
};
constexpr Review kReviews[] = {
    {"authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview"},
    {"authentication.k8s.io", "tokenreviews", "TokenReview"},
    {"authorization.k8s.io", "localsubjectaccessreviews", "LocalSubjectAccessReview", true},
    {"authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview"},
    {"authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview"},
    {"authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview"},
};

// Subresources besides status. exec, attach, portforward and tokens are not offered, so they are not listed.
struct Part {
    std::string_view resource;
    std::string_view name;
    std::string_view kind;
    std::string_view group;
    std::string_view version;
    std::string_view verb;
};
constexpr Part kParts[] = {
    {"namespaces", "namespaces/finalize", "Namespace", "",       "v1", "update"},
    {"pods",       "pods/binding",        "Binding",   "",       "v1", "create"},
    {"pods",       "pods/eviction",       "Eviction",  "policy", "v1", "create"},
    {"pods",       "pods/log",            "Pod",       "",       "v1", "get"   },
};

// kubectl must not take these for resources: they have neither kind nor verbs (docs/spec/kube-api.md 2.31).
constexpr std::string_view kMachineVerbs[] = {
    "virtualmachineinstances/addvolume",
    "virtualmachineinstances/console",
    "virtualmachineinstances/pause",
    "virtualmachineinstances/removevolume",
    "virtualmachineinstances/softreboot",
    "virtualmachineinstances/unpause",
    "virtualmachines/addvolume",
    "virtualmachines/migrate",
    "virtualmachines/removevolume",
    "virtualmachines/restart",
    "virtualmachines/start",
    "virtualmachines/stop",
};

std::vector<std::string_view> all_verbs(const api::Kind& kind) {
    std::vector<std::string_view> out;
    for (const std::string_view verb : kVerbs) {
        if (kind != api::kNamespace || verb != "deletecollection") out.push_back(verb);
    }
    return out;
}

bool is_in(const api::Kind& kind, std::string_view group, std::string_view version) {
    return kind.group == group && (kind.version == version || contains(words_of(kind.other_versions), version));
}

std::string_view categories_of(const api::Kind& kind) {
    if (kind.in_all) return "all";
    const bool extends = kind.plural == "customresourcedefinitions" || kind.plural == "apiservices";
    return extends ? "api-extensions" : "";
}

void add_kind(const api::Kind& kind, std::string_view version, std::vector<ServedResource>& out) {
    out.push_back({
        .name = std::string(kind.plural),
        .singular = kind.singular,
        .is_namespaced = kind.is_namespaced(),
        .kind = kind.kind,
        .kind_group = kind.group,
        .kind_version = version,
        .verbs = all_verbs(kind),
        .short_names = kind.short_names,
        .categories = categories_of(kind),
        .stored = &kind,
    });
    ServedResource part{
        .is_namespaced = kind.is_namespaced(), .kind = kind.kind, .kind_group = kind.group, .kind_version = version
    };
    for (const Part& known : kParts) {
        if (!kind.group.empty() || known.resource != kind.plural) continue;
        part.name = known.name;
        part.kind = known.kind;
        part.kind_group = known.group;
        part.kind_version = known.version;
        part.verbs = {known.verb};
        out.push_back(part);
    }
    if (!kind.has_status) return;
    part.name = std::string(kind.plural) + "/status";
    part.kind = kind.kind;
    part.kind_group = kind.group;
    part.kind_version = version;
    part.verbs = {"get", "patch", "update"};
    out.push_back(part);
}

void add_version(ServedGroup& group, std::string_view version) {
    if (!contains(group.versions, version)) group.versions.push_back(version);
}

ServedGroup& group_named(std::vector<ServedGroup>& groups, std::string_view name) {
    const auto it = std::ranges::find(groups, name, &ServedGroup::name);
    if (it != groups.end()) return *it;
    return groups.emplace_back(ServedGroup{.name = name});
}

}  // namespace

std::vector<ServedGroup> served_groups() {
    std::vector<ServedGroup> built_in;
    std::vector<ServedGroup> others;
    for (const api::Kind* kind : api::kinds()) {
        const bool is_built_in = kind->serving == api::Serving::built_in;
        ServedGroup& group = group_named(is_built_in ? built_in : others, kind->group);
        add_version(group, kind->version);
        for (const std::string_view version : words_of(kind->other_versions)) add_version(group, version);
    }
    for (const Review& review : kReviews) add_version(group_named(built_in, review.group), "v1");
    others.push_back({
        .name = kMachineGroup, .versions = {"v1", "v1alpha3"}
    });
    std::ranges::sort(others, {}, &ServedGroup::name);
    built_in.insert(built_in.end(), others.begin(), others.end());
    return built_in;
}

std::vector<ServedResource> served_resources(std::string_view group, std::string_view version) {
    std::vector<ServedResource> out;
    for (const api::Kind* kind : api::kinds()) {
        if (is_in(*kind, group, version)) add_kind(*kind, version, out);
    }
    for (const Review& review : kReviews) {
        if (review.group != group || version != "v1") continue;
        ServedResource resource{
            .name = std::string(review.plural), .is_namespaced = review.is_namespaced, .kind = review.kind
        };
        resource.kind_group = review.group;
        resource.kind_version = "v1";
        resource.singular = review.plural.substr(0, review.plural.size() - 1);
        resource.verbs = {"create"};
        out.push_back(std::move(resource));
    }
    if (group == kMachineGroup && (version == "v1" || version == "v1alpha3")) {
        for (const std::string_view name : kMachineVerbs)
            out.push_back({.name = std::string(name), .is_namespaced = true});
    }
    return out;
}

std::string group_version(std::string_view group, std::string_view version) {
    return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

std::vector<std::string_view> words_of(std::string_view list) {
    std::vector<std::string_view> out;
    for (const auto word : std::views::split(list, ' ')) {
        if (!word.empty()) out.emplace_back(word);
    }
    return out;
}

}  // namespace berth::apiserver
