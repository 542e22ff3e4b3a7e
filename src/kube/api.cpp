// Typed calls as requests: paths, options and patch types (docs/spec/kube-api.md 2.1, 2.9, 2.10, 2.12, 2.16, 2.18).
#include "kube/api.hpp"

#include "base/check.hpp"

namespace berth::kube {
namespace {

constexpr std::string_view kPageLimit = "500";
constexpr int kPagesMax = 10'000;

// Names are almost always plain; ':' of RBAC names is legal in a path, everything else is escaped.
std::string escaped(std::string_view name) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:";
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string out;
    for (const char c : name) {
        if (kPlain.find(c) != std::string_view::npos) {
            out += c;
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        out += '%';
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
    }
    return out;
}

std::string path_in(
    std::string_view api_version,
    const api::Kind& kind,
    const std::string& ns,
    const std::string& name,
    const std::string& subresource
) {
    std::string path = api_version.find('/') == std::string_view::npos ? "/api/" : "/apis/";
    path += api_version;
    if (kind.is_namespaced() && !ns.empty()) path += "/namespaces/" + escaped(ns);
    path += "/" + std::string(kind.plural);
    if (!name.empty()) path += "/" + escaped(name);
    if (!subresource.empty()) path += "/" + subresource;
    return path;
}

Request request_for(std::string method, std::string path, const User& user) {
    Request request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.headers["accept"] = "application/json";
    request.user = user;
    return request;
}

void carry(Request& request, json::Value document, std::string content_type) {
    request.headers["content-type"] = std::move(content_type);
    request.document = std::move(document);
}

void select(Request& request, const ListOptions& options) {
    if (!options.label_selector.empty()) request.query.emplace_back("labelSelector", options.label_selector);
    if (!options.field_selector.empty()) request.query.emplace_back("fieldSelector", options.field_selector);
}

Result<Document> document_of(Response response) {
    if (response.code / 100 != 2) return std::unexpected(error_of(response));
    if (response.document) return std::move(response.document);
    if (response.body.empty()) return std::make_shared<const json::Value>(json::Object());
    TRY(json::Value parsed, json::parse(response.body));
    return std::make_shared<const json::Value>(std::move(parsed));
}

// Items of a list do not say what they are for built-in kinds (2.5): everyone below expects that they do.
Document item_of(const json::Value& item, const api::Kind& kind) {
    json::Value copy = item;
    if (json::Object* object = copy.if_object()) {
        if (!object->contains("kind")) (*object)["kind"] = kind.kind;
        if (!object->contains("apiVersion")) (*object)["apiVersion"] = kind.api_version();
    }
    return std::make_shared<const json::Value>(std::move(copy));
}

void add_page(Listing& listing, const json::Value& page, const std::vector<Document>& shared, const api::Kind& kind) {
    listing.at.value = json::text_at(page, "/metadata/resourceVersion");
    listing.items.insert(listing.items.end(), shared.begin(), shared.end());
    const json::Value* items = json::find(page, "/items");
    if (items == nullptr || !items->is_array()) return;
    for (const json::Value& item : items->get_array()) listing.items.push_back(item_of(item, kind));
}

json::Value delete_body(const DeleteOptions& options) {
    json::Object body{
        {"kind",       "DeleteOptions"},
        {"apiVersion", "v1"           }
    };
    if (!options.uid.empty())
        body["preconditions"] = json::Object{
            {"uid", options.uid.value}
        };
    if (options.grace_seconds) body["gracePeriodSeconds"] = *options.grace_seconds;
    if (!options.propagation.empty()) body["propagationPolicy"] = options.propagation;
    return json::Value(std::move(body));
}

// Where a whole document is written: under the version it is written in, which may be an older one.
struct Place {
    std::string collection;
    std::string name;
};

Result<Place> place_of(const json::Value& document) {
    const api::Key key = api::key_of(document);
    const std::string_view version = json::text_at(document, "/apiVersion");
    if (key.kind == nullptr) {
        return fail(
            ErrorKind::invalid,
            "no kind \"" + std::string(json::text_at(document, "/kind")) + "\" in \"" + std::string(version) +
                "\": check apiVersion and kind"
        );
    }
    return Place{path_in(version, *key.kind, key.ns, "", ""), key.name};
}

}  // namespace

std::string path_of(
    const api::Kind& kind, const std::string& ns, const std::string& name, const std::string& subresource
) {
    return path_in(kind.api_version(), kind, ns, name, subresource);
}

Task<Result<Document>> Api::get(api::Key key) {
    CHECK(key.kind != nullptr);
    CO_TRY(
        Response response, co_await transport_.request(request_for("GET", path_of(*key.kind, key.ns, key.name), user_))
    );
    co_return document_of(std::move(response));
}

Task<Result<Listing>> Api::list(const api::Kind& kind, ListOptions options) {
    Listing listing;
    std::string next;
    bool is_paged = true;
    for (int page = 0; page < kPagesMax; ++page) {
        Request request = request_for("GET", path_of(kind, options.ns), user_);
        select(request, options);
        request.takes_shared_items = true;
        if (is_paged) request.query.emplace_back("limit", kPageLimit);
        if (!next.empty()) request.query.emplace_back("continue", next);
        CO_TRY(Response response, co_await transport_.request(std::move(request)));
        const std::vector<Document> shared = std::exchange(response.items, {}).value_or(std::vector<Document>());
        const Result<Document> document = document_of(std::move(response));
        if (!document) {
            if (document.error().kind != ErrorKind::gone || next.empty()) co_return std::unexpected(document.error());
            // The snapshot was compacted between two pages: once more, in one piece.
            listing = {};
            next.clear();
            is_paged = false;
            continue;
        }
        add_page(listing, **document, shared, kind);
        next = json::text_at(**document, "/metadata/continue");
        if (next.empty()) co_return listing;
    }
    co_return fail(ErrorKind::io, "list " + kind.qualified() + ": the server's pages do not end");
}

Task<Result<Document>> Api::create(json::Value document) {
    CO_TRY(const Place place, place_of(document));
    Request request = request_for("POST", place.collection, user_);
    carry(request, std::move(document), "application/json");
    CO_TRY(Response response, co_await transport_.request(std::move(request)));
    co_return document_of(std::move(response));
}

Task<Result<Document>> Api::patch(api::Key key, json::Value patch, std::string subresource) {
    CHECK(key.kind != nullptr);
    Request request = request_for("PATCH", path_of(*key.kind, key.ns, key.name, subresource), user_);
    carry(request, std::move(patch), "application/merge-patch+json");
    CO_TRY(Response response, co_await transport_.request(std::move(request)));
    co_return document_of(std::move(response));
}

Task<Result<Document>> Api::update(json::Value document, std::string subresource) {
    CO_TRY(const Place place, place_of(document));
    std::string path = place.collection + "/" + escaped(place.name);
    if (!subresource.empty()) path += "/" + subresource;
    Request request = request_for("PUT", std::move(path), user_);
    carry(request, std::move(document), "application/json");
    CO_TRY(Response response, co_await transport_.request(std::move(request)));
    co_return document_of(std::move(response));
}

Task<Result<void>> Api::remove(api::Key key, DeleteOptions options) {
    CHECK(key.kind != nullptr);
    Request request = request_for("DELETE", path_of(*key.kind, key.ns, key.name), user_);
    carry(request, delete_body(options), "application/json");
    CO_TRY(const Response response, co_await transport_.request(std::move(request)));
    if (response.code / 100 != 2) co_return std::unexpected(error_of(response));
    co_return Result<void>();
}

Task<Result<void>> Api::bind(api::Key pod, Uid uid, std::string node) {
    CHECK(pod.kind != nullptr);
    json::Object metadata{
        {"name",      pod.name},
        {"namespace", pod.ns  }
    };
    if (!uid.empty()) metadata["uid"] = uid.value;
    json::Object target{
        {"apiVersion", "v1"  },
        {"kind",       "Node"},
        {"name",       node  }
    };
    json::Object binding{
        {"apiVersion", "v1"               },
        {"kind",       "Binding"          },
        {"metadata",   std::move(metadata)},
        {"target",     std::move(target)  }
    };
    Request request = request_for("POST", path_of(*pod.kind, pod.ns, pod.name, "binding"), user_);
    carry(request, json::Value(std::move(binding)), "application/json");
    CO_TRY(const Response response, co_await transport_.request(std::move(request)));
    if (response.code / 100 != 2) co_return std::unexpected(error_of(response));
    co_return Result<void>();
}

Task<Result<std::unique_ptr<WatchStream>>> Api::watch(
    const api::Kind& kind, ListOptions options, ResourceVersion from
) {
    Request request = request_for("GET", path_of(kind, options.ns), user_);
    select(request, options);
    request.query.emplace_back("watch", "true");
    request.query.emplace_back("allowWatchBookmarks", "true");
    if (!from.empty()) request.query.emplace_back("resourceVersion", from.value);
    co_return co_await transport_.watch(std::move(request));
}

Task<Result<Response>> Api::raw(Request request) {
    request.user = user_;
    co_return co_await transport_.request(std::move(request));
}

}  // namespace berth::kube
