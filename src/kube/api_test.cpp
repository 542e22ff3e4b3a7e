// What each call puts on the wire, and which error each refusal becomes.
#include "kube/api.hpp"

#include <gtest/gtest.h>

#include <deque>

#include <boost/asio/io_context.hpp>

#include "base/async/task_group.hpp"
#include "kube/handler.hpp"

namespace berth::kube {
namespace {

// A server that answers from a script and writes down what it was asked.
class Script final : public Handler {
public:
    std::vector<std::string> asked;
    std::deque<Response> answers;

    [[nodiscard]] Shape shape(const Request&) const override { return Shape::unary; }
    Task<Response> handle(Request request) override {
        std::string line = request.method + " " + request.path;
        for (const auto& [name, value] : request.query) line += " " + name + "=" + value;
        const std::string type = request.header("content-type");
        if (!type.empty()) line += " (" + type + ")";
        if (request.document) line += " " + json::print(*request.document);
        asked.push_back(line + " as " + request.user.name);
        Response answer{.code = 200, .body = "{}"};
        if (!answers.empty()) {
            answer = answers.front();
            answers.pop_front();
        }
        co_return answer;
    }
    Task<Answer<WatchStream>> watch(Request request) override {
        Response answer = co_await handle(std::move(request));
        co_return std::unexpected(std::move(answer));
    }
    Task<Answer<ByteStream>> stream(Request) override { co_return std::unexpected(Response{.code = 404}); }
    Task<Answer<Duplex>> connect(Request) override { co_return std::unexpected(Response{.code = 404}); }
};

struct ApiTest : testing::Test {
    boost::asio::io_context io;
    Script script;
    InProcess transport{script};
    Api api{
        transport, User{"alice", {}}
    };

    template <class T>
    T run(Task<T> task) {
        std::optional<T> out;
        TaskGroup group(io.get_executor());
        group.spawn("test", keep(std::move(task), out));
        io.restart();
        io.run();
        return std::move(*out);
    }
    template <class T>
    static Task<void> keep(Task<T> task, std::optional<T>& out) {
        out.emplace(co_await std::move(task));
    }
    std::string asked() {
        std::string all;
        for (const std::string& line : script.asked) all += line + "\n";
        return all;
    }
};

json::Value doc(std::string_view text) { return json::parse(text).value(); }

Response answer(int code, std::string_view body) { return {.code = code, .body = std::string(body)}; }

TEST_F(ApiTest, CallsBecomeRequests) {
    const api::Key pod{&api::kPod, "t", "web"};
    const api::Key node{&api::kNode, "", "n1"};
    run(api.get(pod));
    run(api.get(node));
    run(api.create(
        doc(R"({"apiVersion":"kubevirt.io/v1alpha3","kind":"VirtualMachine","metadata":{"name":"v","namespace":"t"}})")
    ));
    run(api.patch(pod, doc(R"({"a":1})"), "status"));
    run(api.update(doc(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}})")));
    DeleteOptions options{.uid = Uid{"u1"}, .grace_seconds = 0, .propagation = "Foreground"};
    run(api.remove(pod, options));
    run(api.bind(pod, Uid{"u1"}, "n1"));
    EXPECT_EQ(
        asked(),
        "GET /api/v1/namespaces/t/pods/web as alice\n"
        "GET /api/v1/nodes/n1 as alice\n"
        "POST /apis/kubevirt.io/v1alpha3/namespaces/t/virtualmachines (application/json) "
        R"({"apiVersion":"kubevirt.io/v1alpha3","kind":"VirtualMachine","metadata":{"name":"v","namespace":"t"}})"
        " as alice\n"
        "PATCH /api/v1/namespaces/t/pods/web/status (application/merge-patch+json) {\"a\":1} as alice\n"
        "PUT /api/v1/nodes/n1 (application/json) "
        R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n1"}} as alice)"
        "\n"
        "DELETE /api/v1/namespaces/t/pods/web (application/json) "
        R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u1"},"gracePeriodSeconds":0,"propagationPolicy":"Foreground"})"
        " as alice\n"
        "POST /api/v1/namespaces/t/pods/web/binding (application/json) "
        R"({"apiVersion":"v1","kind":"Binding","metadata":{"name":"web","namespace":"t","uid":"u1"},)"
        R"("target":{"apiVersion":"v1","kind":"Node","name":"n1"}})"
        " as alice\n"
    );
}

TEST_F(ApiTest, A21_ListsInPagesAndNamesWhatItListed) {
    script.answers = {
        answer(200, R"({"metadata":{"resourceVersion":"7","continue":"c1"},"items":[{"metadata":{"name":"a"}}]})"),
        answer(200, R"({"metadata":{"resourceVersion":"7"},"items":[{"metadata":{"name":"b"}}]})"),
    };
    ListOptions options{.label_selector = "x=y"};
    const Result<Listing> got = run(api.list(api::kPod, options));
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->at.value, "7");
    ASSERT_EQ(got->items.size(), 2U);
    EXPECT_EQ(json::print(*got->items[1]), R"({"metadata":{"name":"b"},"kind":"Pod","apiVersion":"v1"})");
    EXPECT_EQ(
        asked(),
        "GET /api/v1/pods labelSelector=x=y limit=500 as alice\n"
        "GET /api/v1/pods labelSelector=x=y limit=500 continue=c1 as alice\n"
    );
}

TEST_F(ApiTest, A64_SnapshotLostBetweenPagesIsListedOnceMoreInOnePiece) {
    script.answers = {
        answer(200, R"({"metadata":{"resourceVersion":"7","continue":"c1"},"items":[{"metadata":{"name":"a"}}]})"),
        answer(410, R"({"kind":"Status","reason":"Expired","message":"too old","code":410})"),
        answer(
            200, R"({"metadata":{"resourceVersion":"9"},"items":[{"metadata":{"name":"a"}},{"metadata":{"name":"b"}}]})"
        ),
    };
    const Result<Listing> got = run(api.list(api::kNode, {}));
    ASSERT_TRUE(got.has_value());
    EXPECT_EQ(got->at.value, "9");
    EXPECT_EQ(got->items.size(), 2U);
    EXPECT_EQ(script.asked.back(), "GET /api/v1/nodes as alice");
}

TEST_F(ApiTest, WatchAsksForBookmarksAndReturnsTheRefusal) {
    script.answers = {answer(410, R"({"kind":"Status","reason":"Expired","message":"too old","code":410})")};
    const auto got = run(api.watch(api::kVmi, {}, ResourceVersion{"5"}));
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().kind, ErrorKind::gone);
    EXPECT_EQ(
        asked(),
        "GET /apis/kubevirt.io/v1/virtualmachineinstances watch=true allowWatchBookmarks=true resourceVersion=5 as "
        "alice\n"
    );
}

