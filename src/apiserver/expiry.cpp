#include "apiserver/expiry.hpp"

namespace berth::apiserver {

bool is_expired(const json::Value& event, Timestamp now) {
    Timestamp newest{};
    for (const char* field :
         {"/metadata/creationTimestamp", "/lastTimestamp", "/eventTime", "/series/lastObservedTime"}) {
        if (const auto at = from_rfc3339(json::text_at(event, field))) newest = std::max(newest, *at);
    }
    return now - newest > kEventLife;
}

Task<void> expire_events(Core& core) {
    for (const store::RecordPtr& record : core.store.list(api::kEvent.qualified(), "")) {
        if (!is_expired(record->document, core.clock.now())) continue;
        store::Write write{record->key, record->revision, std::nullopt};
        const Result<store::RecordPtr> gone = co_await core.store.write(std::move(write));
        // One that was written meanwhile lives on; a disk that is full is everyone's trouble, not ours to report.
        if (!gone && gone.error().kind == ErrorKind::unavailable) co_return;
    }
}

}  // namespace berth::apiserver
