// The production adapters of the ports in this folder: the system's clocks, randomness, threads and standard error.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "base/async/blocking.hpp"
#include "base/async/clock.hpp"
#include "base/async/entropy.hpp"
#include "base/async/log.hpp"

namespace berth {

class SystemClock final : public Clock {
public:
    [[nodiscard]] Timestamp now() const override;
    [[nodiscard]] Monotonic monotonic() const override;
    Task<void> sleep_until(Monotonic at) override;
};

class SystemEntropy final : public Entropy {
public:
    std::uint64_t next() override;
};

class ThreadPool final : public Blocking {
public:
    explicit ThreadPool(std::size_t threads) : pool_(threads) {}
    ~ThreadPool() override { pool_.join(); }
    Task<void> run(std::function<void()> work) override;

private:
    boost::asio::thread_pool pool_;
};

/// Writes logfmt lines to standard error from `least` up.
class StderrLog final : public Log {
public:
    StderrLog(std::string role, LogLevel least) : role_(std::move(role)), least_(least) {}
    void write(LogLevel level, std::string_view message, std::initializer_list<Field> fields) override;

private:
    std::string role_;
    LogLevel least_;
};

}  // namespace berth
