// The store itself: what is committed, what is on its way to disk, and the one loop that takes it there.
//
// A write is checked against the newest state, committed or not, gets its revision at once and joins a batch. While one
// batch is being synced the next one fills: that is the whole of group commit. When a batch cannot be written, every
// write that was decided on top of it fails too, and the newest state is again what is committed.
#include "store/store.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "store/history.hpp"

namespace berth::store {
namespace {

using ObjectName = std::pair<std::string, std::string>;  // namespace, name
using Objects = std::map<ObjectName, RecordPtr>;

ObjectName name_of(const ObjectKey& key) { return {key.ns, key.name}; }

// Visits the objects of a namespace, or all of them.
template <class Visit>
void each_of(const Objects& objects, const std::string& ns, Visit visit) {
    auto it = ns.empty() ? objects.begin() : objects.lower_bound({ns, ""});
    for (; it != objects.end() && (ns.empty() || it->first.first == ns); ++it) visit(it->second);
}

struct Pending {
    Event event;
    Log::Entry entry;
};

// Writes that become durable together.
struct Batch {
    explicit Batch(Executor executor) : settled(std::move(executor)) {}
    std::vector<Pending> writes;
    bool is_settled = false;
    std::optional<Error> error;
    Notify settled;
};

std::unexpected<Error> conflict_of(bool exists) {
    if (!exists) return fail(ErrorKind::not_found, "the object does not exist");
    return fail(ErrorKind::conflict, "the object has been modified; read it again and repeat the change");
}

// The printed size is what the history's limit counts: it is known here without printing twice.
Result<void> append(Log& log, Batch& batch) {
    std::vector<Log::Entry> entries;
    for (Pending& write : batch.writes) {
        if (write.event.change != Change::deleted) write.entry.content = json::print(write.event.now->document);
        entries.push_back(write.entry);
    }
    return log.append(entries);
}

}  // namespace

struct Store::State {
    State(Executor on, Blocking& pool, store::Log& log_, Limits limits_)
        : executor(on), blocking(pool), log(log_), limits(limits_), history(on, limits_), drained(on), group(on) {}

    [[nodiscard]] RecordPtr committed(const ObjectKey& key) const;
    [[nodiscard]] RecordPtr newest(const ObjectKey& key) const;
    Result<void> check(const Write& write, const RecordPtr& before) const;
    Pending decide(Write write, const RecordPtr& before);
    Batch& open_batch();
    Task<void> flush();
    void publish(Batch& batch);
    void roll_back();

