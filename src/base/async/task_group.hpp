// The owner of running coroutines. Nothing runs without one.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <boost/asio/this_coro.hpp>

#include "base/async/task.hpp"

namespace berth {

/// For cleanup after a cancellation: `co_await keep_going();` lets the following awaits run instead of throwing at
/// once.
inline auto keep_going() { return boost::asio::this_coro::throw_if_cancelled(false); }

/// Children run until they end or close() stops them. A service keeps its group as its last member.
class TaskGroup {
public:
    explicit TaskGroup(Executor executor);
    /// Aborts the program if a child still runs, unless its execution context is being torn down.
    ~TaskGroup();
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;

    /// Starts a child. A child that leaves with an exception other than a cancellation aborts the program:
    /// exceptions end in the edge that calls the library.
    void spawn(std::string name, Task<void> task);

    /// Asks every child to stop and waits for all, whatever happens to the caller meanwhile. Idempotent.
    /// A caller that was itself cancelled says keep_going() first.
    Task<void> close();
    /// Waits until no child runs, without asking any to stop.
    Task<void> join();
    /// Asks every child to stop; does not wait.
    void cancel();

    [[nodiscard]] std::size_t size() const;
    [[nodiscard]] const Executor& executor() const;

private:
    struct Children;
    std::shared_ptr<Children> children_;
};

class Clock;

/// Runs both; when one ends, the other is cancelled. True when `task` ended (both may have).
Task<bool> finishes_before(Task<void> other, Task<void> task);
/// Runs the task; when `limit` passes first, cancels it and returns false.
Task<bool> finishes_within(Clock& clock, std::chrono::microseconds limit, Task<void> task);

}  // namespace berth
