// Real sockets in a folder of their own, under a path longer than a socket address.
#include "agent/edge/unix_stream.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/async/system/system.hpp"
#include "base/async/task_group.hpp"

namespace berth::agent {
namespace {

Task<void> echo_lines(UnixListener& listener) {
    Result<std::unique_ptr<UnixStream>> accepted = co_await listener.accept();
    while (accepted) {
        std::optional<std::string> line = co_await (*accepted)->read_line();
        if (!line || *line == "end") co_return;
        std::string answer = *std::move(line) + "!\n";
        co_await (*accepted)->write(std::move(answer));
    }
}

Task<void> talk(std::string path, std::vector<std::string>& got, uid_t& peer) {
    Result<std::unique_ptr<UnixStream>> stream = co_await UnixStream::connect(std::move(path));
    if (!stream) {
        got.push_back(stream.error().message);
        co_return;
    }
    peer = (*stream)->peer_uid();
    co_await (*stream)->write("one\ntw");
    co_await (*stream)->write("o\n");
    co_await (*stream)->write("end\n");
    for (int i = 0; i < 4; ++i) {  // the end may be read twice
        std::optional<std::string> line = co_await (*stream)->read_line();
        got.push_back(line.value_or("(end)"));
    }
}

TEST(UnixStream, LinesOverALongPath) {
    const auto root = std::filesystem::temp_directory_path() / ("berth-unix-stream-" + std::to_string(::getpid()));
    const auto folder = root / std::string(100, 'a') / std::string(100, 'b');
    std::filesystem::create_directories(folder);
    boost::asio::io_context context;
    const std::string path = folder / "sock";
    std::vector<std::string> got;
    uid_t peer = 99;
    {
        auto earlier = UnixListener::listen(context.get_executor(), path);
        ASSERT_TRUE(earlier) << earlier.error().message;
    }
    auto listener = UnixListener::listen(context.get_executor(), path);  // in place of the socket that was left there
    ASSERT_TRUE(listener) << listener.error().message;
    TaskGroup group(context.get_executor());
    group.spawn("server", echo_lines(**listener));
    group.spawn("client", talk(path, got, peer));
    context.run();
    EXPECT_EQ(got, (std::vector<std::string>{"one!", "two!", "(end)", "(end)"}));
    EXPECT_EQ(peer, ::getuid());
    std::filesystem::remove_all(root);
}

TEST(UnixStream, NobodyListens) {
    boost::asio::io_context context;
    std::vector<std::string> got;
    uid_t peer = 99;
    TaskGroup group(context.get_executor());
    group.spawn("client", talk("/nonexistent/sock", got, peer));
    context.run();
    EXPECT_EQ(got, (std::vector<std::string>{"no socket /nonexistent/sock yet"}));
}

}  // namespace
}  // namespace berth::agent
