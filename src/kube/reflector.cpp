#include "kube/reflector.hpp"

namespace berth::kube {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstDelay = 800ms;
constexpr Duration kLongestDelay = 30s;

// Follows one watch to its end. Returns false when the history is gone and the caller must list again.
Task<bool> follow(CacheBase& cache, WatchStream& stream, ResourceVersion& from) {
    for (;;) {
        const std::optional<WatchEvent> event = co_await stream.next();
        if (!event) co_return true;
        if (event->type == "ERROR") co_return false;
        from.value = json::text_at(*event->object, "/metadata/resourceVersion");
        if (event->type == "DELETED") {
            cache.remove(event->object);
        } else if (event->type == "BOOKMARK") {
            cache.advance(from);
        } else {
            cache.put(event->object);
        }
    }
}

}  // namespace

Task<void> reflect(CacheBase& cache, Api api, ListOptions options, Clock& clock, Entropy& entropy, Log& log) {
    Duration delay = kFirstDelay;
    const std::string kind(cache.kind().plural);
    const auto pause = [&](const Error& error) {
        log.warn(
            "cannot follow",
            {
                {"kind",  kind         },
                {"error", error.message}
        }
        );
        const Duration jittered =
            delay + Duration(static_cast<std::int64_t>(entropy.next() % static_cast<std::uint64_t>(delay.count())));
        delay = std::min(delay * 2, kLongestDelay);
        return clock.sleep_for(jittered);
    };
    for (;;) {
        Result<Listing> listing = co_await api.list(cache.kind(), options);
        if (!listing) {
            co_await pause(listing.error());
            continue;
        }
        ResourceVersion from = listing->at;
        cache.replace(listing->items, from);
        for (bool current = true; current;) {
            Result<std::unique_ptr<WatchStream>> stream = co_await api.watch(cache.kind(), options, from);
            if (!stream) {
                current = stream.error().kind != ErrorKind::gone;
                if (current) co_await pause(stream.error());
                continue;
            }
            const Monotonic opened = clock.monotonic();
            current = co_await follow(cache, **stream, from);
            const bool was_short = clock.monotonic() - opened < 1s;
            if (!was_short) delay = kFirstDelay;
            if (was_short && current) {
                const Error closed{ErrorKind::unavailable, "the watch was closed at once"};
                co_await pause(closed);
            }
        }
    }
}

}  // namespace berth::kube