    Executor executor;
    Blocking& blocking;
    store::Log& log;
    Limits limits;
    std::map<std::string, Objects> objects;
    std::size_t object_count = 0;
    std::map<ObjectKey, Event> ahead;  // the newest change of each key that is not committed yet
    std::deque<std::shared_ptr<Batch>> queue;
    std::shared_ptr<Batch> syncing;  // taken from the queue, on its way to disk
    History history;
    Revision highest = 0;    // given to a write
    Revision published = 0;  // visible
    bool is_flushing = false;
    bool is_closed = false;
    Notify drained;
    TaskGroup group;
};

RecordPtr Store::State::committed(const ObjectKey& key) const {
    const auto resource = objects.find(key.resource);
    if (resource == objects.end()) return nullptr;
    const auto it = resource->second.find(name_of(key));
    return it == resource->second.end() ? nullptr : it->second;
}

RecordPtr Store::State::newest(const ObjectKey& key) const {
    const auto it = ahead.find(key);
    if (it == ahead.end()) return committed(key);
    return it->second.change == Change::deleted ? nullptr : it->second.now;
}

Result<void> Store::State::check(const Write& write, const RecordPtr& before) const {
    if (is_closed) return fail(ErrorKind::unavailable, "the store is closing; try again when the server is back");
    if (!write.expected) {
        if (before) return fail(ErrorKind::already_exists, "the object exists already");
        return {};
    }
    if (*write.expected == 0) {
        if (!before && write.document) return conflict_of(false);
        return {};
    }
    if (!before || before->revision != *write.expected) return conflict_of(before != nullptr);
    return {};
}

Pending Store::State::decide(Write write, const RecordPtr& before) {
    auto record = std::make_shared<Record>();
    record->revision = ++highest;
    record->document = write.document ? std::move(*write.document) : before->document;
    json::set(record->document, "/metadata/resourceVersion", json::Value(std::to_string(record->revision)));
    record->key = std::move(write.key);
    Pending out;
    out.event.change = !write.document ? Change::deleted : before ? Change::modified : Change::added;
    out.event.before = before;
    out.event.revision = record->revision;
    out.entry.revision = record->revision;
    out.entry.replaces = before ? before->revision : 0;
    out.entry.key = record->key;
    out.event.now = std::move(record);
    return out;
}

Batch& Store::State::open_batch() {
    if (queue.empty() || queue.back()->writes.size() >= limits.batch_entries) {
        queue.push_back(std::make_shared<Batch>(executor));
    }
    return *queue.back();
}

Task<void> Store::State::flush() {
    while (!queue.empty()) {
        // Whoever is ready to write goes first: those woken together by one batch fill the next one together.
        co_await boost::asio::post(executor, boost::asio::use_awaitable);
        const std::shared_ptr<Batch> batch = std::move(queue.front());
        queue.pop_front();
        syncing = batch;
        Result<void> done;
        std::function<void()> work = [this, &batch, &done] { done = append(log, *batch); };
        co_await blocking.run(std::move(work));
        syncing = nullptr;
        if (done) {
            publish(*batch);
        } else {
            batch->error = std::move(done).error();
            queue.push_front(batch);
            roll_back();
        }
        batch->is_settled = true;
        batch->settled.notify();
    }
    is_flushing = false;
    drained.notify();
}

void Store::State::publish(Batch& batch) {
    for (Pending& write : batch.writes) {
        Event& event = write.event;
        Objects& all = objects[event.now->key.resource];
        if (event.change == Change::deleted) {
            all.erase(name_of(event.now->key));
            --object_count;
        } else {
            all[name_of(event.now->key)] = event.now;
            if (event.change == Change::added) ++object_count;
        }
        published = event.revision;
        const auto it = ahead.find(event.now->key);
        if (it != ahead.end() && it->second.revision == event.revision) ahead.erase(it);
        // A deletion keeps the content it removed alive.
        const std::size_t bytes = write.entry.content ? write.entry.content->size() : 1024;
        history.add(std::move(event), bytes);
    }
    history.wake();
}

// Everything not committed was decided on top of what just failed.
void Store::State::roll_back() {
    ahead.clear();
    const auto lost = std::exchange(queue, {});
    const Error error = *lost.front()->error;
    for (const auto& batch : lost) {
        batch->error = error;
        batch->is_settled = true;
        batch->settled.notify();
    }
}

Store::Store(Executor executor, Blocking& blocking, store::Log& log, Limits limits)
    : state_(std::make_shared<State>(std::move(executor), blocking, log, limits)) {}

Store::~Store() = default;

Result<void> Store::load() {
    std::optional<std::string> broken;
    auto each = [&](Log::Entry entry) {
        auto document = json::parse(*entry.content);
        if (!document) {
            broken = entry.key.resource + " \"" + entry.key.name + "\": " + document.error().message;
            return;
        }
        auto record = std::make_shared<Record>(entry.key, entry.revision, std::move(*document));
        state_->objects[entry.key.resource][name_of(entry.key)] = std::move(record);
        ++state_->object_count;
    };
    TRY(const Revision highest, state_->log.load(each));
    if (broken) return fail(ErrorKind::io, "the stored " + *broken + "; restore the data directory from a backup");
    state_->highest = state_->published = highest;
    state_->history.begin(highest);
    return {};
}

RecordPtr Store::get(const ObjectKey& key) const { return state_->committed(key); }

std::vector<RecordPtr> Store::list(const std::string& resource, const std::string& ns) const {
    std::vector<RecordPtr> out;
    const auto it = state_->objects.find(resource);
    if (it == state_->objects.end()) return out;
    each_of(it->second, ns, [&](const RecordPtr& record) { out.push_back(record); });
    return out;
}

Result<std::vector<RecordPtr>> Store::list_at(const std::string& resource, const std::string& ns, Revision at) const {
    if (!state_->history.reaches(resource, at)) {
        return fail(ErrorKind::gone, "revision " + std::to_string(at) + " is no longer kept; list without it");
    }
    const Timeline* const timeline = state_->history.find(resource);
    if (timeline == nullptr || timeline->after(at) == timeline->events.end()) return list(resource, ns);
    // From what is, back to what was: the changes since then, undone from the newest.
    Objects then;
    if (const auto it = state_->objects.find(resource); it != state_->objects.end()) {
        each_of(it->second, ns, [&](const RecordPtr& record) { then[name_of(record->key)] = record; });
    }
    const auto first = timeline->after(at);
    for (auto it = timeline->events.end(); it != first;) {
        const Event& event = *--it;
        if (!ns.empty() && event.now->key.ns != ns) continue;
        if (event.before) {
            then[name_of(event.now->key)] = event.before;
        } else {
            then.erase(name_of(event.now->key));
        }
    }
    std::vector<RecordPtr> out;
    for (auto& [name, record] : then) out.push_back(std::move(record));
    return out;
}

RecordPtr Store::newest(const ObjectKey& key) const { return state_->newest(key); }
Revision Store::revision() const { return state_->published; }
Revision Store::oldest_revision() const { return state_->history.oldest(); }
std::size_t Store::object_count() const { return state_->object_count; }

Task<Result<RecordPtr>> Store::write(Write write) {
    const std::shared_ptr<State> state = state_;
    const RecordPtr before = state->newest(write.key);
    CO_TRY_DO(state->check(write, before));
    if (!before && !write.document) co_return nullptr;
    Pending pending = state->decide(std::move(write), before);
    const RecordPtr record = pending.event.now;
    state->ahead[record->key] = pending.event;
    state->open_batch().writes.push_back(std::move(pending));
    const std::shared_ptr<Batch> batch = state->queue.back();
    if (!std::exchange(state->is_flushing, true)) state->group.spawn("store flush", state->flush());
    while (!batch->is_settled) co_await batch->settled.wait();
    if (batch->error) co_return std::unexpected(*batch->error);
    co_return record;
}

Task<Result<void>> Store::durable(Revision revision) {
    const std::shared_ptr<State> state = state_;
    if (revision <= state->published) co_return Result<void>();
    std::shared_ptr<Batch> batch;
    const auto holds = [&](const auto& one) { return one && one->writes.back().entry.revision >= revision; };
    if (holds(state->syncing)) {
        batch = state->syncing;
    } else if (const auto it = std::ranges::find_if(state->queue, holds); it != state->queue.end()) {
        batch = *it;
    }
    if (!batch) co_return fail(ErrorKind::io, "revision " + std::to_string(revision) + " was rolled back; try again");
    while (!batch->is_settled) co_await batch->settled.wait();
    if (batch->error) co_return std::unexpected(*batch->error);
    co_return Result<void>();
}

Task<void> Store::close() {
    const std::shared_ptr<State> state = state_;
    state->is_closed = true;
    while (state->is_flushing) co_await state->drained.wait();
    state->history.wake_all();
}

namespace {

class Cursor final : public Watcher {
public:
    /// `state` keeps the timeline alive.
    Cursor(
        std::shared_ptr<const void> state,
        Timeline& timeline,
        const bool& is_closed,
        const Revision& published,
        std::string ns,
        Revision from
    )
        : state_(std::move(state)),
          timeline_(timeline),
          is_closed_(is_closed),
          published_(published),
          ns_(std::move(ns)),
          at_(from) {}

