// Rows: how machines and lengths of time are read.
#include "cli/words.hpp"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

TEST(Words, NameAMachine) {
    struct Row {
        std::vector<std::string> words;
        std::optional<MachineName> name;  // none: refused
    };
    const Row rows[] = {
        {{"db"},                         MachineName{false, "db"}},
        {{"vm", "db"},                   MachineName{false, "db"}},
        {{"vm/db"},                      MachineName{false, "db"}},
        {{"vmi", "db"},                  MachineName{true, "db"} },
        {{"virtualmachineinstances/db"}, MachineName{true, "db"} },
        {{"pod", "db"},                  std::nullopt            },
        {{"pod/db"},                     std::nullopt            },
        {{"vm", "a/b"},                  std::nullopt            },
        {{"vm/"},                        std::nullopt            },
        {{},                             std::nullopt            },
        {{"vm", "a", "b"},               std::nullopt            },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.words.empty() ? "(none)" : row.words.back());
        const Result<MachineName> name = read_machine(row.words);
        ASSERT_EQ(name.has_value(), row.name.has_value());
        if (name) EXPECT_EQ(*name, *row.name);
    }
}

TEST(Words, SayHowLongToWait) {
    struct Row {
        std::string text;
        std::int64_t seconds;  // -1: refused
    };
    const Row rows[] = {
        {"90s", 90  },
        {"5m",  300 },
        {"5",   300 },
        {"1h",  3600},
        {"0s",  0   },
        {"",    -1  },
        {"m",   -1  },
        {"-5m", -1  },
        {"5d",  -1  },
        {"5m3", -1  },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.text);
        const Result<Duration> span = read_patience(row.text);
        ASSERT_EQ(span.has_value(), row.seconds >= 0);
        if (span) EXPECT_EQ(*span, std::chrono::seconds(row.seconds));
    }
}

}  // namespace
}  // namespace berth::cli
