#include "sim/core/context.hpp"

#include <cstdio>

#include <boost/asio/this_coro.hpp>

namespace berth::sim {

Context::Context(std::uint64_t seed, Order order) : random_(seed), order_(order) {}

Context::~Context() {
    // Destroying tasks unwinds coroutine frames, which may post more: drain to a fixed point.
    while (!ready_.empty()) {
        std::deque<Work> dying;
        dying.swap(ready_);
        dying.clear();
    }
    shutdown();
    while (!ready_.empty()) {
        std::deque<Work> dying;
        dying.swap(ready_);
        dying.clear();
    }
    destroy();
}

berth::Executor Context::executor() { return berth::Executor(Executor{this}); }

void Context::post(Work work) { ready_.push_back(std::move(work)); }

std::uint64_t Context::random() { return random_(); }

void Context::trace(std::string_view line) {
    for (const char c : line) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
}

void Context::wake_at(Monotonic at, std::shared_ptr<Notify> wake) { timers_.emplace(at, std::move(wake)); }

bool Context::step() {
    if (ready_.empty()) {
        while (!timers_.empty() && timers_.begin()->second.expired()) timers_.erase(timers_.begin());
        if (timers_.empty()) return false;
        const auto first = timers_.begin();
        now_ = std::max(now_, first->first);
        if (const auto wake = first->second.lock()) wake->notify();
        timers_.erase(first);
        return true;
    }
    const std::size_t choice = order_ == Order::fifo || ready_.size() == 1 ? 0 : random_() % ready_.size();
    Work work = std::move(ready_[choice]);
    ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(choice));
    ++steps_;
    hash_ =
        (hash_ ^ choice ^ static_cast<std::uint64_t>(now_.time_since_epoch().count()) ^ ready_.size()) * 0x100000001b3;
    work->run();
    return true;
}

void Context::settle() {
    while (!ready_.empty()) step();
}

void Context::run_for(Duration span) {
    const Monotonic end = now_ + span;
    for (;;) {
        settle();
        while (!timers_.empty() && timers_.begin()->second.expired()) timers_.erase(timers_.begin());
        if (timers_.empty() || timers_.begin()->first > end) break;
        step();
    }
    now_ = end;
}

bool Context::run_until(const std::function<bool()>& done, Duration limit) {
    const Monotonic end = now_ + limit;
    for (;;) {
        if (done()) return true;
        if (ready_.empty()) {
            while (!timers_.empty() && timers_.begin()->second.expired()) timers_.erase(timers_.begin());
            if (timers_.empty() || timers_.begin()->first > end) return false;
        }
        step();
    }
}

Timestamp SimClock::now() const {
    constexpr Timestamp kStart = std::chrono::sys_days{std::chrono::year{2026} / 1 / 1};
    return kStart + context_.monotonic().time_since_epoch();
}

Task<void> SimClock::sleep_until(Monotonic at) {
    if (at <= context_.monotonic()) co_return;
    const auto wake = std::make_shared<Notify>(context_.executor());
    context_.wake_at(at, wake);
    co_await wake->wait();
}

Task<void> InlineBlocking::run(std::function<void()> work) {
    work();
    co_return;
}

void CapturedLog::write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) {
    lines_.push_back(logfmt(level, "sim", message, fields));
    if (echo_) std::fprintf(stderr, "%s\n", lines_.back().c_str());
}

}  // namespace berth::sim
