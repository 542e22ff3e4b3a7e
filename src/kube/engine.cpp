#include "kube/engine.hpp"

#include <deque>
#include <map>
#include <set>

#include "base/async/notify.hpp"
#include "kube/events.hpp"
#include "kube/reflector.hpp"
#include "kube/writer.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace berth::kube {
namespace {

using namespace std::chrono_literals;

constexpr Duration kFirstRetry = 5ms;
constexpr Duration kLongestRetry = 60s;
constexpr Duration kBarrierLimit = 5s;  ///< then the view is taken as it is: a selector may hide our own write
constexpr std::size_t kJournalLines = 4096;

struct Work {
    enum class At { idle, ready, running, held } at = At::idle;
    bool again = false;  ///< asked for while running or held
    int failures = 0;
    std::optional<Failure> failure;
    std::optional<Monotonic> wake_at;
    std::optional<Monotonic> held_until;
    std::vector<Written> written;
    std::string rule;
    std::optional<api::Wait> wait;
};

struct Queue {
    Queue(Controller c, Api server, Clock& clock, FindCache find)
        : controller(std::move(c)), writer(server, std::move(find)), events(std::move(server), clock) {}

    Controller controller;
    Writer writer;
    EventRecorder events;
    std::map<WorkKey, Work> works;
    std::deque<WorkKey> ready;
    int running = 0;
};

}  // namespace

struct Engine::State {
    State(Executor on, Clock& c, Entropy& e, Log& l, Api a)
        : executor(on), clock(c), entropy(e), log(l), api(std::move(a)), timer(on), progress(on), group(on) {}

    Executor executor;
    Clock& clock;
    Entropy& entropy;
    Log& log;
    Api api;
    std::vector<std::pair<std::unique_ptr<CacheBase>, ListOptions>> caches;
    std::vector<std::unique_ptr<Queue>> queues;
    std::deque<JournalLine> journal;
    Notify timer;
    Notify progress;
    bool started = false;
    TaskGroup group;  // last: children die before what they use

    void enqueue(Queue& queue, const WorkKey& key) {
        Work& work = queue.works[key];
        if (work.at == Work::At::ready) return;
        if (work.at != Work::At::idle) {
            work.again = true;
            return;
        }
        work.at = Work::At::ready;
        queue.ready.push_back(key);
        dispatch(queue);
    }

    void dispatch(Queue& queue) {
        if (!started) return;
        while (!queue.ready.empty() && queue.running < queue.controller.parallel) {
            const WorkKey key = queue.ready.front();
            queue.ready.pop_front();
            queue.works[key].at = Work::At::running;
            queue.works[key].wake_at.reset();
            ++queue.running;
            group.spawn(queue.controller.name, pass(queue, key));
        }
    }

    Task<void> pass(Queue& queue, WorkKey key) {
        // An io_context begins a task inside spawn(), where the caller of enqueue() may be in the middle of a change.
        co_await boost::asio::post(executor, boost::asio::use_awaitable);
        const api::Plan plan = queue.controller.plan(key);
        if (!plan.intents.empty()) {
            log.info(
                "planned",
                {
                    {"controller", queue.controller.name              },
                    {"object",     api::print(key)                    },
                    {"spec",       std::string(plan.spec)             },
                    {"rule",       std::string(plan.rule)             },
                    {"intents",    std::to_string(plan.intents.size())}
            }
            );
        }
        std::vector<Written> written;
        std::optional<Failure> failure;
        for (const api::Intent& intent : plan.intents) {
            const Result<void> done = co_await execute(queue, intent, written);
            write_journal(queue, key, plan, intent, done);
            if (done) continue;
            failure = Failure{api::print(intent), done.error(), 0};
            break;
        }
        finish(queue, key, plan, std::move(written), std::move(failure));
    }

