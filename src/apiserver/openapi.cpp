#include "apiserver/openapi.hpp"

#include <cctype>

#include "apiserver/openapi_schema.hpp"
#include "apiserver/resources.hpp"
#include "base/hash.hpp"

namespace berth::apiserver {
namespace {

using json::Array;
using json::Object;
using json::Value;

std::string path_of(std::string_view group, std::string_view version) {
    return (group.empty() ? "api/" : "apis/") + group_version(group, version);
}

// "Fri, 02 Jan 2026 03:04:05 GMT"
std::string http_date(Timestamp at) {
    constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr const char* kMonths[] = {
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"
    };
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date{day};
    const std::string text = to_rfc3339(at);  // 2026-01-02T03:04:05Z
    return std::string(kDays[std::chrono::weekday{day}.c_encoding()]) + ", " + text.substr(8, 2) + " " +
           kMonths[static_cast<unsigned>(date.month()) - 1] + " " + text.substr(0, 4) + " " + text.substr(11, 8) +
           " GMT";
}

Array parameters(std::initializer_list<const char*> names) {
    Array out;
    for (const char* name : names) {
        Object one{
            {"name", name   },
            {"in",   "query"}
        };
        one["schema"] = Object{
            {"type", std::string_view(name) == "force" ? "boolean" : "string"}
        };
        out.push_back(std::move(one));
    }
    return out;
}

Object operation(const ServedResource& resource, std::string_view action, Array query) {
    Object out;
    if (!query.empty()) out["parameters"] = std::move(query);
    Object ok;
    ok["200"] = Object{
        {"description", "OK"}
    };
    out["responses"] = std::move(ok);
    out["x-kubernetes-action"] = action;
    out["x-kubernetes-group-version-kind"] = Object{
        {"group",   resource.kind_group  },
        {"version", resource.kind_version},
        {"kind",    resource.kind        }
    };
    return out;
}

void add_paths(const ServedResource& resource, const std::string& root, Object& paths) {
    const std::string scope = resource.is_namespaced ? "/namespaces/{namespace}/" : "/";
    const std::string collection = root + scope + resource.name;
    Object all;
    if (resource.stored != nullptr) all["get"] = operation(resource, "list", {});
    all["post"] = operation(resource, "post", parameters({"dryRun", "fieldManager", "fieldValidation"}));
    paths[collection] = std::move(all);
    if (resource.stored == nullptr) return;
    Object one;
    one["get"] = operation(resource, "get", {});
    one["put"] = operation(resource, "put", parameters({"dryRun", "fieldManager", "fieldValidation"}));
    one["delete"] = operation(resource, "delete", parameters({"dryRun", "gracePeriodSeconds", "propagationPolicy"}));
    one["patch"] = operation(resource, "patch", parameters({"dryRun", "fieldManager", "fieldValidation", "force"}));
    paths[collection + "/{name}"] = std::move(one);
}

// A verb of a machine: no kind and no query, the answer is empty. A console is a stream.
void add_verb(const ServedResource& resource, const std::string& root, Object& paths) {
    const std::size_t slash = resource.name.find('/');
    const std::string verb = resource.name.substr(slash + 1);
    const bool is_stream = verb == "console";
    Object accepted;
    accepted[is_stream ? "200" : "202"] = Object{
        {"description", is_stream ? "OK" : "Accepted"}
    };
    Object body;
    body["content"] = Object{
        {"*/*", Object{{"schema", Object{{"type", "object"}}}}}
    };
    Object operation;
    if (!is_stream) operation["requestBody"] = std::move(body);
    operation["responses"] = std::move(accepted);
    Object one;
    one[is_stream ? "get" : "put"] = std::move(operation);
    paths[root + "/namespaces/{namespace}/" + resource.name.substr(0, slash) + "/{name}/" + verb] = std::move(one);
}

}  // namespace

json::Value OpenApi::document(std::string_view group, std::string_view version) const {
    const auto resources = served_resources(group, version);
    if (resources.empty()) return {};
    Object paths;
    SchemaCollection schemas;
    for (const ServedResource& resource : resources) {
        const bool is_part = resource.name.find('/') != std::string::npos;
        if (is_part && resource.kind.empty()) add_verb(resource, "/" + path_of(group, version), paths);
        if (is_part || resource.kind.empty()) continue;
        add_paths(resource, "/" + path_of(group, version), paths);
        if (resource.stored != nullptr && resource.stored->serving == api::Serving::schema) {
            schemas.add(*resource.stored, version);
        } else if (const Type* type = find_type(group_version(group, version), resource.kind)) {
            schemas.add(*type);
        }
    }
    Object out{
        {"openapi", "3.0.0"}
    };
    out["info"] = Object{
        {"title",   "Berth" },
        {"version", version_}
    };
    out["paths"] = std::move(paths);
    Object components;
    components["schemas"] = schemas.take();
    out["components"] = std::move(components);
    return out;
}

const std::map<std::string, std::string>& OpenApi::hashes() {
    if (!hashes_.empty()) return hashes_;
    for (const ServedGroup& group : served_groups()) {
        for (const std::string_view version : group.versions) {
            std::string hash = sha1_hex(json::print(document(group.name, version)));
            for (char& c : hash) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
            hashes_[path_of(group.name, version)] = std::move(hash);
        }
    }
    return hashes_;
}

namespace {

// kubectl reads version 2, in protobuf, before it sends a document of kind List, and skips what it finds no schema of:
// the server checks each object anyway. So the document has a head and no schemas.
// Source: https://github.com/google/gnostic-models/blob/v0.6.9/openapiv2/OpenAPIv2.proto (Document 1, 2; Info 1, 2)
OpenApiAnswer schemaless_v2(const std::string& version) {
    const auto field = [](int number, const std::string& text) {
        return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(text.size())} + text;
    };
    return {
        .headers = {{"content-type", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"}, {"vary", "Accept"}},
        .body = field(1, "2.0") + field(2, field(1, "Berth") + field(2, version)),
    };
}

}  // namespace

OpenApiAnswer OpenApi::answer(std::string_view path, std::string_view hash, Timestamp now) {
    while (path.ends_with('/')) path.remove_suffix(1);
    const auto url = [](const std::string& of, const std::string& its_hash) {
        return "/openapi/v3/" + of + "?hash=" + its_hash;
    };
    OpenApiAnswer answer{
        .headers = {{"content-type", "application/json"}, {"vary", "Accept"}}
    };
    if (path == "v3") {
        Object paths;
        for (const auto& [of, its_hash] : hashes())
            paths[of] = Object{
                {"serverRelativeURL", url(of, its_hash)}
            };
        Object index;
        index["paths"] = std::move(paths);
        answer.body = json::print(index);
        return answer;
    }
    if (path == "v2") return schemaless_v2(version_);
    if (path.starts_with("v3/")) path.remove_prefix(3);
    const auto known = hashes().find(std::string(path));
    if (known == hashes().end())
        return {.code = 404, .headers = {{"content-type", "text/plain"}}, .body = "404 page not found\n"};
    if (!hash.empty() && hash != known->second) {
        answer.code = 301;
        answer.headers["location"] = url(known->first, known->second);
        return answer;
    }
    path.remove_prefix(path.find('/') + 1);
    const std::size_t slash = path.find('/');
    const bool is_core = slash == std::string_view::npos;
    answer.body = json::print(document(is_core ? "" : path.substr(0, slash), is_core ? path : path.substr(slash + 1)));
    answer.headers["etag"] = "\"" + known->second + "\"";
    if (!hash.empty()) {
        answer.headers["cache-control"] = "public, immutable";
        answer.headers["expires"] = http_date(now + std::chrono::days{365});
    }
    return answer;
}

}  // namespace berth::apiserver
