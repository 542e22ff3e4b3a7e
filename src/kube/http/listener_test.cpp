// The listener on the wire: raw bytes in, raw bytes out.
#include "kube/http/listener.hpp"

#include "kube/http/loopback_test.hpp"
#include "kube/http/message.hpp"
#include "kube/http/wire.hpp"

namespace berth::kube::http {
namespace {

struct Received {
    Response head;
    std::string body;
    [[nodiscard]] json::Value json() const { return json::parse(body).value_or(json::Value()); }
    [[nodiscard]] std::string text(std::string_view pointer) const {
        return std::string(json::text_at(json(), pointer));
    }
};

struct ListenerTest : Loopback {
    TlsSettings::Client trust() {
        return {
            .ca_pem = authority.certificate_pem,
            .certificate_pem = admin.certificate_pem,
            .private_key_pem = admin.key_pem
        };
    }
    Task<Wire> dial(TlsSettings::Client client) {
        const Result<TlsSettings> settings = TlsSettings::for_client(client);
        Address address{.host = "127.0.0.1", .port = port};
        Result<Wire> wire = co_await connect(*settings, address);
        EXPECT_TRUE(wire.has_value()) << wire.error().message;
        co_return *std::move(wire);
    }
    static Task<Received> receive(Wire& wire) {
        ResponseParser parser(1 << 30);
        std::string bytes;
        Received received;
        for (;;) {
            const Progress progress = parser.feed(bytes);
            received.body += parser.take_body();
            if (progress == Progress::head) continue;
            if (progress == Progress::done) break;
            EXPECT_EQ(progress, Progress::wants_more);
            const Result<std::size_t> got = co_await wire.read(bytes, 4096);
            if (!got || *got == 0) {
                ADD_FAILURE() << "the server hung up after: " << received.body;
                break;
            }
        }
        received.head = parser.head();
        co_return received;
    }
    static Task<Received> ask(Wire& wire, std::string message) {
        const Result<void> written = co_await wire.write(message);
        EXPECT_TRUE(written.has_value());
        co_return co_await receive(wire);
    }
    // Reads until the text has arrived.
    static Task<std::string> read_until(Wire& wire, std::string end) {
        std::string bytes;
        while (!bytes.contains(end)) {
            const Result<std::size_t> got = co_await wire.read(bytes, 4096);
            if (!got || *got == 0) {
                ADD_FAILURE() << "the server hung up before \"" << end << "\": " << bytes;
                break;
            }
        }
        co_return bytes;
    }
    static Task<bool> hangs_up(Wire& wire) {
        std::string bytes;
        const Result<std::size_t> got = co_await wire.read(bytes, 4096);
        co_return !got || *got == 0;
    }
};

TEST_F(ListenerTest, CertificateNamesTheUserAndConnectionsAreKept) {
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire wire = co_await t.dial(t.trust());
        const Received first = co_await ask(
            wire,
            "POST /api/v1/a%2Fb?labelSelector=a%3Db%2Cc&watch&x=1+2&broken=%zz HTTP/1.1\r\nHost: x\r\nContent-Type: "
            "a/b\r\n"
            "Content-Length: 5\r\n\r\nhello"
        );
        EXPECT_EQ(first.head.code, 200);
        EXPECT_EQ(
            json::print(first.json()),
            R"({"method":"POST","path":"/api/v1/a%2Fb","query":{"labelSelector":"a=b,c","watch":"","x":"1 2"},"user":"admin",)"
            R"("groups":["system:masters","system:authenticated"],"type":"a/b","bytes":5,"body":"hello"})"
        );
        EXPECT_EQ(first.head.headers.at("content-type"), "application/json");
        EXPECT_EQ(first.head.headers.at("cache-control"), "no-cache, private");
        EXPECT_EQ(first.head.headers.at("audit-id").size(), 36U);
        EXPECT_TRUE(first.head.headers.at("date").ends_with(" GMT"));
        EXPECT_EQ(first.head.headers.at("warning"), R"(299 - "mind \"this\"")");
        const Received second = co_await ask(wire, "GET https://x/y HTTP/1.1\r\nHost: x\r\nUser-Agent: curl/8\r\n\r\n");
        EXPECT_EQ(second.text("/path"), "/y");
        EXPECT_TRUE(second.body.contains("\n  \"path\"")) << "people get it indented: " << second.body;
        const Received third = co_await ask(wire, "GET /z HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        EXPECT_EQ(third.text("/path"), "/z");
        const bool closed = co_await hangs_up(wire);
        EXPECT_TRUE(closed);
    };
    run(body(*this));
}

TEST_F(ListenerTest, A75_WhoAsks) {
    auto body = [](ListenerTest& t) -> Task<void> {
        const std::string plain = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
        Wire nobody = co_await t.dial({.ca_pem = t.authority.certificate_pem});
        const Received anonymous = co_await ask(nobody, plain);
        EXPECT_EQ(anonymous.text("/user"), "system:anonymous");
        EXPECT_EQ(anonymous.text("/groups/0"), "system:unauthenticated");
        const Received wrong_token =
            co_await ask(nobody, "GET /a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer no\r\n\r\n");
        EXPECT_EQ(wrong_token.head.code, 401);
        EXPECT_EQ(wrong_token.text("/reason"), "Unauthorized");

        const KeyPair stranger = make_authority(t.clock.now());
        const KeyPair forged =
            *issue(stranger, {.common_name = "admin", .organizations = {"system:masters"}}, t.clock.now());
        Wire liar = co_await t.dial(
            {.ca_pem = t.authority.certificate_pem,
             .certificate_pem = forged.certificate_pem,
             .private_key_pem = forged.key_pem}
        );
        const Received refused = co_await ask(liar, plain);
        EXPECT_EQ(refused.head.code, 401);
        // A certificate of a server proves nothing about a client.
        Wire server_as_client = co_await t.dial(
            {.ca_pem = t.authority.certificate_pem,
             .certificate_pem = t.server_pair.certificate_pem,
             .private_key_pem = t.server_pair.key_pem}
        );
        const Received misused = co_await ask(server_as_client, plain);
        EXPECT_EQ(misused.head.code, 401);
    };
    run(body(*this));
}

TEST_F(ListenerTest, AnAdministratorAsksInTheNameOfAnother) {
    auto body = [](ListenerTest& t) -> Task<void> {
        const std::string other =
            "GET /a HTTP/1.1\r\nHost: x\r\nImpersonate-User: system:serviceaccount:n:s\r\n"
            "Impersonate-Group: one\r\nImpersonate-Group: two\r\n\r\n";
        Wire nobody = co_await t.dial({.ca_pem = t.authority.certificate_pem});
        const Received refused = co_await ask(nobody, other);
        EXPECT_EQ(refused.head.code, 403);
        const KeyPair admin =
            *issue(t.authority, {.common_name = "admin", .organizations = {"system:masters"}}, t.clock.now());
        Wire wire = co_await t.dial(
            {.ca_pem = t.authority.certificate_pem,
             .certificate_pem = admin.certificate_pem,
             .private_key_pem = admin.key_pem}
        );
        const Received answer = co_await ask(wire, other);
        EXPECT_EQ(answer.text("/user"), "system:serviceaccount:n:s");
        EXPECT_EQ(
            answer.text("/groups/0") + answer.text("/groups/1") + answer.text("/groups/2"), "onetwosystem:authenticated"
        );
    };
    run(body(*this));
}

TEST_F(ListenerTest, TokensGoToTheAuthenticator) {
    options.authenticator = [](Credentials credentials) -> Task<std::optional<User>> {
        if (credentials.bearer_token == "t1") co_return User{"robot", {}};
        co_return std::nullopt;
    };
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire wire = co_await t.dial({.ca_pem = t.authority.certificate_pem});
        const Received in_header = co_await ask(wire, "GET /a HTTP/1.1\r\nHost: x\r\nauthorization: bearer t1\r\n\r\n");
        EXPECT_EQ(in_header.text("/user"), "robot");
        const Received in_protocol = co_await ask(
            wire,
            "GET /a HTTP/1.1\r\nHost: x\r\nSec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.dDE, "
            "v4\r\n\r\n"
        );
        EXPECT_EQ(in_protocol.text("/user"), "robot");
    };
    run(body(*this));
}

TEST_F(ListenerTest, A52_BodiesInChunksOnRequestAndTooLarge) {
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire wire = co_await t.dial(t.trust());
        const Received chunked = co_await ask(
            wire,
            "POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n"
        );
        EXPECT_EQ(chunked.text("/body"), "abcdefg");

        const Result<void> asked =
            co_await wire.write("PUT /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
        EXPECT_TRUE(asked.has_value());
        const std::string consent = co_await read_until(wire, "\r\n\r\n");
        EXPECT_EQ(consent, "HTTP/1.1 100 Continue\r\n\r\n");
        const Received after_consent = co_await ask(wire, "hi");
        EXPECT_EQ(after_consent.text("/body"), "hi");

        const std::size_t limit = t.options.body_max;
        const std::string whole(limit, 'x');
        const std::string length = std::to_string(limit);
        const Received largest =
            co_await ask(wire, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: " + length + "\r\n\r\n" + whole);
        EXPECT_EQ(json::integer_at(largest.json(), "/bytes"), 3 << 20);

        // The client sends all it has before it reads; it must see the answer, not a reset.
        const std::string more = std::to_string(limit + 1);
        const Received refused =
            co_await ask(wire, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: " + more + "\r\n\r\n" + whole + "x");
        EXPECT_EQ(refused.head.code, 413);
        EXPECT_EQ(refused.text("/message"), "Request entity too large: limit is 3145728");
        EXPECT_EQ(refused.head.headers.at("connection"), "close");
    };
    run(body(*this));
}

TEST_F(ListenerTest, MalformedRequestsAreRefused) {
    auto body = [](ListenerTest& t) -> Task<void> {
        struct Row {
            std::string message;
            int code;
        };
        const std::string long_target = "GET /" + std::string(17 << 10, 'x') + " HTTP/1.1\r\nHost: x\r\n\r\n";
        const std::string long_head = "GET / HTTP/1.1\r\nHost: " + std::string(70 << 10, 'x') + "\r\n\r\n";
        const std::vector<Row> rows = {
            {"hello\r\n\r\n",                     400},
            {"GET x HTTP/1.1\r\nHost: x\r\n\r\n", 400},
            {long_target,                         414},
            {long_head,                           431},
        };
        for (const Row& row : rows) {
            SCOPED_TRACE(row.message.substr(0, 20));
            Wire wire = co_await t.dial(t.trust());
            const Received got = co_await ask(wire, row.message);
            EXPECT_EQ(got.head.code, row.code);
            EXPECT_EQ(got.text("/kind"), "Status");
        }
    };
    run(body(*this));
}

TEST_F(ListenerTest, ClientThatLeavesCancelsItsHandler) {
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire wire = co_await t.dial(t.trust());
        const Result<void> asked = co_await wire.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_TRUE(asked.has_value());
        co_await t.mirror.entered.wait();
        EXPECT_EQ(t.mirror.running, 1);
        wire.hang_up();
        co_await t.mirror.left.wait();
        EXPECT_EQ(t.mirror.running, 0);
    };
    run(body(*this));
}

TEST_F(ListenerTest, SlowAnswerIsATimeoutAndTheConnectionStays) {
    options.answer_within = std::chrono::milliseconds(20);
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire wire = co_await t.dial(t.trust());
        const Received late = co_await ask(wire, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_EQ(late.head.code, 504);
        EXPECT_EQ(late.text("/message"), "Timeout: request did not complete within the allotted timeout");
        const Received next = co_await ask(wire, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_EQ(next.head.code, 200);
    };
    run(body(*this));
}

TEST_F(ListenerTest, A77_TooManyAtOnce) {
    options.writes_max = 1;
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire busy = co_await t.dial(t.trust());
        const Result<void> asked = co_await busy.write("POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        EXPECT_TRUE(asked.has_value());
        co_await t.mirror.entered.wait();
        Wire other = co_await t.dial(t.trust());
        const Received refused = co_await ask(other, "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n");
        EXPECT_EQ(refused.head.code, 429);
        EXPECT_EQ(refused.head.headers.at("retry-after"), "1");
        const Received reading = co_await ask(other, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_EQ(reading.head.code, 200);
        busy.hang_up();
        co_await t.mirror.left.wait();
    };
    run(body(*this));
}

TEST_F(ListenerTest, ConnectionsBeyondTheLimitAreClosed) {
    options.connections_max = 1;
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire first = co_await t.dial(t.trust());
        const Result<TlsSettings> settings = TlsSettings::for_client(t.trust());
        Address address{.host = "127.0.0.1", .port = t.port};
        const Result<Wire> second = co_await connect(*settings, address);
        EXPECT_FALSE(second.has_value());
        const Received still = co_await ask(first, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_EQ(still.head.code, 200);
    };
    run(body(*this));
}

WatchEvent event(const char* type, const char* name) {
    return {
        type, std::make_shared<const json::Value>(json::Object{{"name", name}}
          )
    };
}

TEST_F(ListenerTest, A66_WatchIsALineForEachEvent) {
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire wire = co_await t.dial(t.trust());
        const Result<void> asked = co_await wire.write("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_TRUE(asked.has_value());
        const std::string head = co_await read_until(wire, "\r\n\r\n");
        EXPECT_TRUE(head.contains("transfer-encoding: chunked\r\n")) << head;
        t.mirror.events->push(event("ADDED", "a"));
        const std::string first = co_await read_until(wire, "}\n\r\n");
        EXPECT_EQ(first, "27\r\n{\"type\":\"ADDED\",\"object\":{\"name\":\"a\"}}\n\r\n");
        t.mirror.events->push(event("MODIFIED", "a"));
        t.mirror.events->push(event("DELETED", "b"));
        t.mirror.events->close();
        const std::string rest = co_await read_until(wire, "\r\n0\r\n\r\n");
        EXPECT_EQ(
            rest,
            "53\r\n{\"type\":\"MODIFIED\",\"object\":{\"name\":\"a\"}}\n{\"type\":\"DELETED\",\"object\":{\"name\":"
            "\"b\"}}\n\r\n"
            "0\r\n\r\n"
        );
        const Received next = co_await ask(wire, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_EQ(next.head.code, 200) << "the connection is used again";
    };
    run(body(*this));
}

TEST_F(ListenerTest, WatchEndsWithItsClient) {
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire wire = co_await t.dial(t.trust());
        const Result<void> asked = co_await wire.write("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_TRUE(asked.has_value());
        co_await read_until(wire, "\r\n\r\n");
        EXPECT_EQ(t.mirror.running, 1);
        wire.hang_up();
        co_await t.mirror.left.wait();
    };
    run(body(*this));
}

TEST_F(ListenerTest, WatchRefusedIsAStatus) {
    mirror.refuses = true;
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire wire = co_await t.dial(t.trust());
        const Received refused = co_await ask(wire, "GET /watch HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_EQ(refused.head.code, 400);
        EXPECT_EQ(refused.text("/message"), "not now");
        const Received plain = co_await ask(wire, "GET /console HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_EQ(plain.head.code, 400);
    };
    run(body(*this));
}

TEST_F(ListenerTest, A42_LogIsTextThatFlowsAndEnds) {
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire wire = co_await t.dial(t.trust());
        t.mirror.lines->push("one\n");
        const Result<void> asked = co_await wire.write("GET /log HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_TRUE(asked.has_value());
        const std::string first = co_await read_until(wire, "one\n\r\n");
        EXPECT_TRUE(first.contains("content-type: text/plain\r\n")) << first;
        t.mirror.lines->push("two\n");
        t.mirror.lines->close();
        const std::string rest = co_await read_until(wire, "0\r\n\r\n");
        EXPECT_EQ(rest, "4\r\ntwo\n\r\n0\r\n\r\n");
        const Received ten = co_await ask(wire, "GET /a HTTP/1.0\r\nHost: x\r\n\r\n");
        EXPECT_EQ(ten.head.headers.at("connection"), "close");
    };
    run(body(*this));
}

TEST_F(ListenerTest, LargeStreamArrivesWhole) {
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire wire = co_await t.dial(t.trust());
        std::string sent;
        for (int i = 0; i < 64; ++i) {
            std::string block(100'000, static_cast<char>('a' + i % 26));
            sent += block;
            t.mirror.lines->push(std::move(block));
        }
        t.mirror.lines->close();
        const Received all = co_await ask(wire, "GET /log HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_TRUE(all.body == sent);
    };
    run(body(*this));
}

TEST_F(ListenerTest, CloseEndsIdleConnectionsAndStreams) {
    auto body = [](ListenerTest& t) -> Task<void> {
        Wire idle = co_await t.dial(t.trust());
        const Received one = co_await ask(idle, "GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_EQ(one.head.code, 200);
        Wire watching = co_await t.dial(t.trust());
        const Result<void> asked = co_await watching.write("GET /watch HTTP/1.1\r\nHost: x\r\n\r\n");
        EXPECT_TRUE(asked.has_value());
        co_await read_until(watching, "\r\n\r\n");
        co_await t.listener->close();
        const bool idle_ended = co_await hangs_up(idle);
        const bool watch_ended = co_await hangs_up(watching);
        EXPECT_TRUE(idle_ended && watch_ended);
    };
    run(body(*this));
}

TEST_F(ListenerTest, PortInUseSaysSo) {
    auto body = [](ListenerTest& t) -> Task<void> {
        ListenerOptions again = t.options;
        again.port = t.port;
        Listener second(t.io.get_executor(), t.mirror, t.clock, t.entropy, t.log, again);
        const auto bound = second.listen();
        EXPECT_FALSE(bound.has_value());
        if (!bound)
            EXPECT_TRUE(bound.error().message.ends_with("Address already in use: choose another address or port"))
                << bound.error().message;
        co_return;
    };
    run(body(*this));
}

}  // namespace
}  // namespace berth::kube::http
