// A flag that a coroutine can wait for, and a queue built on it. One thread: no locks.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "base/async/task.hpp"

namespace berth {

/// Remembers one notification: notify() before wait() is not lost. Every waiter wakes.
class Notify {
public:
    explicit Notify(Executor executor);
    ~Notify();
    Notify(const Notify&) = delete;
    Notify& operator=(const Notify&) = delete;

    void notify();
    /// Returns once notified since the last wait; cancellable.
    Task<void> wait();
    /// The same for cleanup: a cancellation does not end it.
    Task<void> wait_through();

private:
    struct Waiters;
    std::shared_ptr<Waiters> waiters_;
};

/// Values from one side to the other, in order. Unbounded here: the writer states its limit (size()).
template <class T>
class Channel {
public:
    explicit Channel(Executor executor) : ready_(std::move(executor)) {}

    void push(T value) {
        if (closed_) return;
        values_.push_back(std::move(value));
        ready_.notify();
    }
    /// Readers get what is queued, then none.
    void close() {
        closed_ = true;
        ready_.notify();
    }
    [[nodiscard]] std::size_t size() const { return values_.size(); }
    [[nodiscard]] bool is_closed() const { return closed_; }

    /// The next value; none after close().
    Task<std::optional<T>> next() {
        while (values_.empty()) {
            if (closed_) co_return std::nullopt;
            co_await ready_.wait();
        }
        std::optional<T> value(std::move(values_.front()));
        values_.pop_front();
        co_return value;
    }

private:
    std::deque<T> values_;
    bool closed_ = false;
    Notify ready_;
};

}  // namespace berth
