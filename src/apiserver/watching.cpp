#include "apiserver/watching.hpp"

#include <deque>

#include "apiserver/present.hpp"
#include "apiserver/read.hpp"
#include "apiserver/select.hpp"

namespace berth::apiserver {
namespace {

using Document = std::shared_ptr<const json::Value>;

constexpr std::size_t kEventsAtOnce = 256;
constexpr store::Revision kFutureMax = 1'000'000;  // beyond it, the version is not one of ours

// What the query asks for, checked.
struct Wish {
    std::optional<store::Revision> from;
    bool wants_state = false;  // synthetic ADDED events first
    bool wants_bookmarks = false;
    bool marks_end_of_state = false;
    std::optional<std::chrono::seconds> timeout;
};

kube::Response bad_wish(const std::string& field, const std::string& message) {
    return invalid(
        "ListOptions.meta.k8s.io",
        "",
        {
            {"FieldValueForbidden", "Forbidden: " + message, field}
    }
    );
}

Outcome<Wish> read_wish(const kube::Request& request) {
    Wish wish;
    TRY(wish.from, wanted_version(request));
    const bool has_initial = request.parameter("sendInitialEvents").has_value();
    const std::string match = request.parameter("resourceVersionMatch").value_or("");
    if (has_initial && match != "NotOlderThan") {
        return refuse(
            bad_wish("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
        );
    }
    if (!has_initial && !match.empty()) {
        return refuse(bad_wish(
            "resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        ));
    }
    const bool is_from_now = !wish.from || *wish.from == 0;
    wish.marks_end_of_state = has_initial && flag(request, "sendInitialEvents");
    wish.wants_state = has_initial ? wish.marks_end_of_state : is_from_now;
    wish.wants_bookmarks = flag(request, "allowWatchBookmarks");
    TRY(const auto timeout, integer(request, "timeoutSeconds"));
    if (timeout && *timeout > 0) wish.timeout = std::chrono::seconds(*timeout);
    return wish;
}

Document with_version(const json::Value& document, store::Revision revision) {
    json::Value copy = document;
    json::set(copy, "/metadata/resourceVersion", json::Value(std::to_string(revision)));
    return std::make_shared<const json::Value>(std::move(copy));
}

Document document_of(const store::RecordPtr& record) { return {record, &record->document}; }

// An event as a watcher with this selection sees it; none when it does not.
std::optional<kube::WatchEvent> seen_through(const Selection& selection, const store::Event& event) {
    const bool matched = event.before && selection.matches(event.before->document);
    const bool matches = event.change != store::Change::deleted && selection.matches(event.now->document);
    if (matches) return kube::WatchEvent{matched ? "MODIFIED" : "ADDED", document_of(event.now)};
    if (!matched) return {};
    if (event.change == store::Change::deleted) return kube::WatchEvent{"DELETED", document_of(event.now)};
    return kube::WatchEvent{"DELETED", with_version(event.before->document, event.revision)};
}

class ResourceWatch final : public kube::WatchStream {
public:
    ResourceWatch(Core& core, Call call, Selection selection, Wish wish, std::unique_ptr<store::Watcher> cursor)
        : clock_(core.clock),
          presenter_(core, call),
          kind_(call.kind()),
          selection_(std::move(selection)),
          wish_(wish),
          cursor_(std::move(cursor)) {
        // Without a wish between 30 and 60 minutes, so that not all watchers come back at once.
        const auto random = [&](std::int64_t below) {
            return static_cast<std::int64_t>(core.entropy.next() % static_cast<std::uint64_t>(below));
        };
        const auto span = wish_.timeout.value_or(std::chrono::seconds(1800 + random(1800)));
        bookmark_every_ = std::chrono::seconds(45 + random(30));
        ends_at_ = clock_.monotonic() + span;
        set_bookmark();
    }

    void add_state(const std::vector<store::RecordPtr>& records, store::Revision at) {
        for (const store::RecordPtr& record : records) {
            if (selection_.matches(record->document)) ready_.push_back({"ADDED", document_of(record)});
        }
        if (wish_.marks_end_of_state) ready_.push_back({"BOOKMARK", bookmark(at, true)});
    }

    Task<std::optional<kube::WatchEvent>> next() override {
        while (ready_.empty()) {
            const Monotonic now = clock_.monotonic();
            if (has_ended_ || now >= ends_at_) co_return std::nullopt;
            if (wish_.wants_bookmarks && now >= bookmark_at_) {
                set_bookmark();
                co_return shown({"BOOKMARK", bookmark(cursor_->seen(), false)});
            }
            const Monotonic until = wish_.wants_bookmarks ? std::min(bookmark_at_, ends_at_) : ends_at_;
            co_await finishes_within(clock_, until - now, fetch());
        }
        kube::WatchEvent event = std::move(ready_.front());
        ready_.pop_front();
        co_return shown(std::move(event));
    }

private:
    Task<void> fetch() {
        const auto events = co_await cursor_->next(kEventsAtOnce);
        has_ended_ = !events;
        if (!events) co_return;
        for (const store::Event& event : *events) {
            if (auto seen = seen_through(selection_, event)) ready_.push_back(std::move(*seen));
        }
    }

    // One comes shortly before the end, so that the next watch starts from a fresh version.
    void set_bookmark() {
        const Monotonic last = ends_at_ - std::chrono::seconds(2);
        const Monotonic now = clock_.monotonic();
        bookmark_at_ = now + bookmark_every_;
        if (now < last && bookmark_at_ > last) bookmark_at_ = last;
    }

    [[nodiscard]] Document bookmark(store::Revision at, bool ends_state) const {
        json::Object metadata{
            {"resourceVersion",   std::to_string(at)},
            {"creationTimestamp", nullptr           }
        };
        if (ends_state)
            metadata["annotations"] = json::Object{
                {"k8s.io/initial-events-end", "true"}
            };
        json::Object object{
            {"kind",       kind_.kind         },
            {"apiVersion", kind_.api_version()},
            {"metadata",   std::move(metadata)}
        };
        return std::make_shared<const json::Value>(std::move(object));
    }

    kube::WatchEvent shown(kube::WatchEvent event) {
        event.object = presenter_.event(event, is_first_);
        if (event.type != "BOOKMARK") is_first_ = false;
        return event;
    }

    Clock& clock_;
    Presenter presenter_;
    const api::Kind& kind_;
    Selection selection_;
    Wish wish_;
    std::unique_ptr<store::Watcher> cursor_;
    std::deque<kube::WatchEvent> ready_;
    std::chrono::seconds bookmark_every_{};
    Monotonic bookmark_at_;
    Monotonic ends_at_;
    bool has_ended_ = false;
    bool is_first_ = true;
};

// A stream of one event: what went wrong.
class ErrorStream final : public kube::WatchStream {
public:
    explicit ErrorStream(Document status) : status_(std::move(status)) {}
    Task<std::optional<kube::WatchEvent>> next() override {
        if (!status_) co_return std::nullopt;
        co_return kube::WatchEvent{"ERROR", std::exchange(status_, nullptr)};
    }

private:
    Document status_;
};

}  // namespace

kube::Answer<kube::WatchStream> open_watch(Core& core, const Call& call) {
    TRY(Selection selection, Selection::read(call));
    TRY(const Wish wish, read_wish(call.request));
    const store::Revision now = core.store.revision();
    if (wish.from.value_or(0) > now + (wish.wants_state ? 0 : kFutureMax))
        return refuse(too_large_version(*wish.from, now));

    const std::string resource = call.kind().qualified();
    const store::Revision from = wish.wants_state ? now : wish.from.value_or(now);
    auto cursor = core.store.watch(resource, call.target.ns, from == 0 ? now : from);
    if (!cursor) return std::make_unique<ErrorStream>(expired(cursor.error().message).document);
    auto stream = std::make_unique<ResourceWatch>(core, call, std::move(selection), wish, *std::move(cursor));
    if (wish.wants_state) stream->add_state(core.store.list(resource, call.target.ns), now);
    return stream;
}

}  // namespace berth::apiserver
