#include "solo/edge/pod_log.hpp"

namespace berth::solo {
namespace {

TEST(PodLog, A42_RendersCriLines) {
    const std::string cri =
        "2026-12-02T04:22:19.000000000+00:00 stdout F one\n"
        "2026-12-02T04:22:20.000000000+00:00 stdout P tw\n"
        "2026-12-02T04:22:20.000000000+00:00 stdout F o\n"
        "2026-12-02T04:22:21.000000000+00:00 stderr F \n"
        "2026-12-02T04:22:22.000000000+00:00 stdout F unfin";
    std::string rest;
    EXPECT_EQ(render_log(cri, {}, rest), "one\ntwo\n\n");
    EXPECT_TRUE(rest.ends_with("F unfin"));
    EXPECT_EQ(render_log(cri, {.since = from_rfc3339("2026-12-02T04:22:20Z")}, rest), "two\n\n");
    EXPECT_TRUE(render_log(cri, {.timestamps = true}, rest).starts_with("2026-12-02T04:22:19.000000000+00:00 one\n"));
}

TEST(PodLog, A42_KeepsTheLastLines) {
    const struct {
        const char* text;
        std::int64_t count;
        const char* last;
    } rows[] = {
        {"a\nb\nc\n", 1, "c\n"   },
        {"a\nb\nc\n", 2, "b\nc\n"},
        {"a\nb",      1, "b"     },
        {"a\n",       5, "a\n"   },
        {"",          3, ""      },
        {"a\nb\n",    0, ""      },
    };
    for (const auto& row : rows) EXPECT_EQ(last_lines(row.text, row.count), row.last);
}

}  // namespace
}  // namespace berth::solo