    void finish(
        Queue& queue,
        const WorkKey& key,
        const api::Plan& plan,
        std::vector<Written> written,
        std::optional<Failure> failure
    ) {
        --queue.running;
        Work& work = queue.works[key];
        work.rule = plan.rule;
        if (plan.wait) {
            const bool same = work.wait && work.wait->who == plan.wait->who && work.wait->why == plan.wait->why;
            const auto since = same ? work.wait->since : std::optional<Timestamp>(clock.now());
            work.wait = plan.wait;
            if (!work.wait->since) work.wait->since = since;
        } else {
            work.wait.reset();
        }
        if (failure) {
            failure->count = ++work.failures;
            // Somebody else wrote first: the next look is at what they wrote, and nothing is wrong.
            const bool is_conflict = failure->error.kind == ErrorKind::conflict;
            log.write(
                is_conflict ? LogLevel::debug : LogLevel::warn,
                "intent failed",
                {
                    {"controller", queue.controller.name },
                    {"object",     api::print(key)       },
                    {"intent",     failure->intent       },
                    {"error",      failure->error.message}
            }
            );
            work.wake_at = clock.monotonic() + retry_after(work.failures);
            timer.notify();
        } else {
            work.failures = 0;
            if (plan.look_again_at) {
                work.wake_at = clock.monotonic() + std::max(Duration(0), *plan.look_again_at - clock.now());
                timer.notify();
            }
        }
        work.failure = std::move(failure);
        work.written = std::move(written);
        work.held_until = clock.monotonic() + kBarrierLimit;
        work.at = Work::At::held;
        release(queue, key, work);
        dispatch(queue);
    }

    Duration retry_after(int failures) {
        Duration delay = kFirstRetry;
        for (int i = 1; i < failures && delay < kLongestRetry; ++i) delay *= 2;
        delay = std::min(delay, kLongestRetry);
        return delay +
               Duration(static_cast<std::int64_t>(entropy.next() % static_cast<std::uint64_t>(delay.count() / 2 + 1)));
    }

    // Lets a held key go on once the caches show everything it wrote.
    void release(Queue& queue, const WorkKey& key, Work& work) {
        std::erase_if(work.written, [](const Written& w) { return w.is_visible(); });
        if (!work.written.empty()) {
            timer.notify();  // the limit of the barrier is a deadline too
            return;
        }
        work.held_until.reset();
        work.at = Work::At::idle;
        // A failed key waits for its retry even when something changed meanwhile, unless that was not our own doing.
        if (std::exchange(work.again, false)) {
            enqueue(queue, key);
        } else if (!work.wake_at && !work.wait && !work.failure) {
            queue.works.erase(key);
        }
    }

    void on_progress() {
        for (const auto& queue : queues) {
            for (auto it = queue->works.begin(); it != queue->works.end();) {
                const auto next = std::next(it);
                if (it->second.at == Work::At::held) {
                    const WorkKey key = it->first;
                    release(*queue, key, it->second);
                }
                it = next;
            }
        }
        progress.notify();
    }

    Task<Result<void>> execute(Queue& queue, api::Intent intent, std::vector<Written>& written) {
        Result<void> done;
        if (auto* create = std::get_if<api::Create>(&intent)) {
            done = co_await queue.writer.run(std::move(*create), written);
        } else if (auto* patch = std::get_if<api::Patch>(&intent)) {
            done = co_await queue.writer.run(std::move(*patch), written);
        } else if (auto* remove = std::get_if<api::Delete>(&intent)) {
            done = co_await queue.writer.run(std::move(*remove), written);
        } else if (auto* bind = std::get_if<api::Bind>(&intent)) {
            done = co_await queue.writer.run(std::move(*bind), written);
        } else if (auto* event = std::get_if<api::Emit>(&intent)) {
            co_await queue.events.record(queue.controller.name, std::move(*event));
        } else {
            done = co_await queue.controller.effect(std::get<api::Effect>(std::move(intent)));
        }
        co_return done;
    }

    void write_journal(
        const Queue& queue,
        const WorkKey& key,
        const api::Plan& plan,
        const api::Intent& intent,
        const Result<void>& done
    ) {
        if (journal.size() >= kJournalLines) journal.pop_front();
        journal.push_back(
            {clock.now(),
             queue.controller.name,
             key,
             std::string(plan.spec),
             std::string(plan.rule),
             api::print(intent),
             done ? "ok" : done.error().message}
        );
    }

    CacheBase* find(const api::Kind& kind) {
        for (const auto& [cache, options] : caches) {
            if (cache->kind() == kind) return cache.get();
        }
        return nullptr;
    }

    // One task for all deadlines: retries, looks again, and the limits of barriers.
    Task<void> run_timers() {
        for (;;) {
            const std::optional<Monotonic> next = wake_due();
            if (next) {
                const Duration span = std::max(Duration(0), *next - clock.monotonic());
                co_await finishes_within(clock, span, timer.wait());
            } else {
                co_await timer.wait();
            }
        }
    }

