// The simulated machine's time and scheduling: one thread, one seed, no operating system.
// Every choice (which ready task runs next) comes from the seed, so a run is a function of it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>

#include "base/async/blocking.hpp"
#include "base/async/clock.hpp"
#include "base/async/entropy.hpp"
#include "base/async/log.hpp"
#include "base/async/notify.hpp"

namespace berth::sim {

/// Which of several ready tasks runs next.
enum class Order { fifo, seeded };

class Context final : public boost::asio::execution_context {
public:
    struct Executor;

    explicit Context(std::uint64_t seed, Order order = Order::seeded);
    ~Context();

    [[nodiscard]] berth::Executor executor();

    /// Runs one ready task, or moves the clock to the next timer. False when there is neither.
    bool step();
    /// Runs until nothing is ready and no timer is due within `span`; the clock then stands `span` later.
    void run_for(Duration span);
    /// Runs until `done` holds or `limit` of simulated time has passed; returns whether it holds.
    bool run_until(const std::function<bool()>& done, Duration limit);
    /// Runs what is ready now, without moving the clock.
    void settle();

    [[nodiscard]] Monotonic monotonic() const { return now_; }
    [[nodiscard]] std::uint64_t steps() const { return steps_; }
    /// A hash over (step, time, choice): equal for two runs of one seed.
    [[nodiscard]] std::uint64_t trace_hash() const { return hash_; }
    /// Adds to the hash what a port did.
    void trace(std::string_view line);

    std::uint64_t random();
    void wake_at(Monotonic at, std::shared_ptr<Notify> wake);

    using Work = std::unique_ptr<struct WorkBase>;
    void post(Work work);

private:
    std::mt19937_64 random_;
    Order order_;
    std::deque<Work> ready_;
    std::multimap<Monotonic, std::weak_ptr<Notify>> timers_;
    Monotonic now_{};
    std::uint64_t steps_ = 0;
    std::uint64_t hash_ = 0xcbf29ce484222325;
};

struct WorkBase {
    virtual ~WorkBase() = default;
    virtual void run() = 0;
};

struct Context::Executor {
    Context* context;

    [[nodiscard]] Context& query(boost::asio::execution::context_t) const noexcept { return *context; }
    static constexpr boost::asio::execution::blocking_t query(boost::asio::execution::blocking_t) noexcept {
        return boost::asio::execution::blocking.never;
    }
    template <class F>
    void execute(F&& f) const {
        struct Holder final : WorkBase {
            explicit Holder(F&& g) : call(std::forward<F>(g)) {}
            void run() override { std::move(call)(); }
            std::decay_t<F> call;
        };
        context->post(std::make_unique<Holder>(std::forward<F>(f)));
    }
    friend bool operator==(const Executor& a, const Executor& b) noexcept { return a.context == b.context; }
};

/// Simulated time, starting on 2026-01-01.
class SimClock final : public Clock {
public:
    explicit SimClock(Context& context) : context_(context) {}
    [[nodiscard]] Timestamp now() const override;
    [[nodiscard]] Monotonic monotonic() const override { return context_.monotonic(); }
    Task<void> sleep_until(Monotonic at) override;

private:
    Context& context_;
};

class SimEntropy final : public Entropy {
public:
    explicit SimEntropy(std::uint64_t seed) : random_(seed) {}
    std::uint64_t next() override { return random_(); }

private:
    std::mt19937_64 random_;
};

/// Blocking calls run inline: the simulation has one thread.
class InlineBlocking final : public Blocking {
public:
    Task<void> run(std::function<void()> work) override;
};

/// Keeps lines for tests; prints them when `echo`.
class CapturedLog final : public Log {
public:
    explicit CapturedLog(bool echo = false) : echo_(echo) {}
    void write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) override;
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

private:
    bool echo_;
    std::vector<std::string> lines_;
};

}  // namespace berth::sim
