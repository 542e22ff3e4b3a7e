// What the demo makes of a guest's words.
#include "cli/demo/guest_shell.hpp"

#include <gtest/gtest.h>

#include "cli/demo/machine.hpp"

namespace berth::cli {
namespace {

TEST(GuestShell, FindsTheAnswer) {
    struct Row {
        std::string heard;
        std::string answer;
    };
    const Row rows[] = {
        {"ls; echo END-$((1+1))\r\na\r\nb\r\nEND-2",                     "a\nb\n"},
        {"guest# guest# ls; echo END-$((1+1))\r\na\r\nEND-2\r\nguest# ", "a\n"   },
        {"ls; echo END-$((1+1))\r\nEND-2\r\n",                           ""      },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.heard);
        EXPECT_EQ(answer_in(row.heard), row.answer);
    }
}

TEST(DemoMachine, TakesItsImageFromTheServer) {
    const json::Value machine = demo_machine("http://127.0.0.1:1/guest.qcow2");
    EXPECT_EQ(
        json::text_at(machine, "/spec/dataVolumeTemplates/0/spec/source/http/url"), "http://127.0.0.1:1/guest.qcow2"
    );
    EXPECT_EQ(json::text_at(machine, "/metadata/name"), kDemoMachine);
}

}  // namespace
}  // namespace berth::cli
