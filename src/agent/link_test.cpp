// The protocol's lines, both ways.
#include "agent/link.hpp"

#include <gtest/gtest.h>

namespace berth::agent {
namespace {

TEST(Link, ReportRoundTrip) {
    Report report;
    report.state = "running";
    report.reason = "r";
    report.error = "e";
    report.machine_type = "pc-q35-7.2";
    report.accelerator = "tcg";
    report.disks = {
        {"root", "vda", 1},
        {"data", "sda", 2}
    };
    report.detaching = {
        {"old", Timestamp(std::chrono::microseconds(1'700'000'000'000'001)), 3}
    };
    report.disk_errors = {
        {"bad", "no free port for bus virtio"}
    };
    report.told = {"data", "bad"};
    report.syncs = 7;
    const auto parsed = json::parse(json::print(to_json(report)));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(report_from(*parsed), report);
}

TEST(Link, ReportOfAnotherVersionIsRefused) {
    for (const char* line : {"{}", R"({"v":2,"op":"report"})", R"({"v":1,"op":"sync"})", "[]", "null"}) {
        const auto parsed = json::parse(line);
        ASSERT_TRUE(parsed) << line;
        EXPECT_FALSE(report_from(*parsed)) << line;
    }
}

TEST(Link, VolumePathRoundTrip) {
    VolumePath path;
    path.name = "data";
    path.path = "/dev/data";
    path.block = true;
    path.read_only = true;
    path.create_if_absent = true;
    path.size = 1 << 30;
    EXPECT_EQ(volume_path_from(to_json(path)), path);
    EXPECT_FALSE(volume_path_from(*json::parse(R"({"name":"x"})")));
}

}  // namespace
}  // namespace berth::agent
