// The client against the listener: requests, watches and consoles over loopback.
#include "kube/http/client.hpp"

#include "kube/api.hpp"
#include "kube/http/files.hpp"
#include "kube/http/link.hpp"
#include "kube/http/loopback_test.hpp"
#include "kube/http/target.hpp"
#include "kube/http/websocket.hpp"

namespace berth::kube::http {
namespace {

struct ClientTest : Loopback {
    ClientConfig config() {
        ClientConfig config{.server = "https://127.0.0.1:" + std::to_string(port), .ca_pem = authority.certificate_pem};
        config.certificate_pem = admin.certificate_pem;
        config.key_pem = admin.key_pem;
        return config;
    }
    std::unique_ptr<Client> make(ClientConfig given) {
        return *Client::make(io.get_executor(), clock, std::move(given));
    }
    static Request get(std::string path) { return {.path = std::move(path)}; }
    static std::string text(const Result<Response>& response, std::string_view pointer) {
        if (!response) return response.error().message;
        return std::string(json::text_at(json::parse(response->body).value_or(json::Value()), pointer));
    }
};

TEST_F(ClientTest, RequestsCarryDocumentsQueriesAndIdentity) {
    auto body = [](ClientTest& t) -> Task<void> {
        const auto client = t.make(t.config());
        Request request{.method = "PATCH", .path = "/a%2Fb", .query = {{"labelSelector", "a=b,c!=d e"}}};
        request.headers["content-type"] = "application/merge-patch+json";
        request.document = json::Value(json::Object{
            {"x", 1}
        });
        const Result<Response> got = co_await client->request(request);
        EXPECT_EQ(text(got, "/method"), "PATCH");
        EXPECT_EQ(text(got, "/path"), "/a%2Fb");
        EXPECT_EQ(text(got, "/query/labelSelector"), "a=b,c!=d e");
        EXPECT_EQ(text(got, "/type"), "application/merge-patch+json");
        EXPECT_EQ(text(got, "/body"), R"({"x":1})");
        EXPECT_EQ(text(got, "/user"), "admin");
        EXPECT_EQ(got->warnings, std::vector<std::string>{"mind \"this\""});
        for (int i = 0; i < 5; ++i) {
            const Result<Response> again = co_await client->request(get("/again"));
            EXPECT_EQ(text(again, "/path"), "/again");
        }
        EXPECT_EQ(t.listener->connection_count(), 1U) << "one connection serves them all";
    };
    run(body(*this));
}

TEST_F(ClientTest, TrustIsChecked) {
    auto body = [](ClientTest& t) -> Task<void> {
        ClientConfig stranger = t.config();
        stranger.ca_pem = make_authority(t.clock.now()).certificate_pem;
        const Result<Response> refused = co_await t.make(stranger)->request(get("/a"));
        EXPECT_FALSE(refused.has_value());
        if (!refused) EXPECT_EQ(refused.error().kind, ErrorKind::forbidden) << refused.error().message;
        ClientConfig careless = stranger;
        careless.verifies_server = false;
        const Result<Response> anyway = co_await t.make(careless)->request(get("/a"));
        EXPECT_EQ(text(anyway, "/path"), "/a");
        ClientConfig other_name = t.config();
        other_name.tls_server_name = "elsewhere";
        const Result<Response> misnamed = co_await t.make(other_name)->request(get("/a"));
        EXPECT_FALSE(misnamed.has_value());
        other_name.tls_server_name = "localhost";
        const Result<Response> named = co_await t.make(other_name)->request(get("/a"));
        EXPECT_EQ(text(named, "/path"), "/a");
    };
    run(body(*this));
}

TEST_F(ClientTest, TokenFileIsReadAndHostNamesAreResolved) {
    options.authenticator = [](Credentials credentials) -> Task<std::optional<User>> {
        co_return User{credentials.bearer_token, {}};
    };
    auto body = [](ClientTest& t) -> Task<void> {
        std::string name = (std::filesystem::temp_directory_path() / "berth-http-test-XXXXXX").string();
        const std::filesystem::path directory = ::mkdtemp(name.data());
        const auto written = write_file(directory / "token", "secret\n");
        EXPECT_TRUE(written.has_value());
        ClientConfig config{
            .server = "https://localhost:" + std::to_string(t.port), .ca_pem = t.authority.certificate_pem
        };
        config.token_file = directory / "token";
        const Result<Response> got = co_await t.make(config)->request(get("/a"));
        EXPECT_EQ(text(got, "/user"), "secret");
        std::filesystem::remove_all(directory);
    };
    run(body(*this));
}

Response busy(int code, const char* after) {
    Response response{.code = code};
    if (after != nullptr) response.headers["retry-after"] = after;
    return response;
}

TEST_F(ClientTest, A77_AnswersThatSayWhenAreTriedAgain) {
    auto body = [](ClientTest& t) -> Task<void> {
        const auto client = t.make(t.config());
        t.mirror.prepared = {busy(429, "0"), busy(503, "0")};
        Request write{.method = "POST", .path = "/prepared"};
        const Result<Response> third = co_await client->request(write);
        EXPECT_EQ(text(third, "/path"), "/prepared");
        t.mirror.prepared = {busy(500, nullptr)};
        const Result<Response> final_answer = co_await client->request(get("/prepared"));
        EXPECT_EQ(final_answer->code, 500) << "without Retry-After the answer counts";
        t.mirror.prepared = std::vector<Response>(11, busy(429, "0"));
        const Result<Response> given_up = co_await client->request(get("/prepared"));
        EXPECT_EQ(given_up->code, 429);
        EXPECT_TRUE(t.mirror.prepared.empty());
    };
    run(body(*this));
}

TEST_F(ClientTest, ServerThatStartedAgainIsReachedOnANewConnection) {
    auto body = [](ClientTest& t) -> Task<void> {
        const auto client = t.make(t.config());
        const Result<Response> before = co_await client->request(get("/a"));
        EXPECT_TRUE(before.has_value());
        co_await t.listener->close();
        const Result<Response> down = co_await client->request(get("/a"));
        EXPECT_FALSE(down.has_value());
        if (!down) {
            EXPECT_EQ(down.error().kind, ErrorKind::unavailable);
            EXPECT_TRUE(down.error().message.ends_with("is the server running there?")) << down.error().message;
        }
        ListenerOptions same = t.options;
        same.port = t.port;
        Listener next(t.io.get_executor(), t.mirror, t.clock, t.entropy, t.log, same);
        const auto bound = next.listen();
        EXPECT_TRUE(bound.has_value());
        TaskGroup group(t.io.get_executor());
        group.spawn("next", next.run());
        const Result<Response> after = co_await client->request(get("/b"));
        EXPECT_EQ(text(after, "/path"), "/b");
        co_await next.close();
        co_await group.close();
    };
    run(body(*this));
}

TEST_F(ClientTest, ManyAtOnce) {
    auto one = [](Client& client, int i, int& done) -> Task<void> {
        const std::string path = "/" + std::to_string(i);
        const Result<Response> got = co_await client.request(get(path));
        EXPECT_EQ(text(got, "/path"), path);
        ++done;
    };
    auto body = [](ClientTest& t, decltype(one) ask) -> Task<void> {
        const auto client = t.make(t.config());
        int done = 0;
        TaskGroup group(t.io.get_executor());
        for (int i = 0; i < 200; ++i) group.spawn("ask", ask(*client, i, done));
        co_await group.join();
        EXPECT_EQ(done, 200);
        EXPECT_LE(t.listener->connection_count(), 64U);
    };
    run(body(*this, one));
}

TEST_F(ClientTest, CancelledRequestLeavesNothingBehind) {
    auto body = [](ClientTest& t) -> Task<void> {
        const auto client = t.make(t.config());
        auto slow = [](Client& c) -> Task<void> { co_await c.request(get("/slow")); };
        TaskGroup group(t.io.get_executor());
        group.spawn("slow", slow(*client));
        co_await t.mirror.entered.wait();
        co_await group.close();
        co_await t.mirror.left.wait();
        const Result<Response> next = co_await client->request(get("/a"));
        EXPECT_EQ(text(next, "/path"), "/a");
    };
    run(body(*this));
}

WatchEvent event(const std::string& type, const std::string& name) {
    return {
        type, std::make_shared<const json::Value>(json::Object{{"name", name}}
          )
    };
}

TEST_F(ClientTest, A66_WatchArrivesInOrderAndEnds) {
    auto body = [](ClientTest& t) -> Task<void> {
        const auto client = t.make(t.config());
        Result<std::unique_ptr<WatchStream>> opened = co_await client->watch(get("/watch"));
        EXPECT_TRUE(opened.has_value());
        WatchStream& stream = **opened;
        for (int i = 0; i < 1000; ++i) t.mirror.events->push(event("ADDED", "n" + std::to_string(i)));
        for (int i = 0; i < 1000; ++i) {
            const std::optional<WatchEvent> got = co_await stream.next();
            if (!got || json::text_at(*got->object, "/name") != "n" + std::to_string(i)) {
                ADD_FAILURE() << "event " << i;
                break;
            }
        }
        t.mirror.events->close();
        const std::optional<WatchEvent> end = co_await stream.next();
        EXPECT_FALSE(end.has_value());
    };
    run(body(*this));
}

TEST_F(ClientTest, RefusedWatchIsItsError) {
    mirror.refuses = true;
    auto body = [](ClientTest& t) -> Task<void> {
        const auto client = t.make(t.config());
        const auto opened = co_await client->watch(get("/watch"));
        EXPECT_FALSE(opened.has_value());
        if (!opened) EXPECT_EQ(opened.error(), (Error{ErrorKind::invalid, "not now"}));
    };
    run(body(*this));
}

TEST_F(ClientTest, A42_LogStream) {
    auto body = [](ClientTest& t) -> Task<void> {
        const auto client = t.make(t.config());
        Result<std::unique_ptr<ByteStream>> opened = co_await client->stream(get("/log"));
        EXPECT_TRUE(opened.has_value());
        t.mirror.lines->push("one\n");
        const std::optional<std::string> line = co_await (*opened)->next();
        EXPECT_EQ(line, "one\n");
        t.mirror.lines->close();
        const std::optional<std::string> end = co_await (*opened)->next();
        EXPECT_FALSE(end.has_value());
    };
    run(body(*this));
}

TEST_F(ClientTest, A47_ConsoleEchoesUntilItSaysGoodbye) {
    auto body = [](ClientTest& t) -> Task<void> {
        const auto client = t.make(t.config());
        auto opened = co_await client->open_websocket("/console", {}, "plain.kubevirt.io");
        EXPECT_TRUE(opened.has_value()) << opened.error().error.message;
        Duplex& console = **opened;
        const std::string big(200'000, 'x');
        for (const std::string& text : {std::string("hello"), std::string("\x00\xff\n", 3), big}) {
            const Result<void> written = co_await console.write(text);
            EXPECT_TRUE(written.has_value());
            std::string echo;
            while (echo.size() < text.size()) {
                const std::optional<std::string> part = co_await console.read();
                if (!part) break;
                echo += *part;
            }
            EXPECT_TRUE(echo == text);
        }
        const Result<void> bye = co_await console.write("bye");
        EXPECT_TRUE(bye.has_value());
        const std::optional<std::string> last = co_await console.read();
        EXPECT_EQ(last, "bye");
        const std::optional<std::string> end = co_await console.read();
        EXPECT_FALSE(end.has_value());
        co_await t.mirror.left.wait();
    };
    run(body(*this));
}

TEST_F(ClientTest, ConsoleEndsWithItsClient) {
    auto body = [](ClientTest& t) -> Task<void> {
        const auto client = t.make(t.config());
        {
            const auto opened = co_await client->open_websocket("/console", {}, "plain.kubevirt.io");
            EXPECT_TRUE(opened.has_value());
            EXPECT_EQ(t.mirror.running, 1);
        }
        co_await t.mirror.left.wait();
    };
    run(body(*this));
}

TEST_F(ClientTest, A47_RefusedConsoleShowsItsCode) {
    mirror.refuses = true;
    auto body = [](ClientTest& t) -> Task<void> {
        const auto client = t.make(t.config());
        const auto opened = co_await client->open_websocket("/console", {}, "plain.kubevirt.io");
        EXPECT_FALSE(opened.has_value());
        if (opened) co_return;
        EXPECT_EQ(opened.error().code, 400);
        EXPECT_EQ(opened.error().error, (Error{ErrorKind::invalid, "not now"}));
    };
    run(body(*this));
}

TEST_F(ClientTest, A71_WatchOverWebSocketIsTextFrames) {
    auto body = [](ClientTest& t) -> Task<void> {
        const Result<TlsSettings> settings = TlsSettings::for_client({.ca_pem = t.authority.certificate_pem});
        Address address{.host = "127.0.0.1", .port = t.port};
        Result<Wire> wire = co_await connect(*settings, address);
        Request request{.path = "/watch", .query = {{"watch", "true"}}, .headers = {{"host", "x"}}};
        request.headers["sec-websocket-protocol"] = "base64url.bearer.authorization.k8s.io.x, base64.binary.k8s.io";
        request.headers["sec-websocket-protocol"] = "base64.binary.k8s.io";
        std::optional<Response> refusal;
        Result<WebSocket> socket = co_await WebSocket::open(*wire, request, refusal);
        EXPECT_TRUE(socket.has_value());
        t.mirror.events->push(event("ADDED", "a"));
        const std::optional<std::string> frame = co_await socket->read();
        EXPECT_EQ(frame, R"({"type":"ADDED","object":{"name":"a"}})");
        t.mirror.events->close();
        const std::optional<std::string> end = co_await socket->read();
        EXPECT_FALSE(end.has_value());
    };
    run(body(*this));
}

TEST(Subprotocols, ChosenAmongTheOffered) {
    struct Row {
        const char* offered;
        const char* chosen;
        const char* token;
    };
    const Row rows[] = {
        {"",                                                                "",                     ""            },
        {"plain.kubevirt.io",                                               "plain.kubevirt.io",    ""            },
        {"v4.channel.k8s.io, plain.kubevirt.io",                            "plain.kubevirt.io",    ""            },
        {"base64url.bearer.authorization.k8s.io.dG9r,base64.binary.k8s.io", "base64.binary.k8s.io", "tok"         },
        {"base64url.bearer.authorization.k8s.io.dG9r",                      "",                     "tok"         },
        {"base64url.bearer.authorization.k8s.io.-_-_",                      "",                     "\xfb\xff\xbf"},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(choose_subprotocol(row.offered), row.chosen) << row.offered;
        EXPECT_EQ(token_in_subprotocols(row.offered), row.token) << row.offered;
    }
}

TEST(Origins, ReadFromServerAddresses) {
    struct Row {
        const char* server;
        const char* host;  // "" = refused
        int port;
        const char* prefix;
    };
    const Row rows[] = {
        {"https://127.0.0.1:6443", "127.0.0.1", 6443, ""       },
        {"https://[::1]:6443",     "::1",       6443, ""       },
        {"https://[fd00::1]",      "fd00::1",   443,  ""       },
        {"https://box/k8s/c1/",    "box",       443,  "/k8s/c1"},
        {"http://127.0.0.1:8080",  "",          0,    ""       },
        {"https://",               "",          0,    ""       },
        {"https://box:port",       "",          0,    ""       },
        {"https://box:70000",      "",          0,    ""       },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.server);
        const Result<Origin> origin = read_origin({.server = row.server});
        ASSERT_EQ(origin.has_value(), row.host[0] != '\0');
        if (!origin) continue;
        EXPECT_EQ(origin->address.host, row.host);
        EXPECT_EQ(origin->address.port, row.port);
        EXPECT_EQ(origin->prefix, row.prefix);
    }
}

TEST(Targets, QueriesSurviveTheTrip) {
    for (const std::string text : {"", "a b", "a+b&c=d%20", "ü,!=()", "x\n"}) {
        EXPECT_EQ(decode_query_part(encode_query_part(text)), text);
    }
    EXPECT_EQ(decode_query_part("%4"), std::nullopt);
    EXPECT_EQ(decode_query_part("%4g"), std::nullopt);
}

}  // namespace
}  // namespace berth::kube::http
