#include "base/ascii.hpp"
#include "base/hash.hpp"
#include "base/names.hpp"
#include "base/quantity.hpp"
#include "base/time.hpp"

namespace berth {
namespace {

TEST(Quantity, ReadsEveryWrittenForm) {
    const struct {
        const char* written;
        std::int64_t milli;
    } rows[] = {
        {"0",     0                 },
        {"1",     1000              },
        {"100m",  100               },
        {"1.5",   1500              },
        {"1Ki",   1024'000          },
        {"1Gi",   (1LL << 30) * 1000},
        {"50M",   50'000'000'000    },
        {"1e3",   1'000'000         },
        {"1E3",   1'000'000         },
        {"0.5Gi", (1LL << 29) * 1000},
        {"1n",    1                 },
        {"-1",    -1000             },
    };
    for (const auto& row : rows) EXPECT_EQ(milli_value(row.written).value_or(-77), row.milli) << row.written;
    for (const char* bad : {"", "Gi", "1 Gi", "1GiB", "x", "--1", "1e", "1.2.3"}) EXPECT_FALSE(milli_value(bad)) << bad;
}

TEST(Quantity, PrintsTheLargestEvenSuffix) {
    EXPECT_EQ(quantity_of(Bytes{1LL << 30}).written, "1Gi");
    EXPECT_EQ(quantity_of(Bytes{1138166334}).written, "1138166334");
    EXPECT_EQ(quantity_of(MilliCpu{100}).written, "100m");
    EXPECT_TRUE(same_amount({"1Gi"}, {"1024Mi"}));
}

TEST(Time, RoundTrips) {
    const auto at = from_rfc3339("2026-01-02T03:04:05.123456Z");
    ASSERT_TRUE(at);
    EXPECT_EQ(to_rfc3339(*at), "2026-01-02T03:04:05Z");
    EXPECT_EQ(to_rfc3339_micro(*at), "2026-01-02T03:04:05.123456Z");
    EXPECT_EQ(from_rfc3339("2026-01-02T04:04:05+01:00"), from_rfc3339("2026-01-02T03:04:05Z"));
    for (const char* bad : {"", "2026-13-02T03:04:05Z", "2026-01-02", "2026-01-02T03:04:05"})
        EXPECT_FALSE(from_rfc3339(bad)) << bad;
}

TEST(Time, HumanDurationAsKubectlPrintsIt) {
    using namespace std::chrono_literals;
    const struct {
        Duration age;
        const char* text;
    } rows[] = {
        {5s,        "5s"       },
        {119s,      "119s"     },
        {130s,      "2m10s"    },
        {120s,      "2m"       },
        {20min,     "20m"      },
        {4h,        "4h"       },
        {4h + 5min, "4h5m"     },
        {49h,       "2d1h"     },
        {-5s,       "<invalid>"},
    };
    for (const auto& row : rows) EXPECT_EQ(human_duration(row.age), row.text);
}

TEST(Ascii, LowerAndTrimmed) {
    EXPECT_EQ(lower("Accept-RANGES [\xC4]"), "accept-ranges [\xC4]");
    EXPECT_EQ(trimmed("  a b "), "a b");
    EXPECT_EQ(trimmed("\t a\t", " \t"), "a");
    EXPECT_EQ(trimmed("   "), "");
}

TEST(Names, WhatEachFormAllows) {
    const std::string label(63, 'a');
    const struct {
        std::string text;
        bool is_label, is_subdomain, is_word, is_qualified;
    } rows[] = {
        {"", false, false, false, false},
        {"a", true, true, true, true},
        {label, true, true, true, true},
        {label + "a", false, true, false, false},
        {"a-1", true, true, true, true},
        {"-a", false, false, false, false},
        {"a-", false, false, false, false},
        {"a.b", false, true, true, true},
        {"a..b", false, false, true, true},
        {"a-.b", false, false, true, true},
        {"A_b", false, false, true, true},
        {"b.io/A_b", false, false, false, true},
        {"B.io/a", false, false, false, false},
        {"b.io/", false, false, false, false},
        {std::string(253, 'a'), false, true, false, false},
        {std::string(254, 'a'), false, false, false, false},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(is_dns_label(row.text), row.is_label) << row.text;
        EXPECT_EQ(is_dns_subdomain(row.text), row.is_subdomain) << row.text;
        EXPECT_EQ(is_label_word(row.text), row.is_word) << row.text;
        EXPECT_EQ(is_qualified_name(row.text), row.is_qualified) << row.text;
    }
}

TEST(Hash, KnownVectors) {
    EXPECT_EQ(sha1_hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(fnv1a32("a"), 0xe40c292cU);
    EXPECT_EQ(short_hash("x").size(), 5U);
    EXPECT_NE(short_hash("x"), short_hash("y"));
}

}  // namespace
}  // namespace berth
