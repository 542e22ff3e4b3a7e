// The one loop of every controller, scheduler, kubelet and agent: caches → view → plan → execute.
//
// What it guarantees to the rules:
//   - a key is never planned twice at once, and at most one pass over it is pending;
//   - a key is never planned on a view older than its own last write;
//   - a key is never planned inside the call that enqueues it;
//   - failures are retried per key: conflict and gone at once, io, timeout and unavailable with backoff
//     (5 ms doubling to 60 s, jittered), invalid and forbidden with the same backoff and an Event that says so;
//   - a plan that waits is recorded (see waits()), and an intent is logged once, when it is executed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "api/plan.hpp"
#include "base/async/clock.hpp"
#include "base/async/entropy.hpp"
#include "base/async/log.hpp"
#include "base/async/task_group.hpp"
#include "kube/cache.hpp"

namespace berth::kube {

/// The identity under which work is queued: an object, or any other name a controller gives meaning to.
using WorkKey = api::Key;

struct Controller {
    std::string name;  ///< "vmi": log field, metric label, event source
    /// Fills a view from the caches and asks the rules. Called with caches that are synced and fresh for this key.
    std::function<api::Plan(const WorkKey&)> plan;
    /// Executes api::Effect intents; only controllers that emit them have it.
    std::function<Task<Result<void>>(api::Effect)> effect = {};
    int parallel = 4;  ///< keys worked on at once
    User user = {};    ///< who writes; nobody: the engine's own identity
};

/// A wait that the last plan of a key left behind.
struct RecordedWait {
    std::string controller;
    WorkKey key;
    std::string rule;
    api::Wait wait;
};

/// The intent that failed at the last pass over a key, so that a view can show it (conditions, events).
struct Failure {
    std::string intent;  ///< as api::print gives it
    Error error;
    int count = 0;  ///< in a row
};

/// One executed intent, for `berth timeline`.
struct JournalLine {
    Timestamp at;
    std::string controller;
    WorkKey key;
    std::string spec;
    std::string rule;
    std::string intent;
    std::string outcome;  ///< "ok" or the error
};

class Engine {
public:
    Engine(Executor executor, Clock& clock, Entropy& entropy, Log& log, Api api);
    ~Engine();

    /// The cache of a kind; made at the first call, shared by all controllers of this engine.
    template <class T>
    Cache<T>& cache(const api::Kind& kind, ListOptions options = {}) {
        if (CacheBase* known = find_cache(kind)) return static_cast<Cache<T>&>(*known);
        auto made = std::make_unique<Cache<T>>(kind);
        Cache<T>& out = *made;
        add_cache(std::move(made), std::move(options));
        return out;
    }

    /// The cache of a kind for those who only look at metadata. Ask for it after everyone who wants its type.
    CacheBase& metadata_cache(const api::Kind& kind) {
        CacheBase* known = find_cache(kind);
        return known != nullptr ? *known : cache<api::Bare>(kind);
    }

    /// Adds a controller before run(). Its handle enqueues keys.
    using Enqueue = std::function<void(const WorkKey&)>;
    Enqueue add(Controller controller);

    /// Runs reflectors and workers until cancelled.
    Task<void> run();
    /// Returns when every cache has had its first list.
    Task<void> synced();
    /// True when nothing is queued, running, held or in backoff: used by scenarios and by `berth up` at start.
    [[nodiscard]] bool is_quiet() const;

    /// None when the last pass succeeded.
    [[nodiscard]] std::optional<Failure> last_failure(const std::string& controller, const WorkKey& key) const;

    [[nodiscard]] std::vector<RecordedWait> waits() const;
    /// The newest lines, oldest first; bounded.
    [[nodiscard]] std::vector<JournalLine> journal() const;

    [[nodiscard]] Api& api();
    [[nodiscard]] Clock& clock();

private:
    CacheBase* find_cache(const api::Kind& kind);
    void add_cache(std::unique_ptr<CacheBase> cache, ListOptions options);

    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace berth::kube
