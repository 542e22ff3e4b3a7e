// The verbs against a real API server over TLS.
#include "cli/testing/server.hpp"
#include "cli/sights.hpp"
#include "explain/milestones.hpp"

namespace berth::cli {
namespace {

using testing::ServerTest;

constexpr const char* kMachine =
    R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":"db","namespace":"default"},"spec":)"
    R"({"runStrategy":"Always","template":{"spec":{"domain":{"devices":{}},"volumes":[{"name":"root",)"
    R"("persistentVolumeClaim":{"claimName":"root"}}]}}}})";

std::string instance(const std::string& phase) {
    return R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"db",)"
           R"("namespace":"default"},"spec":{"domain":{"devices":{}}},"status":{"phase":")" +
           phase + R"("}})";
}

TEST_F(ServerTest, A47_StartSaysWhatVirtctlSays) {
    EXPECT_EQ(run({"start", "db"}), kFailed);
    EXPECT_NE(err.find("\"db\" not found"), std::string::npos) << err;
    create(kMachine);
    EXPECT_EQ(run({"start", "vm", "db"}), kOk) << err;
    EXPECT_EQ(out, "VM db was scheduled to start\n");
    EXPECT_EQ(run({"start", "db", "--paused"}), kFailed);
    EXPECT_NE(err.find("VM is already running"), std::string::npos) << err;
}

TEST_F(ServerTest, ExplainNamesWhoMustAct) {
    EXPECT_EQ(run({"explain", "vm", "db"}), kFailed);
    EXPECT_NE(err.find("no such machine in namespace \"default\""), std::string::npos) << err;
    create(kMachine);
    EXPECT_EQ(run({"explain", "vm", "db"}), kOk) << err;
    EXPECT_NE(out.find("vm/db"), std::string::npos) << out;
    EXPECT_NE(out.find("create the claim \"root\""), std::string::npos) << out;
    EXPECT_EQ(run({"explain", "db", "-o", "json"}), kOk) << err;
    EXPECT_EQ(json::text_at(json::parse(out).value(), "/0/object"), "vm/db") << out;
    EXPECT_EQ(run({"explain", "db", "-o", "yaml"}), kOk) << err;
    EXPECT_NE(out.find("object: vm/db"), std::string::npos) << out;
}

TEST_F(ServerTest, TimelineSaysWhatHappened) {
    EXPECT_EQ(run({"timeline", "vm", "db"}), kFailed);
    EXPECT_NE(err.find("no such machine"), std::string::npos) << err;
    create(kMachine);
    EXPECT_EQ(run({"timeline", "db"}), kOk) << err;
    EXPECT_NE(out.find("~ vm/db created"), std::string::npos) << out;
    EXPECT_EQ(run({"timeline", "db", "-o", "json"}), kOk) << err;
    EXPECT_EQ(json::text_at(json::parse(out).value(), "/0/step"), "vm/db created") << out;
}

TEST_F(ServerTest, A47_ConsoleWaitsForARunningMachine) {
    EXPECT_EQ(run({"console", "db"}), kFailed) << "a machine that is not there is not waited for";
    create(instance("Scheduling"));
    EXPECT_EQ(run({"console", "db", "--timeout", "0s"}), kTimedOut);
    EXPECT_NE(err.find("not running"), std::string::npos) << err;
    const auto own = client();
    api::Key key{&api::kVmi, "default", "db"};
    const auto running = own->wait(own->api().patch(key, json::parse(R"({"status":{"phase":"Running"}})").value()));
    ASSERT_TRUE(running.has_value()) << running.error().message;

    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], "hello", 5), 5);
    const int before = ::dup(STDIN_FILENO);
    ::dup2(ends[0], STDIN_FILENO);
    EXPECT_EQ(run({"console", "vmi", "db"}), kOk) << err;
    ::dup2(before, STDIN_FILENO);
    for (const int fd : {ends[0], ends[1], before}) ::close(fd);
    EXPECT_EQ(out, "heard hello");
    EXPECT_NE(err.find("Successfully connected to db console"), std::string::npos) << err;
}

// Why a step does not go on stands in an event alone.
TEST_F(ServerTest, SightsTellOfEvents) {
    const auto own = client();
    Sights sights(*own);
    sights.watch_beside();
    create(R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"e","namespace":"default"},"reason":"NoDisk",)"
           R"("involvedObject":{"kind":"VirtualMachineInstance","name":"db","namespace":"default"}})");
    const auto first = [](Sights& seen) -> Task<Result<std::string>> {
        const Sight sight = co_await seen.next();
        co_return std::string(json::text_at(*sight.after, "/reason"));
    };
    const Result<std::string> reason = own->wait(first(sights));
    ASSERT_TRUE(reason.has_value()) << reason.error().message;
    EXPECT_EQ(*reason, "NoDisk");
}

TEST_F(ServerTest, SightsShowAnObjectAsItWasAndIs) {
    create(kMachine);
    const auto own = client();
    Sights sights(*own);
    sights.watch_beside();
    const auto collect = [](Client& client, Sights& seen) -> Task<Result<std::vector<std::string>>> {
        std::vector<std::string> steps;
        api::Key key{&api::kVirtualMachine, "default", "db"};
        bool removed = false;
        while (!removed || seen.count(api::kVirtualMachine) > 0) {
            const Sight sight = co_await seen.next();
            for (std::string& step : explain::steps_between(*sight.kind, sight.before.get(), sight.after.get())) {
                steps.push_back(std::move(step));
            }
            if (!removed) CO_TRY_DO(co_await client.api().remove(key));
            removed = true;
        }
        co_return steps;
    };
    const auto steps = own->wait(collect(*own, sights));
    ASSERT_TRUE(steps.has_value()) << steps.error().message;
    EXPECT_EQ(*steps, (std::vector<std::string>{"vm/db created", "vm/db is gone"}));
}

}  // namespace
}  // namespace berth::cli
