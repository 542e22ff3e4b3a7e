// A listener on a free port with a handler that tells what it was asked: for the tests of this folder.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "base/async/notify.hpp"
#include "base/async/system/system.hpp"
#include "base/async/task_group.hpp"
#include "kube/http/listener.hpp"
#include "kube/http/pki.hpp"

namespace berth::kube::http {

inline constexpr Duration kTestMax = std::chrono::seconds(20);

/// Drops log lines, except those someone asks for.
class QuietLog final : public Log {
public:
    void write(LogLevel, std::string_view, std::initializer_list<Field>) override {}
};

/// Answers with what arrived; `/slow` never answers, other paths are streams whose far end is the test.
class Mirror final : public Handler {
public:
    explicit Mirror(Executor executor) : executor_(executor), left(executor), entered(executor) {}

    Executor executor_;
    Notify left;     ///< a handler was cancelled
    Notify entered;  ///< /slow or a stream has begun
    int running = 0;
    std::vector<Response> prepared;  ///< answers of /prepared, in order
    std::shared_ptr<Channel<WatchEvent>> events;
    std::shared_ptr<Channel<std::string>> lines;
    bool refuses = false;  ///< streams are refused with 400

    [[nodiscard]] Shape shape(const Request& request) const override;
    Task<Response> handle(Request request) override;
    Task<Answer<WatchStream>> watch(Request request) override;
    Task<Answer<ByteStream>> stream(Request request) override;
    Task<Answer<Duplex>> connect(Request request) override;
};

struct Loopback : testing::Test {
    boost::asio::io_context io;
    SystemClock clock;
    SystemEntropy entropy;
    QuietLog log;
    Mirror mirror{io.get_executor()};
    KeyPair authority = make_authority(clock.now());
    KeyPair server_pair = *issue(
        authority,
        {
            .common_name = "server", .names = {"127.0.0.1", "localhost"}
    },
        clock.now()
    );
    KeyPair admin = *issue(authority, {.common_name = "admin", .organizations = {"system:masters"}}, clock.now());
    ListenerOptions options;
    std::unique_ptr<Listener> listener;
    std::uint16_t port = 0;

    Loopback();
    /// Runs the body against a running listener, closes it, and fails after 20 s.
    void run(Task<void> body);

private:
    Task<void> around(Task<void> body);
};

}  // namespace berth::kube::http
