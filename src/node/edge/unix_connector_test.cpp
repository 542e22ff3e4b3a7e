// The connector against a listener that plays the launcher: what goes over the wire, letter by letter.
#include "node/edge/unix_connector.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/edge/unix_stream.hpp"
#include "base/async/system/system.hpp"
#include "base/async/task_group.hpp"

namespace berth::node {
namespace {

struct Wire {
    boost::asio::io_context context;
    std::string path = std::filesystem::temp_directory_path() / ("berth-connector-" + std::to_string(::getpid()));
    std::unique_ptr<agent::UnixListener> listener;
    std::vector<std::string> heard;
    std::vector<std::string> told;

    Wire() {
        auto made = agent::UnixListener::listen(context.get_executor(), path);
        EXPECT_TRUE(made) << made.error().message;
        listener = *std::move(made);
    }
    ~Wire() { std::filesystem::remove(path); }
};

Task<void> play_launcher(Wire& wire, int lines) {
    Result<std::unique_ptr<agent::UnixStream>> stream = co_await wire.listener->accept();
    for (int i = 0; i < lines; ++i) {
        std::optional<std::string> line = co_await (*stream)->read_line();
        wire.heard.push_back(line.value_or("(end)"));
    }
    co_await (*stream)->write("{\"v\":1,\"op\":\"report\",\"state\":\"running\"}\nnot a report\n");
}

Task<void> play_agent(Wire& wire) {
    UnixConnector connector([&wire](const Uid& pod) { return pod.value == "p1" ? wire.path : "/nonexistent/sock"; });
    const Result<std::unique_ptr<agent::Link>> none = co_await connector.connect(Uid{"p2"});
    wire.told.push_back(none ? "connected" : std::string(to_string(none.error().kind)));
    const Result<std::unique_ptr<agent::Link>> link = co_await connector.connect(Uid{"p1"});
    if (!link) {
        wire.told.push_back(link.error().message);
        co_return;
    }
    const json::Object vmi = {
        {"kind", "VirtualMachineInstance"}
    };
    std::vector<agent::VolumePath> volumes(1);
    volumes[0].name = "a";
    volumes[0].path = "/a";
    co_await (*link)->sync(json::Value(vmi), std::move(volumes));
    co_await (*link)->shutdown();
    co_await (*link)->destroy();
    for (int i = 0; i < 2; ++i) {
        const std::optional<agent::Report> report = co_await (*link)->next();
        wire.told.push_back(report ? report->state : "(end)");
    }
}

TEST(UnixConnector, SpeaksTheProtocol) {
    Wire wire;
    TaskGroup group(wire.context.get_executor());
    group.spawn("launcher", play_launcher(wire, 4));
    group.spawn("agent", play_agent(wire));
    wire.context.run();
    const std::vector<std::string> heard = {
        R"({"podUid":"p1","v":1,"op":"hello"})",
        R"({"vmi":{"kind":"VirtualMachineInstance"},"volumes":[{"name":"a","path":"/a","block":false,"format":"raw","readOnly":false,"createIfAbsent":false,"size":0}],"v":1,"op":"sync"})",
        R"({"v":1,"op":"shutdown"})",
        R"({"v":1,"op":"destroy"})",
    };
    EXPECT_EQ(wire.heard, heard);
    EXPECT_EQ(wire.told, (std::vector<std::string>{"unavailable", "running", "(end)"}));
}

Task<void> use_console(Wire& wire) {
    const Result<std::unique_ptr<kube::Duplex>> console = co_await open_console(wire.path);
    if (!console) co_return;
    co_await (*console)->write("ls\n");
    const std::optional<std::string> said = co_await (*console)->read();
    wire.told.push_back(said.value_or("(end)"));
}

TEST(UnixConnector, Console) {
    Wire wire;
    TaskGroup group(wire.context.get_executor());
    group.spawn("launcher", play_launcher(wire, 1));
    group.spawn("person", use_console(wire));
    wire.context.run();
    EXPECT_EQ(wire.heard, (std::vector<std::string>{"ls"}));
    ASSERT_EQ(wire.told.size(), 1U);
    EXPECT_TRUE(wire.told[0].starts_with("{\"v\":1"));
}

}  // namespace
}  // namespace berth::node
