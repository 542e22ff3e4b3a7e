// The verbs against a real API server over TLS: it runs on a thread of its own, as another process would.
#include <unistd.h>

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/dispatch.hpp>

#include "apiserver/server.hpp"
#include "base/async/notify.hpp"
#include "base/async/system/system.hpp"
#include "base/async/task_group.hpp"
#include "cli/client.hpp"
#include "cli/demo/sights.hpp"
#include "cli/demo/timeline.hpp"
#include "kube/http/kubeconfig.hpp"
#include "kube/http/listener.hpp"
#include "kube/http/pki.hpp"

namespace berth::cli {
namespace {

class Quiet final : public Log {
public:
    void write(LogLevel, std::string_view, std::initializer_list<Field>) override {}
};

// A guest that says back what it is told, once, and hangs up.
class Parrot final : public kube::Duplex {
public:
    explicit Parrot(Executor executor) : heard_(std::move(executor)) {}
    Task<std::optional<std::string>> read() override {
        if (has_spoken_) co_return std::nullopt;
        has_spoken_ = true;
        std::optional<std::string> heard = co_await heard_.next();
        co_return "heard " + *heard;
    }
    Task<Result<void>> write(std::string bytes) override {
        heard_.push(std::move(bytes));
        co_return Result<void>{};
    }

private:
    Channel<std::string> heard_;
    bool has_spoken_ = false;
};

class Parrots final : public apiserver::NodeStreams {
public:
    explicit Parrots(Executor executor) : executor_(std::move(executor)) {}
    Task<Result<std::unique_ptr<kube::ByteStream>>> log(LogOptions) override {
        co_return fail(ErrorKind::unavailable, "no logs");
    }
    Task<Result<std::unique_ptr<kube::Duplex>>> console(std::string, std::string) override {
        co_return std::make_unique<Parrot>(executor_);
    }

private:
    Executor executor_;
};

class ServerTest : public testing::Test {
protected:
    ServerTest() {
        folder_ = (std::filesystem::temp_directory_path() / "berth-cli-test-XXXXXX").string();
        EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
        apiserver::Options options;
        options.streams = &parrots_;
        options.subresources[{"virtualmachines", "start"}] = [](const apiserver::SubresourceView& view) {
            apiserver::SubresourceAnswer answer;
            const bool is_paused = json::bool_at(view.body, "/paused");
            if (is_paused) answer = {.code = 409, .reason = "Conflict", .message = "VM is already running"};
            return answer;
        };
        server_ = std::make_unique<apiserver::Server>(io_.get_executor(), store_, clock_, entropy_, log_, options);
        EXPECT_TRUE(store_.load().has_value());
        const auto authority = kube::http::make_authority(clock_.now());
        const auto own = *kube::http::issue(authority, {.common_name = "server", .names = {"127.0.0.1"}}, clock_.now());
        const auto admin =
            *kube::http::issue(authority, {.common_name = "admin", .organizations = {"system:masters"}}, clock_.now());
        kube::http::ListenerOptions listening;
        listening.certificate_pem = own.certificate_pem;
        listening.private_key_pem = own.key_pem;
        listening.client_ca_pem = authority.certificate_pem;
        listener_ =
            std::make_unique<kube::http::Listener>(io_.get_executor(), *server_, clock_, entropy_, log_, listening);
        const std::string port = std::to_string(listener_->listen().value());
        kube::http::ClientConfig config{.server = "https://127.0.0.1:" + port, .ca_pem = authority.certificate_pem};
        config.certificate_pem = admin.certificate_pem;
        config.key_pem = admin.key_pem;
        EXPECT_TRUE(kube::http::write_kubeconfig(kubeconfig(), "test", config).has_value());
        group_.spawn("server", serve());
        thread_ = std::thread([this] { io_.run(); });
    }

    ~ServerTest() override {
        boost::asio::dispatch(io_, [this] { stop_.notify(); });
        thread_.join();
        std::filesystem::remove_all(folder_);
    }

    std::string kubeconfig() const { return folder_ + "/kubeconfig"; }

    std::unique_ptr<Client> client() {
        Target target;
        target.kubeconfig = kubeconfig();
        return Client::open(target).value();
    }

    void create(const std::string& document) {
        const auto own = client();
        const auto created = own->wait(own->api().create(json::parse(document).value()));
        ASSERT_TRUE(created.has_value()) << created.error().message;
    }

    // Runs the words as the command line; `out` and `err` are then what it printed.
    int run(std::vector<std::string> words) {
        CLI::App app{"", "berth"};
        Work work;
        add_machine_verbs(app, work);
        add_console(app, work);
        add_explain(app, work);
        words.push_back("--kubeconfig=" + kubeconfig());
        std::ranges::reverse(words);
        app.parse(words);
        testing::internal::CaptureStdout();
        testing::internal::CaptureStderr();
        const int code = work();
        out = testing::internal::GetCapturedStdout();
        err = testing::internal::GetCapturedStderr();
        return code;
    }

    std::string out, err;

private:
    Task<void> serve() {
        const Result<void> seeded = co_await server_->seed();
        EXPECT_TRUE(seeded.has_value());
        TaskGroup running(io_.get_executor());
        running.spawn("listener", listener_->run());
        co_await stop_.wait();
        co_await listener_->close();
        co_await running.close();
        co_await store_.close();
    }

    std::string folder_;
    boost::asio::io_context io_{1};
    SystemClock clock_;
    SystemEntropy entropy_;
    Quiet log_;
    ThreadPool pool_{1};
    std::unique_ptr<store::Log> disk_ = store::memory_log();
    store::Store store_{io_.get_executor(), pool_, *disk_};
    Parrots parrots_{io_.get_executor()};
    std::unique_ptr<apiserver::Server> server_;
    std::unique_ptr<kube::http::Listener> listener_;
    Notify stop_{io_.get_executor()};
    std::thread thread_;
    TaskGroup group_{io_.get_executor()};
};

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
            for (std::string& step : steps_between(*sight.kind, sight.before.get(), sight.after.get())) {
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
