#include "cli/sights.hpp"

namespace berth::cli {

void Sights::watch_beside() {
    for (const api::Kind* kind :
         {&api::kVirtualMachine, &api::kVmi, &api::kDataVolume, &api::kClaim, &api::kVolume, &api::kPod, &api::kEvent
         }) {
        client_.beside("watch " + std::string(kind->plural), watch(kind));
    }
}

Task<Sight> Sights::next() {
    while (true) {
        const std::optional<Arrival> arrival = co_await arrivals_.next();  // never closed
        const kube::WatchEvent& event = arrival->event;
        const bool is_there = event.type == "ADDED" || event.type == "MODIFIED";
        if (!is_there && event.type != "DELETED") continue;
        std::pair<std::string_view, std::string> key{
            arrival->kind->plural, json::text_at(*event.object, "/metadata/name")
        };
        Sight sight{.kind = arrival->kind, .before = nullptr, .after = is_there ? event.object : nullptr};
        if (const auto it = seen_.find(key); it != seen_.end()) sight.before = it->second;
        if (is_there) {
            seen_[key] = event.object;
        } else {
            seen_.erase(key);
        }
        co_return sight;
    }
}

std::size_t Sights::count(const api::Kind& kind) const {
    const auto is_of_kind = [&](const auto& entry) { return entry.first.first == kind.plural; };
    return static_cast<std::size_t>(std::ranges::count_if(seen_, is_of_kind));
}

std::size_t Sights::count_if(const api::Kind& kind, std::function<bool(const json::Value&)> holds) const {
    const auto answers = [&](const auto& entry) { return entry.first.first == kind.plural && holds(*entry.second); };
    return static_cast<std::size_t>(std::ranges::count_if(seen_, answers));
}

kube::Document Sights::find(const api::Kind& kind, const std::string& name) const {
    const auto it = seen_.find({kind.plural, name});
    return it == seen_.end() ? nullptr : it->second;
}

// A watch that the server ends is opened again; what it shows twice is seen once.
Task<void> Sights::watch(const api::Kind* kind) {
    kube::Api api = client_.api();
    while (true) {
        kube::ListOptions where{.ns = kind->is_namespaced() ? ns_ : ""};
        const ResourceVersion now;
        auto stream = co_await api.watch(*kind, std::move(where), now);
        while (stream) {
            const std::optional<kube::WatchEvent> event = co_await (*stream)->next();
            if (!event) break;
            arrivals_.push({kind, *event});
        }
        co_await client_.clock().sleep_for(std::chrono::milliseconds(200));  // the server was away
    }
}

}  // namespace berth::cli
