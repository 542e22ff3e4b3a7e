#include "base/async/system/system.hpp"

#include <cerrno>
#include <cstdio>

#include <sys/random.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/check.hpp"

namespace berth {
namespace asio = boost::asio;

Timestamp SystemClock::now() const {
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
}

Monotonic SystemClock::monotonic() const {
    return std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::steady_clock::now());
}

Task<void> SystemClock::sleep_until(Monotonic at) {
    const Executor executor = co_await asio::this_coro::executor;
    asio::steady_timer timer(executor, std::chrono::steady_clock::time_point(at.time_since_epoch()));
    co_await timer.async_wait(asio::use_awaitable);
}

std::uint64_t SystemEntropy::next() {
    std::uint64_t value = 0;
    CHECK(getrandom(&value, sizeof value, 0) == sizeof value);
    return value;
}

Task<void> ThreadPool::run(std::function<void()> work) {
    const Executor home = co_await asio::this_coro::executor;
    auto start = [this, &work, &home](auto handler) {
        asio::post(pool_, [&work, home, handler = std::move(handler)]() mutable {
            work();
            asio::post(home, std::move(handler));
        });
    };
    // No cancellation handler is connected: work that has begun ends, and the caller's next co_await throws.
    co_await asio::async_initiate<const asio::use_awaitable_t<>&, void()>(start, asio::use_awaitable);
}

void StderrLog::write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) {
    if (level < least_) return;
    const auto now = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
    const std::string line = "ts=" + to_rfc3339_micro(now) + " " + logfmt(level, role_, message, fields) + "\n";
    // A full pipe must not stop the program; a lost log line may be lost.
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace berth
