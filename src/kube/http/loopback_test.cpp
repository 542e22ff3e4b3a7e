#include "kube/http/loopback_test.hpp"

namespace berth::kube::http {
namespace {

// Counts a running handler and tells when it was cut short.
struct Presence {
    explicit Presence(Mirror& mirror) : mirror_(mirror) {
        ++mirror_.running;
        mirror_.entered.notify();
    }
    ~Presence() {
        --mirror_.running;
        mirror_.left.notify();
    }
    Presence(const Presence&) = delete;
    Presence& operator=(const Presence&) = delete;
    Mirror& mirror_;
};

struct Events final : WatchStream {
    explicit Events(Mirror& mirror) : presence(mirror), channel(mirror.events) {}
    Task<std::optional<WatchEvent>> next() override { return channel->next(); }
    Presence presence;
    std::shared_ptr<Channel<WatchEvent>> channel;
};

struct Lines final : ByteStream {
    explicit Lines(Mirror& mirror) : presence(mirror), channel(mirror.lines) {}
    Task<std::optional<std::string>> next() override { return channel->next(); }
    Presence presence;
    std::shared_ptr<Channel<std::string>> channel;
};

// A console whose machine says back what it hears, until it hears "bye".
struct Console final : Duplex {
    explicit Console(Mirror& mirror) : presence(mirror), channel(mirror.executor_) {}
    Task<std::optional<std::string>> read() override { return channel.next(); }
    Task<Result<void>> write(std::string bytes) override {
        const bool ends = bytes == "bye";
        channel.push(std::move(bytes));
        if (ends) channel.close();
        co_return Result<void>();
    }
    Presence presence;
    Channel<std::string> channel;
};

Response refusal() {
    Response response{.code = 400};
    response.document = std::make_shared<const json::Value>(json::Object{
        {"message", "not now"},
        {"code",    400      }
    });
    return response;
}

}  // namespace

Shape Mirror::shape(const Request& request) const {
    if (request.path == "/watch") return Shape::watch;
    if (request.path == "/log") return Shape::stream;
    return request.path == "/console" ? Shape::duplex : Shape::unary;
}

Task<Response> Mirror::handle(Request request) {
    const Presence presence(*this);
    if (request.path == "/slow") {
        Notify never(executor_);
        co_await never.wait();
    }
    if (request.path == "/prepared" && !prepared.empty()) {
        Response answer = prepared.front();
        prepared.erase(prepared.begin());
        co_return answer;
    }
    json::Object query;
    for (const auto& [name, value] : request.query) query[name] = value;
    json::Array groups;
    for (const std::string& group : request.user.groups) groups.emplace_back(group);
    Response response;
    response.warnings = {"mind \"this\""};
    response.document = std::make_shared<const json::Value>(json::Object{
        {"method", request.method},
        {"path", request.path},
        {"query", std::move(query)},
        {"user", request.user.name},
        {"groups", std::move(groups)},
        {"type", request.header("content-type")},
        {"bytes", request.body.size()},
        {"body", request.body.substr(0, 100)},
    });
    co_return response;
}

Task<Answer<WatchStream>> Mirror::watch(Request) {
    if (refuses) co_return std::unexpected(refusal());
    co_return std::make_unique<Events>(*this);
}

Task<Answer<ByteStream>> Mirror::stream(Request) {
    if (refuses) co_return std::unexpected(refusal());
    co_return std::make_unique<Lines>(*this);
}

Task<Answer<Duplex>> Mirror::connect(Request) {
    if (refuses) co_return std::unexpected(refusal());
    co_return std::make_unique<Console>(*this);
}

Loopback::Loopback() {
    mirror.events = std::make_shared<Channel<WatchEvent>>(io.get_executor());
    mirror.lines = std::make_shared<Channel<std::string>>(io.get_executor());
    options.certificate_pem = server_pair.certificate_pem;
    options.private_key_pem = server_pair.key_pem;
    options.client_ca_pem = authority.certificate_pem;
}

Task<void> Loopback::around(Task<void> body) {
    TaskGroup group(io.get_executor());
    group.spawn("listener", listener->run());
    const bool ended = co_await finishes_within(clock, kTestMax, std::move(body));
    EXPECT_TRUE(ended) << "the test did not end in time";
    co_await listener->close();
    co_await group.close();
    EXPECT_EQ(listener->connection_count(), 0U);
    EXPECT_EQ(mirror.running, 0);
}

void Loopback::run(Task<void> body) {
    listener = std::make_unique<Listener>(io.get_executor(), mirror, clock, entropy, log, options);
    const auto bound = listener->listen();
    ASSERT_TRUE(bound.has_value()) << bound.error().message;
    port = *bound;
    TaskGroup group(io.get_executor());
    group.spawn("test", around(std::move(body)));
    io.run();
}

}  // namespace berth::kube::http
