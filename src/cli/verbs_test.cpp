// What the command line refuses and prints without any server.
#include <gtest/gtest.h>

#include "cli/command.hpp"
#include "cli/machine_view.hpp"
#include "cli/output.hpp"
#include "cli/programs.hpp"

namespace berth::cli {

namespace {

// Runs the words as the command line; the code, or -1 when parsing refused them.
int run(std::vector<std::string> words) {
    CLI::App app{"", "berth"};
    app.require_subcommand(1);
    Work work;
    add_machine_verbs(app, work);
    add_volume_verbs(app, work);
    add_console(app, work);
    add_explain(app, work);
    add_timeline(app, work);
    add_version(app, work);
    add_completion(app, work);
    std::ranges::reverse(words);
    try {
        app.parse(words);
    } catch (const CLI::ParseError&) {
        return -1;
    }
    return work();
}

TEST(Verbs, RefuseWhatTheyDoNotKnow) {
    struct Row {
        std::vector<std::string> words;
        int code;
    };
    const Row rows[] = {
        {{},                                                        -1     },
        {{"begin", "db"},                                           -1     },
        {{"start"},                                                 -1     },
        {{"start", "pod", "db"},                                    kUsage },
        {{"start", "vmi", "db"},                                    kUsage },
        {{"stop", "db", "--force"},                                 kUsage },
        {{"restart", "db", "--force"},                              kUsage },
        {{"stop", "db", "--grace-period", "soon"},                  -1     },
        {{"console", "db", "--timeout", "soon"},                    kUsage },
        {{"explain", "pod", "db"},                                  kUsage },
        {{"timeline", "pod", "db"},                                 kUsage },
        {{"addvolume", "db", "--volume-name=v", "--bus=sata"},      kUsage },
        {{"addvolume", "pod/db", "--volume-name=v"},                kUsage },
        {{"addvolume", "db", "--volume-name=v", "-o", "wide"},      -1     },
        {{"explain", "vm", "db", "--kubeconfig", "/nonexistent/f"}, kFailed},
        {{"version"},                                               kOk    },
        {{"completion", "tcsh"},                                    -1     },
    };
    for (const Row& row : rows) {
        std::string line;
        for (const std::string& word : row.words) line += word + " ";
        SCOPED_TRACE(line);
        EXPECT_EQ(run(row.words), row.code);
    }
}

TEST(Verbs, CompleteThemselves) {
    for (const char* const shell : {"bash", "zsh", "fish"}) {
        SCOPED_TRACE(shell);
        testing::internal::CaptureStdout();
        EXPECT_EQ(run({"completion", shell}), kOk);
        const std::string script = testing::internal::GetCapturedStdout();
        for (const char* const word : {"restart", "console", "grace-period", "addvolume", "volume-name", "timeline"})
            EXPECT_NE(script.find(word), std::string::npos) << word;
    }
}

TEST(Programs, AreChosenByName) {
    struct Row {
        std::string name;
        bool is_program;
    };
    for (const Row& row : {
             Row{"/usr/bin/virt-launcher-monitor", true },
             Row{"virt-launcher",                  true },
             Row{"./container-disk",               true },
             Row{"virtctl",                        false},
             Row{"/usr/bin/berth",                 false}
    }) {
        SCOPED_TRACE(row.name);
        std::string name = row.name;
        char* words[] = {name.data(), nullptr};
        EXPECT_EQ(static_cast<bool>(program_of(1, words)), row.is_program);
    }
}

TEST(Output, IsJsonOrYaml) {
    const json::Value document = *json::parse(R"({"a":{"b":["x","true"],"n":1}})");
    EXPECT_EQ(*json::parse(format(document, "json")), document);
    EXPECT_EQ(format(document, "yaml"), "a:\n  b:\n    - x\n    - \"true\"\n  n: 1\n");
}

TEST(Explain, ShowsTheWarningsOfAnObjectNewestFirst) {
    const auto event = [](const std::string& type, const std::string& at, const std::string& message) {
        json::Object object{
            {"kind", "Pod"},
            {"name", "p"  }
        };
        json::Object document{
            {"type",           type             },
            {"lastTimestamp",  at               },
            {"message",        message          },
            {"involvedObject", std::move(object)}
        };
        return std::make_shared<const json::Value>(std::move(document));
    };
    const std::vector<kube::Document> events{
        event("Warning", "2026-01-02T00:00:01Z", "first"),
        event("Warning", "2026-01-02T00:00:02Z", "second"),
        event("Normal", "2026-01-02T00:00:03Z", "fine"),
    };
    const std::map<std::string, std::vector<std::string>> expected{
        {"pod/p", {"second", "first"}}
    };
    EXPECT_EQ(warnings_in(events), expected);
}

}  // namespace
}  // namespace berth::cli
