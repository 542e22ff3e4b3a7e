#include "kube/http/answer.hpp"

#include <gtest/gtest.h>

#include "kube/http/base64.hpp"
#include "kube/http/link.hpp"

namespace berth::kube::http {
namespace {

const Timestamp kNow =
    Timestamp(std::chrono::sys_days(std::chrono::year(1994) / 11 / 6)) + std::chrono::seconds(31'777);

TEST(Answers, Heads) {
    Occasion occasion{.now = kNow, .audit_id = "id", .length = 3};
    Response response{
        .code = 201, .body = "abc", .warnings = {"a \"b\" \\", "two\nlines"}
    };
    response.headers["content-type"] = "text/plain\r\nforged: yes";
    response.headers["cache-control"] = "public";
    EXPECT_EQ(
        print_head(response, occasion),
        "HTTP/1.1 201 Created\r\naudit-id: id\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\ncache-control: public\r\n"
        "content-type: text/plain  forged: yes\r\nwarning: 299 - \"a \\\"b\\\" \\\\\"\r\nwarning: 299 - \"two "
        "lines\"\r\n"
        "content-length: 3\r\n\r\n"
    );
    occasion.keeps_alive = false;
    EXPECT_EQ(
        print_head({.code = 304, .body = "not sent"}, occasion),
        "HTTP/1.1 304 Not Modified\r\naudit-id: id\r\ncache-control: no-cache, private\r\n"
        "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nconnection: close\r\n\r\n"
    );
}

TEST(Answers, BodiesForPeopleAndForPrograms) {
    struct Row {
        const char* agent;
        const char* pretty;  // nullptr = not given
        bool is_pretty;
    };
    const Row rows[] = {
        {"kubectl/v1.32", nullptr, false},
        {"curl/8",        nullptr, true },
        {"Mozilla/5.0",   "false", false},
        {"kubectl/v1.32", "true",  true },
        {"kubectl/v1.32", "",      true },
        {"curl/8",        "0",     false},
    };
    for (const Row& row : rows) {
        Request request;
        request.headers["user-agent"] = row.agent;
        if (row.pretty != nullptr) request.query.emplace_back("pretty", row.pretty);
        EXPECT_EQ(wants_pretty(request), row.is_pretty) << row.agent << (row.pretty == nullptr ? "" : row.pretty);
    }
    Response response;
    response.document = std::make_shared<const json::Value>(json::Object{
        {"a", 1}
    });
    EXPECT_EQ(print_body(response, false), "{\"a\":1}\n");
    EXPECT_EQ(print_body(response, true), "{\n  \"a\": 1\n}\n");
}

TEST(Answers, WarningsSurviveTheTrip) {
    const std::vector<std::string> texts = {R"(unknown field "spec.foo")", R"(back\slash)"};
    EXPECT_EQ(read_warnings(R"(299 - "unknown field \"spec.foo\"", 299 - "back\\slash")"), texts);
    EXPECT_TRUE(read_warnings("299 -").empty());
}

TEST(Base64, RoundTrip) {
    for (const std::string text : {"", "a", "ab", "abc", "abcd", "\xff\xfe\xfd"}) {
        EXPECT_EQ(decode_base64(encode_base64(text)), text);
    }
    EXPECT_EQ(encode_base64("any carnal pleas"), "YW55IGNhcm5hbCBwbGVhcw==");
    EXPECT_EQ(decode_base64("YW5\n5IA"), "any ");
    EXPECT_EQ(decode_base64("YW=5"), std::nullopt);
    EXPECT_EQ(decode_base64("YW5*"), std::nullopt);
}

}  // namespace
}  // namespace berth::kube::http
