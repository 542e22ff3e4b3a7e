// A server on a store in memory, and requests to it as one line each. For tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "apiserver/server.hpp"
#include "base/async/system/system.hpp"

namespace berth::apiserver {

class Inline final : public Blocking {
public:
    Task<void> run(std::function<void()> work) override {
        work();
        co_return;
    }
};

class Quiet final : public Log {
public:
    void write(LogLevel, std::string_view, std::initializer_list<Field>) override {}
};

/// Time that stands still until it is moved; sleepers wake when their time has come.
class ManualClock final : public Clock {
public:
    explicit ManualClock(Executor executor) : moved_(std::move(executor)) {}
    [[nodiscard]] Timestamp now() const override { return Timestamp(std::chrono::seconds(1'767'323'045)) + passed_; }
    [[nodiscard]] Monotonic monotonic() const override { return Monotonic(passed_); }
    Task<void> sleep_until(Monotonic at) override {
        while (monotonic() < at) co_await moved_.wait();
    }
    void advance(Duration span) {
        passed_ += span;
        moved_.notify();
    }

private:
    Duration passed_{};
    Notify moved_;
};

class Bench : public testing::Test {
protected:
    Bench();
    /// A server over an empty store with other limits.
    void reopen(store::Limits limits);
    /// Another server over the same store.
    void serve(Options options);

    template <class T>
    T run(Task<T> task) {
        std::optional<T> out;
        const auto flow = [&out](Task<T> inner) -> Task<void> { out.emplace(co_await std::move(inner)); };
        TaskGroup group(context.get_executor());
        group.spawn("request", flow(std::move(task)));
        context.restart();
        while (!out && context.run_one() > 0) {
        }
        context.poll();
        return std::move(*out);
    }

    kube::Response send(kube::Request request);
    kube::Response call(
        const std::string& method,
        const std::string& path,
        std::optional<json::Value> body = {},
        const std::string& type = "application/json"
    );
    kube::Response get(const std::string& path) { return call("GET", path); }
    kube::Response post(const std::string& path, json::Value body) { return call("POST", path, std::move(body)); }
    kube::Response put(const std::string& path, json::Value body) { return call("PUT", path, std::move(body)); }
    kube::Response remove(const std::string& path, const std::string& options = "{}");
    kube::Response merge_patch(const std::string& path, const std::string& patch);
    kube::Response json_patch(const std::string& path, const std::string& patch);

    std::unique_ptr<kube::WatchStream> watch(
        const std::string& path, std::vector<std::pair<std::string, std::string>> query = {}
    );
    kube::Request watch_request(const std::string& path, std::vector<std::pair<std::string, std::string>> query) const;
    std::optional<kube::WatchEvent> next_event(kube::WatchStream& stream) { return run(stream.next()); }
    /// "ADDED name"; "end" when the stream is over.
    std::string next(kube::WatchStream& stream);

    static std::string text(const kube::Response& response, std::string_view pointer);
    static std::string message(const kube::Response& response) { return text(response, "/message"); }
    static json::Value parse(const std::string& text) { return *json::parse(text); }

    boost::asio::io_context context;
    Inline blocking;
    ManualClock clock{context.get_executor()};
    SystemEntropy entropy;
    Quiet log;
    std::unique_ptr<store::Log> disk = store::memory_log();
    std::unique_ptr<store::Store> store;
    std::unique_ptr<Server> server;
    kube::User user{"admin", {"system:masters"}};
};

}  // namespace berth::apiserver