    Task<std::optional<std::vector<Event>>> next(std::size_t max) override {
        std::vector<Event> out;
        while (out.empty()) {
            if (at_ < timeline_.forgotten) co_return std::nullopt;  // fell behind: the reader lists again
            take(out, max);
            if (!out.empty()) break;
            if (is_closed_) co_return std::nullopt;
            co_await timeline_.grew.wait();
        }
        co_return out;
    }

    [[nodiscard]] Revision seen() const override {
        const bool has_more = !timeline_.events.empty() && timeline_.events.back().revision > at_;
        return has_more ? at_ : std::max(at_, published_);
    }

private:
    void take(std::vector<Event>& out, std::size_t max) {
        for (auto it = timeline_.after(at_); it != timeline_.events.end() && out.size() < max; ++it) {
            at_ = it->revision;
            if (ns_.empty() || it->now->key.ns == ns_) out.push_back(*it);
        }
    }

    std::shared_ptr<const void> state_;
    Timeline& timeline_;
    const bool& is_closed_;
    const Revision& published_;
    std::string ns_;
    Revision at_;
};

}  // namespace

Result<std::unique_ptr<Watcher>> Store::watch(std::string resource, std::string ns, Revision from) {
    if (!state_->history.reaches(resource, from)) {
        return fail(
            ErrorKind::gone,
            "too old resource version: " + std::to_string(from) + " (" + std::to_string(oldest_revision()) + ")"
        );
    }
    Timeline& timeline = state_->history.of(resource);
    return std::make_unique<Cursor>(state_, timeline, state_->is_closed, state_->published, std::move(ns), from);
}

}  // namespace berth::store
