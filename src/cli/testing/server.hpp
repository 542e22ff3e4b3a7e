// A real API server over TLS for the tests of the verbs: it runs on a thread of its own, as another process would, and
// remembers every request that reached it. No product code includes this.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>
#include <boost/asio/dispatch.hpp>

#include "apiserver/server.hpp"
#include "base/async/notify.hpp"
#include "base/async/system/system.hpp"
#include "base/async/task_group.hpp"
#include "cli/client.hpp"
#include "kube/http/kubeconfig.hpp"
#include "kube/http/listener.hpp"
#include "kube/http/pki.hpp"

namespace berth::cli::testing {

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

/// What stands in front of the server: it remembers who came, and answers in its place where a test says so.
class Front final : public kube::Handler {
public:
    explicit Front(kube::Handler& behind) : behind_(behind) {}

    [[nodiscard]] kube::Shape shape(const kube::Request& request) const override { return behind_.shape(request); }
    Task<kube::Response> handle(kube::Request request) override {
        std::optional<kube::Response> own = note(request);
        if (own) co_return *std::move(own);
        co_return co_await behind_.handle(std::move(request));
    }
    Task<kube::Answer<kube::WatchStream>> watch(kube::Request request) override {
        return behind_.watch(std::move(request));
    }
    Task<kube::Answer<kube::ByteStream>> stream(kube::Request request) override {
        return behind_.stream(std::move(request));
    }
    Task<kube::Answer<kube::Duplex>> connect(kube::Request request) override {
        return behind_.connect(std::move(request));
    }

    /// What a PUT is answered with instead of asking the server; none: the server is asked.
    using PutAnswer = std::function<std::optional<kube::Response>(const kube::Request&)>;
    void answer_puts(PutAnswer answer) {
        const std::scoped_lock lock(mutex_);
        put_answer_ = std::move(answer);
    }
    /// The requests since the last call; "" = of every method.
    std::vector<kube::Request> take(const std::string& method = "") {
        const std::scoped_lock lock(mutex_);
        std::vector<kube::Request> out = std::exchange(requests_, {});
        std::erase_if(out, [&](const kube::Request& request) { return !method.empty() && request.method != method; });
        return out;
    }

private:
    std::optional<kube::Response> note(const kube::Request& request) {
        const std::scoped_lock lock(mutex_);
        requests_.push_back(request);
        if (request.method == "PUT" && put_answer_) return put_answer_(request);
        return std::nullopt;
    }

    kube::Handler& behind_;
    std::mutex mutex_;
    std::vector<kube::Request> requests_;
    PutAnswer put_answer_;
};

class ServerTest : public ::testing::Test {
protected:
    ServerTest() {
        folder_ = (std::filesystem::temp_directory_path() / "berth-cli-test-XXXXXX").string();
        EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
        apiserver::Options options;
        options.streams = &parrots_;
        options.subresources[{"virtualmachines", "start"}] = [](const apiserver::SubresourceView& view) {
            apiserver::SubresourceAnswer answer;
            const bool is_paused = view.body && json::bool_at(*view.body, "/paused");
            if (view.vm == nullptr)
                answer = {.code = 404, .reason = "NotFound", .message = "\"" + view.name + "\" not found"};
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
        front_ = std::make_unique<Front>(*server_);
        listener_ =
            std::make_unique<kube::http::Listener>(io_.get_executor(), *front_, clock_, entropy_, log_, listening);
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

    Front& front() { return *front_; }

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
        add_volume_verbs(app, work);
        add_console(app, work);
        add_explain(app, work);
        add_timeline(app, work);
        words.push_back("--kubeconfig=" + kubeconfig());
        std::ranges::reverse(words);
        try {
            app.parse(words);
        } catch (const CLI::ParseError&) {
            return kUsage;
        }
        ::testing::internal::CaptureStdout();
        ::testing::internal::CaptureStderr();
        const int code = work();
        out = ::testing::internal::GetCapturedStdout();
        err = ::testing::internal::GetCapturedStderr();
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
    std::unique_ptr<Front> front_;
    std::unique_ptr<kube::http::Listener> listener_;
    Notify stop_{io_.get_executor()};
    std::thread thread_;
    TaskGroup group_{io_.get_executor()};
};

}  // namespace berth::cli::testing
