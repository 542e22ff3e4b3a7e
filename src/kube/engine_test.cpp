// What the engine promises whatever it runs on. Its behaviour on many seeds: tests/scenarios/engine_test.cpp.
#include "kube/engine.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/async/system/system.hpp"
#include "kube/handler.hpp"

namespace berth::kube {
namespace {

// An engine without caches asks its server nothing.
class NoServer final : public Handler {
public:
    [[nodiscard]] Shape shape(const Request&) const override { return Shape::unary; }
    Task<Response> handle(Request) override { co_return Response{.code = 500}; }
    Task<Answer<WatchStream>> watch(Request) override { co_return std::unexpected(Response{.code = 500}); }
    Task<Answer<ByteStream>> stream(Request) override { co_return std::unexpected(Response{.code = 500}); }
    Task<Answer<Duplex>> connect(Request) override { co_return std::unexpected(Response{.code = 500}); }
};

// Whoever enqueues may be in the middle of a change that the plan would look at.
TEST(Engine, NoPassBeginsInsideEnqueue) {
    boost::asio::io_context io;
    SystemClock clock;
    SystemEntropy entropy;
    StderrLog log("test", LogLevel::error);
    NoServer server;
    InProcess transport(server);
    Engine engine(io.get_executor(), clock, entropy, log, Api(transport, User{"test", {}}));
    bool is_enqueuing = false;
    std::vector<bool> began_inside;
    const auto enqueue = engine.add({.name = "toy", .plan = [&](const WorkKey&) {
                                         began_inside.push_back(is_enqueuing);
                                         return api::settled();
                                     }});
    TaskGroup group(io.get_executor());
    group.spawn("engine", engine.run());
    boost::asio::post(io, [&] {
        is_enqueuing = true;
        enqueue({&api::kPod, "default", "a"});
        is_enqueuing = false;
    });
    while (began_inside.empty()) ASSERT_EQ(io.run_one(), 1U);
    EXPECT_EQ(began_inside, std::vector<bool>{false});
    group.cancel();
    io.run();
}

}  // namespace
}  // namespace berth::kube
