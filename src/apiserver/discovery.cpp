#include "apiserver/discovery.hpp"

#include <cctype>
#include <ranges>

#include "apiserver/resources.hpp"
#include "base/ascii.hpp"
#include "base/hash.hpp"
#include "base/ranges.hpp"

namespace berth::apiserver {
namespace {

using json::Array;
using json::Object;
using json::Value;

Array texts(const std::vector<std::string_view>& words) {
    Array out;
    for (const std::string_view word : words) out.push_back(Value(word));
    return out;
}

// --- Legacy
// ---------------------------------------------------------------------------------------------------------------

Array client_addresses() {
    Array out;
    out.push_back(Object{
        {"clientCIDR",    "0.0.0.0/0"},
        {"serverAddress", ""         }
    });
    return out;
}

Value core_versions() {
    return Object{
        {"kind",                       "APIVersions"     },
        {"versions",                   texts({"v1"})     },
        {"serverAddressByClientCIDRs", client_addresses()}
    };
}

Object version_entry(std::string_view group, std::string_view version) {
    return Object{
        {"groupVersion", group_version(group, version)},
        {"version", version}
    };
}

Object group_entry(const ServedGroup& group) {
    Array versions;
    for (const std::string_view version : group.versions) versions.push_back(version_entry(group.name, version));
    Object out{
        {"name", group.name}
    };
    out["versions"] = std::move(versions);
    out["preferredVersion"] = version_entry(group.name, group.versions.front());
    return out;
}

Value group_list() {
    Array groups;
    for (const ServedGroup& group : served_groups()) {
        if (!group.name.empty()) groups.push_back(group_entry(group));
    }
    Object out{
        {"kind",       "APIGroupList"},
        {"apiVersion", "v1"          }
    };
    out["groups"] = std::move(groups);
    return out;
}

std::optional<Value> one_group(std::string_view name) {
    for (const ServedGroup& group : served_groups()) {
        if (group.name != name || name.empty()) continue;
        Object out{
            {"kind",       "APIGroup"},
            {"apiVersion", "v1"      }
        };
        for (auto& [key, value] : group_entry(group)) out[key] = std::move(value);
        return Value(std::move(out));
    }
    return {};
}

Object legacy_resource(const ServedResource& resource, std::string_view group, std::string_view version) {
    Object out{
        {"name",         resource.name         },
        {"singularName", resource.singular     },
        {"namespaced",   resource.is_namespaced}
    };
    const bool is_elsewhere =
        !resource.kind.empty() && (resource.kind_group != group || resource.kind_version != version);
    if (is_elsewhere) {
        out["group"] = resource.kind_group;
        out["version"] = resource.kind_version;
    }
    out["kind"] = resource.kind;
    out["verbs"] = texts(resource.verbs);
    if (!resource.short_names.empty()) out["shortNames"] = texts(words_of(resource.short_names));
    if (!resource.categories.empty()) out["categories"] = texts(words_of(resource.categories));
    return out;
}

std::optional<Value> resource_list(std::string_view group, std::string_view version) {
    const auto resources = served_resources(group, version);
    if (resources.empty()) return {};
    Array list;
    for (const ServedResource& resource : resources) list.push_back(legacy_resource(resource, group, version));
    Object out{
        {"kind", "APIResourceList"},
        {"apiVersion", "v1"},
        {"groupVersion", group_version(group, version)}
    };
    out["resources"] = std::move(list);
    return Value(std::move(out));
}

Value root_paths() {
    Array paths;
    paths.push_back("/api");
    paths.push_back("/api/v1");
    paths.push_back("/apis");
    for (const ServedGroup& group : served_groups()) {
        if (group.name.empty()) continue;
        paths.push_back(Value("/apis/" + std::string(group.name)));
        for (const std::string_view version : group.versions)
            paths.push_back(Value("/apis/" + group_version(group.name, version)));
    }
    for (const char* path : {"/healthz", "/livez", "/metrics", "/openapi/v3", "/readyz", "/version"})
        paths.push_back(path);
    return Object{
        {"paths", std::move(paths)}
    };
}

// --- Aggregated
// -----------------------------------------------------------------------------------------------------------

Object response_kind(const ServedResource& resource) {
    return Object{
        {"group",   resource.kind_group  },
        {"version", resource.kind_version},
        {"kind",    resource.kind        }
    };
}

Object aggregated_resource(const ServedResource& resource, std::string_view name) {
    Object out{
        {"resource", name}
    };
    out["responseKind"] = response_kind(resource);
    out["scope"] = resource.is_namespaced ? "Namespaced" : "Cluster";
    out["singularResource"] = resource.singular;
    out["verbs"] = texts(resource.verbs);
    if (!resource.short_names.empty()) out["shortNames"] = texts(words_of(resource.short_names));
    if (!resource.categories.empty()) out["categories"] = texts(words_of(resource.categories));
    return out;
}

// Subresources stand inside their resource. One without a resource in this group gets a parent without kind and verbs.
Array aggregated_resources(std::string_view group, std::string_view version) {
    Array out;
    for (const ServedResource& resource : served_resources(group, version)) {
        const std::size_t slash = resource.name.find('/');
        const std::string parent = resource.name.substr(0, slash);
        const bool has_parent = !out.empty() && json::text_at(out.back(), "/resource") == parent;
        if (slash == std::string::npos || !has_parent) {
            ServedResource listed = resource;
            if (slash != std::string::npos) listed.verbs.clear();
            out.push_back(aggregated_resource(listed, parent));
        }
        if (slash == std::string::npos) continue;
        Object part{
            {"subresource", resource.name.substr(slash + 1)}
        };
        part["responseKind"] = response_kind(resource);
        part["verbs"] = texts(resource.verbs);
        Value& parts = out.back().get_object()["subresources"];
        if (!parts.is_array()) parts = Array();
        parts.get_array().push_back(std::move(part));
    }
    return out;
}

Value aggregated(bool is_core, std::string_view form_version) {
    Array items;
    for (const ServedGroup& group : served_groups()) {
        if (group.name.empty() != is_core) continue;
        Array versions;
        for (const std::string_view version : group.versions) {
            Object entry{
                {"version", version}
            };
            entry["resources"] = aggregated_resources(group.name, version);
            entry["freshness"] = "Current";
            versions.push_back(std::move(entry));
        }
        Object metadata{
            {"creationTimestamp", nullptr}
        };
        if (!is_core) metadata["name"] = group.name;
        Object item;
        item["metadata"] = std::move(metadata);
        item["versions"] = std::move(versions);
        items.push_back(std::move(item));
    }
    Object out{
        {"kind",       "APIGroupDiscoveryList"                           },
        {"apiVersion", "apidiscovery.k8s.io/" + std::string(form_version)}
    };
    out["metadata"] = Object();
    out["items"] = std::move(items);
    return out;
}

// The version of the aggregated form that the client names first; none: it takes the legacy one.
std::optional<std::string> aggregated_version(std::string_view accept) {
    for (const auto element : std::views::split(accept, ',')) {
        std::string version;
        bool is_list = false;
        bool is_group = false;
        bool is_json = false;
        for (const auto part : std::views::split(std::string_view(element), ';')) {
            const std::string_view word = trimmed(std::string_view(part));
            is_json |= word == "application/json" || word == "*/*" || word == "application/*";
            is_group |= word == "g=apidiscovery.k8s.io";
            is_list |= word == "as=APIGroupDiscoveryList";
            if (word.starts_with("v=")) version = word.substr(2);
        }
        if (!is_json) continue;
        if (!is_list) return {};  // plain JSON comes first
        if (is_group && (version == "v2" || version == "v2beta1")) return version;
    }
    return {};
}

DiscoveryAnswer top(bool is_core, std::string_view accept) {
    const auto version = aggregated_version(accept);
    if (!version) return {.body = is_core ? core_versions() : group_list()};
    DiscoveryAnswer answer{.body = aggregated(is_core, *version)};
    answer.content_type = "application/json;g=apidiscovery.k8s.io;v=" + *version + ";as=APIGroupDiscoveryList";
    answer.etag = "\"" + sha1_hex(json::print(answer.body)) + "\"";
    return answer;
}

}  // namespace

std::optional<DiscoveryAnswer> discover(std::string_view path, std::string_view accept) {
    std::vector<std::string_view> parts;
    for (const auto part : std::views::split(path, '/')) {
        if (!part.empty()) parts.emplace_back(part);
    }
    if (parts.empty()) return DiscoveryAnswer{.body = root_paths()};
    const bool is_core = parts[0] == "api";
    if (!is_core && parts[0] != "apis") return {};
    if (parts.size() == 1) return top(is_core, accept);
    std::optional<Value> body;
    if (is_core && parts.size() == 2) body = resource_list("", parts[1]);
    if (!is_core && parts.size() == 2) body = one_group(parts[1]);
    if (!is_core && parts.size() == 3) body = resource_list(parts[1], parts[2]);
    if (!body) return {};
    return DiscoveryAnswer{.body = *std::move(body)};
}

}  // namespace berth::apiserver