    std::optional<Monotonic> wake_due() {
        const Monotonic now = clock.monotonic();
        std::optional<Monotonic> next;
        const auto later = [&](Monotonic at) { next = next ? std::min(*next, at) : at; };
        for (const auto& queue : queues) {
            std::vector<WorkKey> due;
            for (auto& [key, work] : queue->works) {
                if (work.at == Work::At::held && work.held_until) {
                    if (*work.held_until <= now) {
                        log.debug(
                            "own write not seen",
                            {
                                {"object", api::print(key)}
                        }
                        );
                        work.written.clear();
                        due.push_back(key);
                    } else {
                        later(*work.held_until);
                    }
                } else if (work.at == Work::At::idle && work.wake_at) {
                    if (*work.wake_at <= now) {
                        due.push_back(key);
                    } else {
                        later(*work.wake_at);
                    }
                }
            }
            for (const WorkKey& key : due) {
                Work& work = queue->works[key];
                if (work.at == Work::At::held) {
                    release(*queue, key, work);
                } else {
                    enqueue(*queue, key);
                }
            }
        }
        return next;
    }

    [[nodiscard]] bool all_synced() const {
        return std::ranges::all_of(caches, [](const auto& cache) { return cache.first->is_synced(); });
    }
};

Engine::Engine(Executor executor, Clock& clock, Entropy& entropy, Log& log, Api api)
    : state_(std::make_unique<State>(std::move(executor), clock, entropy, log, std::move(api))) {}

Engine::~Engine() = default;

CacheBase* Engine::find_cache(const api::Kind& kind) { return state_->find(kind); }

void Engine::add_cache(std::unique_ptr<CacheBase> cache, ListOptions options) {
    State* const state = state_.get();
    cache->progressed = [state] { state->on_progress(); };
    state_->caches.emplace_back(std::move(cache), std::move(options));
}

Engine::Enqueue Engine::add(Controller controller) {
    State* const state = state_.get();
    Api server = controller.user.name.empty() ? state->api : state->api.as(controller.user);
    FindCache find = [state](const api::Kind& kind) { return state->find(kind); };
    auto queue = std::make_unique<Queue>(std::move(controller), std::move(server), state->clock, std::move(find));
    Queue* const added = queue.get();
    state_->queues.push_back(std::move(queue));
    return [state, added](const WorkKey& key) { state->enqueue(*added, key); };
}

Task<void> Engine::synced() {
    while (!state_->all_synced()) co_await state_->progress.wait();
}

Task<void> Engine::run() {
    State& s = *state_;
    for (const auto& [cache, options] : s.caches) {
        s.group.spawn("reflector", reflect(*cache, s.api, options, s.clock, s.entropy, s.log));
    }
    bool stopped = false;
    try {
        co_await synced();
        s.started = true;
        for (const auto& queue : s.queues) s.dispatch(*queue);
        co_await s.run_timers();
    } catch (const boost::system::system_error&) {
        stopped = true;  // cancelled: children first
    }
    s.started = false;
    co_await keep_going();
    co_await s.group.close();
    co_await boost::asio::this_coro::throw_if_cancelled(true);
    if (stopped) throw boost::system::system_error(boost::asio::error::operation_aborted);
}

bool Engine::is_quiet() const {
    return std::ranges::all_of(state_->queues, [](const auto& queue) {
        return queue->ready.empty() && queue->running == 0 && std::ranges::none_of(queue->works, [](const auto& entry) {
                   return entry.second.at == Work::At::held || entry.second.failure.has_value();
               });
    });
}

std::optional<Failure> Engine::last_failure(const std::string& controller, const WorkKey& key) const {
    for (const auto& queue : state_->queues) {
        if (queue->controller.name != controller) continue;
        const auto it = queue->works.find(key);
        if (it != queue->works.end()) return it->second.failure;
    }
    return {};
}

std::vector<RecordedWait> Engine::waits() const {
    std::vector<RecordedWait> out;
    for (const auto& queue : state_->queues) {
        for (const auto& [key, work] : queue->works) {
            if (work.wait) out.push_back({queue->controller.name, key, work.rule, *work.wait});
        }
    }
    return out;
}

std::vector<JournalLine> Engine::journal() const { return {state_->journal.begin(), state_->journal.end()}; }

Api& Engine::api() { return state_->api; }

Clock& Engine::clock() { return state_->clock; }

}  // namespace berth::kube
