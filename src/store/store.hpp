// The revisioned object store: everything in memory, every change in a log on disk before anyone sees it.
// Contract: docs/spec/kube-api.md 5. It knows keys, revisions and documents; what a document means is not its concern.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/blocking.hpp"
#include "base/async/notify.hpp"
#include "base/async/task_group.hpp"
#include "base/result.hpp"
#include "json/value.hpp"

namespace berth::store {

using Revision = std::int64_t;  ///< 1, 2, 3 …; never used twice, also across restarts

/// "pods", "default", "web": the parts of a key. `resource` is the qualified plural ("virtualmachines.kubevirt.io").
struct ObjectKey {
    std::string resource;
    std::string ns;
    std::string name;
    auto operator<=>(const ObjectKey&) const = default;
};

struct Record {
    ObjectKey key;
    Revision revision = 0;  ///< of this content; also inside the document as metadata.resourceVersion
    json::Value document;
};
using RecordPtr = std::shared_ptr<const Record>;

enum class Change { added, modified, deleted };

struct Event {
    Change change = Change::added;
    RecordPtr now;     ///< for deleted: the last content with the revision of the deletion
    RecordPtr before;  ///< nullptr for added
    Revision revision = 0;
};

struct Write {
    ObjectKey key;
    /// none: must not exist; 0: any, and may be absent only for a delete, which then does nothing and returns nullptr;
    /// else: exactly this revision
    std::optional<Revision> expected;
    /// The new content; none: delete. The store puts metadata.resourceVersion into it.
    std::optional<json::Value> document;
};

/// Where committed changes go. The production log is SQLite; a test may keep them in memory.
class Log {
public:
    struct Entry {
        Revision revision = 0;
        Revision replaces = 0;  ///< the revision of the content this one takes the place of; 0: none
        ObjectKey key;
        std::optional<std::string> content;  ///< none: deleted
    };
    virtual ~Log() = default;
    /// Everything current at start, in order of revision, and the highest revision ever used.
    virtual Result<Revision> load(const std::function<void(Entry)>& each) = 0;
    /// Returns when the entries are on disk. Called off the event loop, never twice at once.
    virtual Result<void> append(const std::vector<Entry>& entries) = 0;
};

/// SQLite in WAL mode with synchronous=FULL. Errors io: cannot open or not our file
Result<std::unique_ptr<Log>> open_sqlite_log(const std::string& path);
std::unique_ptr<Log> memory_log();

/// How many changes are kept for watches.
struct Limits {
    std::size_t history_events = 20'000;
    std::size_t history_bytes = 8 << 20;  ///< of printed content; the newest event is always kept
    std::size_t batch_entries = 1024;
};

class Watcher;

class Store {
public:
    Store(Executor executor, Blocking& blocking, Log& log, Limits limits = {});
    ~Store();

    /// Reads the log. Call once, before anything else.
    Result<void> load();

    // Reads see committed state only, and never wait.
    [[nodiscard]] RecordPtr get(const ObjectKey& key) const;
    /// In order of (namespace, name). ns "" = all namespaces.
    [[nodiscard]] std::vector<RecordPtr> list(const std::string& resource, const std::string& ns) const;
    /// The same at an older revision. Errors gone: history does not reach that far
    [[nodiscard]] Result<std::vector<RecordPtr>> list_at(
        const std::string& resource, const std::string& ns, Revision at
    ) const;
    /// The state that checks are made against: may still be on its way to disk. For read-modify-write only, never to be
    /// shown; a change computed from it and handed to write() without a wait in between cannot conflict.
    [[nodiscard]] RecordPtr newest(const ObjectKey& key) const;
    [[nodiscard]] Revision revision() const;         ///< newest committed
    [[nodiscard]] Revision oldest_revision() const;  ///< watches may start at this or later
    [[nodiscard]] std::size_t object_count() const;

    /// Commits one change; returns when it is durable and visible. The checks are made against the newest state, which
    /// includes changes still on their way to disk.
    /// Errors  already_exists, not_found, conflict (message has no object name: the caller knows it), io (disk)
    Task<Result<RecordPtr>> write(Write write);

    /// Returns when a revision that newest() showed is durable. Errors io: it was rolled back
    Task<Result<void>> durable(Revision revision);

    /// Events with revision > `from` of one resource. Errors gone: `from` is older than the history kept
    Result<std::unique_ptr<Watcher>> watch(std::string resource, std::string ns, Revision from);

    /// Stops accepting writes and waits for those under way.
    Task<void> close();

private:
    struct State;
    std::shared_ptr<State> state_;
};

/// A cursor into the history: no copy per watcher, no queue that can overflow.
class Watcher {
public:
    virtual ~Watcher() = default;
    /// Up to `max` events, waiting for the first. none: the store closed, or the watcher fell behind the history.
    virtual Task<std::optional<std::vector<Event>>> next(std::size_t max) = 0;
    /// All events up to this revision have been returned by next().
    [[nodiscard]] virtual Revision seen() const = 0;
};

}  // namespace berth::store