TEST(StatusErrors, KindsByCodeAndReason) {
    struct Row {
        int code;
        const char* body;
        ErrorKind kind;
        const char* message;
    };
    const Row rows[] = {
        {404, R"({"reason":"NotFound","message":"pods \"x\" not found"})", ErrorKind::not_found,      "pods \"x\" not found"
        },
        {409, R"({"reason":"AlreadyExists","message":"m"})",               ErrorKind::already_exists, "m"                                },
        {409, R"({"reason":"Conflict","message":"m"})",                    ErrorKind::conflict,       "m"                                },
        {410, R"({"reason":"Expired","message":"m"})",                     ErrorKind::gone,           "m"                                },
        {400, R"({"message":"m"})",                                        ErrorKind::invalid,        "m"                                },
        {415, R"({"message":"m"})",                                        ErrorKind::invalid,        "m"                                },
        {422, R"({"message":"m"})",                                        ErrorKind::invalid,        "m"                                },
        {401, R"({"message":"Unauthorized"})",                             ErrorKind::forbidden,      "Unauthorized"                     },
        {403, R"({"message":"m"})",                                        ErrorKind::forbidden,      "m"                                },
        {429, R"({"message":"m"})",                                        ErrorKind::unavailable,    "m"                                },
        {503, "error trying to reach service: x\nmore",                    ErrorKind::unavailable,    "error trying to reach service: x" },
        {504, R"({"message":"Timeout: m"})",                               ErrorKind::timeout,        "Timeout: m"                       },
        {404, "",                                                          ErrorKind::not_found,      "the server answered with code 404"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(std::to_string(row.code) + row.body);
        const Error got = error_of(answer(row.code, row.body));
        EXPECT_EQ(to_string(got.kind), to_string(row.kind));
        EXPECT_EQ(got.message, row.message);
    }
}

TEST(StatusErrors, WatchErrorEvent) {
    const Error got = error_of_status(doc(R"({"kind":"Status","code":410,"reason":"Expired","message":"too old"})"));
    EXPECT_EQ(got, (Error{ErrorKind::gone, "too old"}));
}

}  // namespace
}  // namespace berth::kube
