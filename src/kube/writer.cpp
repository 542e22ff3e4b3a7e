#include "kube/writer.hpp"

#include <charconv>

namespace berth::kube {
namespace {

std::uint64_t version_of(const json::Value& document) {
    const std::string_view text = json::text_at(document, "/metadata/resourceVersion");
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::string controller_uid(const json::Value& document) {
    const json::Value* owners = json::find(document, "/metadata/ownerReferences");
    if (owners == nullptr || !owners->is_array()) return {};
    for (const json::Value& owner : owners->get_array()) {
        if (json::bool_at(owner, "/controller")) return std::string(json::text_at(owner, "/uid"));
    }
    return {};
}

}  // namespace

bool Written::is_visible() const {
    if (version != 0) return cache->seen() >= version;
    const api::ObjectMeta* meta = cache->meta(ns, name);
    return meta == nullptr || meta->uid != uid || meta->is_deleting();
}

void Writer::note(const api::Kind& kind, const Document& document, std::vector<Written>& written) const {
    if (const CacheBase* cache = find_(kind)) written.push_back({.cache = cache, .version = version_of(*document)});
}

Task<Result<void>> Writer::run(api::Create create, std::vector<Written>& written) {
    const api::Key key = api::key_of(create.document);
    const Result<Document> created = co_await server_.create(create.document);
    if (created) {
        note(*key.kind, *created, written);
        co_return Result<void>();
    }
    if (created.error().kind != ErrorKind::already_exists) co_return std::unexpected(created.error());
    const Result<Document> found = co_await server_.get(key);
    if (!found) co_return std::unexpected(created.error());
    const bool is_ours = controller_uid(**found) == controller_uid(create.document) &&
                         json::find(**found, "/metadata/deletionTimestamp") == nullptr;
    if (!is_ours) co_return std::unexpected(created.error());
    note(*key.kind, *found, written);
    co_return Result<void>();
}

Task<Result<void>> Writer::run(api::Patch patch, std::vector<Written>& written) {
    if (!patch.uid.empty()) json::set(patch.patch, "/metadata/uid", json::Value(patch.uid.value));
    if (patch.at) json::set(patch.patch, "/metadata/resourceVersion", json::Value(patch.at->value));
    std::string subresource = patch.part == api::Part::status && patch.key.kind->has_status ? "status" : "";
    const Result<Document> patched = co_await server_.patch(patch.key, std::move(patch.patch), std::move(subresource));
    if (patched) {
        note(*patch.key.kind, *patched, written);
        co_return Result<void>();
    }
    if (patched.error().kind == ErrorKind::not_found) co_return Result<void>();
    co_return std::unexpected(patched.error());
}

Task<Result<void>> Writer::run(api::Delete remove, std::vector<Written>& written) {
    DeleteOptions options{remove.uid, remove.grace_seconds, remove.propagation};
    const Result<void> removed = co_await server_.remove(remove.key, std::move(options));
    if (removed) {
        const CacheBase* cache = find_(*remove.key.kind);
        if (cache != nullptr && !remove.uid.empty()) {
            written.push_back({.cache = cache, .ns = remove.key.ns, .name = remove.key.name, .uid = remove.uid});
        }
        co_return Result<void>();
    }
    // Another object of that name is there, or none: what we wanted gone is gone.
    const ErrorKind kind = removed.error().kind;
    if (kind == ErrorKind::not_found || kind == ErrorKind::conflict) co_return Result<void>();
    co_return std::unexpected(removed.error());
}

Task<Result<void>> Writer::run(api::Bind bind, std::vector<Written>& written) {
    const Result<void> bound = co_await server_.bind(bind.pod, bind.uid, bind.node);
    if (!bound) co_return bound;
    // A binding answers with a Status, which has no version: the pod says which one shows it.
    const Result<Document> pod = co_await server_.get(bind.pod);
    if (pod) note(api::kPod, *pod, written);
    co_return Result<void>();
}

}  // namespace berth::kube
