#include "kube/cache.hpp"

#include <charconv>

namespace berth::kube {
namespace {

std::uint64_t number(std::string_view resource_version) {
    std::uint64_t value = 0;
    std::from_chars(resource_version.data(), resource_version.data() + resource_version.size(), value);
    return value;
}

}  // namespace

void CacheBase::replace(const std::vector<Document>& items, const ResourceVersion& at) {
    seen_ = std::max(seen_, number(at.value));
    synced_ = true;
    std::set<std::pair<std::string, std::string>> present;
    for (const Document& item : items) {
        std::string ns(json::text_at(*item, "/metadata/namespace"));
        std::string name(json::text_at(*item, "/metadata/name"));
        const api::ObjectMeta* known = meta(ns, name);
        const bool same =
            known != nullptr && known->resource_version.value == json::text_at(*item, "/metadata/resourceVersion");
        if (!same) store(ns, name, item);
        present.emplace(std::move(ns), std::move(name));
    }
    for (const auto& [ns, name] : names()) {
        if (!present.contains({ns, name})) store(ns, name, nullptr);
    }
    if (progressed) progressed();
}

void CacheBase::put(const Document& document) {
    seen_ = std::max(seen_, number(json::text_at(*document, "/metadata/resourceVersion")));
    store(
        std::string(json::text_at(*document, "/metadata/namespace")),
        std::string(json::text_at(*document, "/metadata/name")),
        document
    );
    if (progressed) progressed();
}

void CacheBase::remove(const Document& document) {
    seen_ = std::max(seen_, number(json::text_at(*document, "/metadata/resourceVersion")));
    store(
        std::string(json::text_at(*document, "/metadata/namespace")),
        std::string(json::text_at(*document, "/metadata/name")),
        nullptr
    );
    if (progressed) progressed();
}

void CacheBase::advance(const ResourceVersion& at) {
    seen_ = std::max(seen_, number(at.value));
    if (progressed) progressed();
}

void CacheBase::changed(const api::ObjectMeta* before, const api::ObjectMeta* after) {
    for (const Listener& listener : listeners_) listener(before, after);
}

}  // namespace berth::kube
