#include "solo/edge/container_record.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include "solo/edge/image_for_test.hpp"
#include "solo/edge/mounts.hpp"

namespace berth::solo {
namespace {

const Timestamp kNow{std::chrono::seconds(1'700'000'000)};

struct World {
    TempFolder folder;
    ContainerDir dir{.node = {folder.path}, .pod = Uid{"u1"}, .name = "compute", .attempt = 2};

    World() {
        static_cast<void>(make_dirs(dir.persist(), 0755));
        static_cast<void>(make_dirs(dir.node.exits(), 0755));
    }
    [[nodiscard]] ContainerRecord started(const ProcessMark& process, const ProcessMark& monitor) const {
        return {
            .pod_uid = dir.pod,
            .name = "compute",
            .attempt = 2,
            .id = dir.id(),
            .stage = Stage::started,
            .boot = "b1",
            .process = process,
            .monitor = monitor,
            .started_at = kNow
        };
    }
};

TEST(ContainerRecord, IsReadBackAsWritten) {
    const World world;
    ContainerRecord record = world.started({10, 11}, {12, 13});
    record.message = "line\n\"quoted\"";
    record.exit_code = 7;
    record.oom_killed = true;
    record.finished_at = kNow + std::chrono::microseconds(5);
    ASSERT_TRUE(write_record(world.dir, record));
    EXPECT_EQ(read_record(world.dir), record);
    EXPECT_EQ(read_records(world.dir.node), std::vector<ContainerRecord>{record});
}

TEST(ContainerRecord, BrokenOnesAreLeftOut) {
    const World world;
    for (const char* text : {"", "{", "{}", R"({"id":"x","attempt":0,"stage":"flying"})"}) {
        SCOPED_TRACE(text);
        ASSERT_TRUE(write_plain(world.dir.record(), text, 0600));
        EXPECT_FALSE(read_record(world.dir));
        EXPECT_TRUE(read_records(world.dir.node).empty());
    }
}

struct Row {
    std::string given;
    bool lives = false;       ///< the process
    bool is_watched = false;  ///< its monitor lives
    std::string exit_file;    ///< "" = none
    std::string boot;
    Stage wanted = Stage::started;
    int exit_code = 0;
};

TEST(ContainerRecord, LookAt) {
    const ProcessMark self = process_mark(::getpid());
    const ProcessMark gone{.pid = ::getpid(), .start_ticks = self.start_ticks + 1};  // the number is another's now
    const Row rows[] = {
        {"runs",                               true,  true,  "",  "b1", Stage::started, 0  },
        {"runs, its monitor was killed",       true,  false, "",  "b1", Stage::started, 0  },
        {"ended, the monitor will say how",    false, true,  "",  "b1", Stage::started, 0  },
        {"ended and said",                     false, false, "3", "b1", Stage::exited,  3  },
        {"both killed",                        false, false, "",  "b1", Stage::exited,  137},
        {"the machine was started again",      true,  true,  "",  "b0", Stage::exited,  137},
        {"ended before the machine's restart", true,  true,  "0", "b0", Stage::exited,  0  },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.given);
        const World world;
        if (!row.exit_file.empty()) ASSERT_TRUE(write_plain(world.dir.exit_file(), row.exit_file, 0600));
        ContainerRecord record = world.started(row.lives ? self : gone, row.is_watched ? self : gone);
        record.boot = row.boot;
        const ContainerRecord seen = look_at(world.dir, record, "b1", kNow);
        EXPECT_EQ(seen.stage, row.wanted);
        EXPECT_EQ(seen.exit_code, row.exit_code);
        if (row.wanted == Stage::exited) EXPECT_EQ(read_record(world.dir), seen) << "it is written down";
    }
}

TEST(ContainerRecord, LogTail) {
    EXPECT_EQ(
        log_tail("2026-01-01T00:00:00.1Z stdout F one\n2026-01-01T00:00:00.2Z stderr P tw\n2026-01-01T00:00:00.3Z "
                 "stderr F o\n"),
        "one\ntwo\n"
    );
    EXPECT_EQ(log_tail("2026-01-01T00:00:00.1Z stdout P unfinished"), "unfinished\n");
    EXPECT_EQ(log_tail("2026-01-01T00:00:00.1Z stdout F \n"), "\n");
    EXPECT_EQ(log_tail("nonsense\n"), "");
    std::string many;
    for (int i = 0; i < 1000; ++i) many += "t stdout F 123456789\n";
    EXPECT_EQ(log_tail(many).size(), 800U);
}

TEST(Mounts, AreParsed) {
    const std::vector<MountPoint> mounts = parse_mounts(
        "23 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
        "40 23 254:0 /d/x /d/with\\040space rw shared:7 master:2 - ext4 /dev/vda rw\n"
    );
    const MountPoint wanted[] = {
        {23, 1,  "254:0", "/",    "/",             0, "ext4", "/dev/vda"},
        {40, 23, "254:0", "/d/x", "/d/with space", 7, "ext4", "/dev/vda"},
    };
    EXPECT_EQ(mounts, std::vector<MountPoint>(std::begin(wanted), std::end(wanted)));
}

TEST(Mounts, HybridCgroups) {
    const std::string v1 =
        "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
    const std::string v2_beside = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
    const std::string v2_only = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
    EXPECT_EQ(hybrid_cgroup2_mounts(parse_mounts(v1 + v2_beside)), std::vector<std::string>{"/sys/fs/cgroup/unified"});
    EXPECT_TRUE(hybrid_cgroup2_mounts(parse_mounts(v2_only)).empty());
    EXPECT_TRUE(hybrid_cgroup2_mounts(parse_mounts(v1)).empty());
}

}  // namespace
}  // namespace berth::solo
