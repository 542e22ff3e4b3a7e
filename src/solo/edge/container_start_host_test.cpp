// Starting again after a kill at each step, and the programs that containers get.
#include "solo/edge/container_start.hpp"

#include <csignal>
#include <cstring>

#include <sys/mount.h>
#include <sys/wait.h>

#include "solo/edge/container_disk.hpp"
#include "solo/edge/host_test_world.hpp"
#include "solo/edge/image_for_test.hpp"

namespace berth::solo {
namespace {

class ContainerStartHost : public HostWorld {
protected:
    ContainerDir dir() const {
        return {.node = data_->paths().node(NodeName{"n1"}), .pod = pod_, .name = "main", .attempt = 0};
    }

    /// Starts in a process of its own that is killed as soon as `has_come` holds, whatever it is doing.
    void start_and_kill(const std::function<bool()>& has_come) {
        const Conmon conmon = *Conmon::find(data_->paths());
        const Machine machine = this_machine(*data_);
        const Image image = *images_->resolve("berth.local/launcher");
        const ContainerSpec spec = shell("echo once; exec sleep 1000");
        const pid_t child = ::fork();
        if (child == 0) {
            static_cast<void>(start_container(conmon, machine, image, dir().node, spec, clock_.now()));
            ::_exit(0);
        }
        int status = 0;
        bool is_over = false;
        while (!is_over && !has_come()) is_over = ::waitpid(child, &status, WNOHANG) == child;
        if (is_over) {
            ++finished_;
            return;
        }
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
    }

    int finished_ = 0;  ///< starts that were over before they could be killed

    bool stage_is(Stage stage) const {
        const Result<ContainerRecord> record = read_record(dir());
        return record && record->stage == stage;
    }
};

TEST_F(ContainerStartHost, KilledAtAnyStepItRunsOnceInTheEnd) {
    const std::string state = data_->paths().crun_state() + "/" + dir().id();
    const std::function<bool()> steps[] = {
        [this] { return exists(dir().path()); },
        [this] { return stage_is(Stage::creating); },
        [this] { return mount_at(*read_mounts(), dir().rootfs() + "/usr") != nullptr; },
        [this] { return exists(dir().path() + "/config.json"); },
        [this] { return exists(dir().path() + "/conmon.pid"); },
        [state] { return exists(state); },
        [this] { return exists(dir().path() + "/ctr.pid"); },
        [this] { return stage_is(Stage::started); },
        [] { return false; },
    };
    int step = 0;
    for (const std::function<bool()>& has_come : steps) {
        SCOPED_TRACE("killed at step " + std::to_string(step++));
        start_and_kill(has_come);
        close_runtime();
        open_runtime();
        // As a kubelet does: what runs is not started again.
        const std::optional<ContainerInfo> known = find("main");
        if (!known || known->phase != ContainerPhase::running) {
            const Result<void> started = await(runtime_->start(shell("echo once; exec sleep 1000")));
            ASSERT_TRUE(started) << started.error().message;
        }
        const std::optional<ContainerInfo> info = find("main");
        ASSERT_TRUE(info);
        EXPECT_EQ(info->phase, ContainerPhase::running);
        // The shell has its handlers once it has written.
        while (log_text("main").empty() && !HasFatalFailure()) context_.run_one_for(std::chrono::milliseconds(5));
        EXPECT_EQ(log_text("main"), "once\n");
        ASSERT_TRUE(await(runtime_->remove(info->id)));
        ASSERT_TRUE(remove_tree(dir().logs()));
        EXPECT_TRUE(list_dir(data_->paths().crun_state()).empty());
        for (const MountPoint& mount : *read_mounts()) EXPECT_FALSE(mount.path.starts_with(path_ + "/")) << mount.path;
    }
    EXPECT_EQ(finished_, 1) << "the last one is left to finish";
}

TEST_F(ContainerStartHost, SubPaths) {
    const std::string volume = path_ + "/volume";
    ASSERT_TRUE(make_dirs(volume + "/a/b", 0777));
    ASSERT_TRUE(write_plain(volume + "/a/b/f", "content", 0644));
    ASSERT_TRUE(replace_link("/etc", volume + "/out"));
    ASSERT_TRUE(replace_link("a", volume + "/inner"));
    ContainerSpec spec = shell("cat /f /d/f; ls /new");
    spec.mounts = {
        {.host_path = volume, .container_path = "/f",   .sub_path = "a/b/f"    },
        {.host_path = volume, .container_path = "/d",   .sub_path = "a/b"      },
        {.host_path = volume, .container_path = "/new", .sub_path = "made/here"},
    };
    const Result<void> started = await(runtime_->start(spec));
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_EQ(wait_exited("main").exit_code, 0);
    EXPECT_EQ(log_text("main"), "contentcontent\n");
    EXPECT_TRUE(exists(volume + "/made/here"));
    for (const char* path : {"out/shadow", "out", "inner/b", "../x", "a/../../x"}) {
        SCOPED_TRACE(path);
        spec.attempt++;
        spec.mounts = {
            {.host_path = volume, .container_path = "/f", .sub_path = path}
        };
        const Result<void> refused = await(runtime_->start(spec));
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().kind, ErrorKind::invalid) << refused.error().message;
    }
}

TEST_F(ContainerStartHost, LongNamesAndLongLogs) {
    ContainerSpec spec = shell(
        "i=0; while [ $i -lt 40 ]; do head -c 1000000 /dev/zero | tr '\\0' x | fold -w 100; i=$((i+1)); done; echo end"
    );
    spec.name = std::string(63, 'c');
    const Result<void> started = await(runtime_->start(spec));
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_EQ(wait_exited(spec.name).exit_code, 0);
    const std::string log = runtime_->log_path(pod_, spec.name);
    const std::string text = read_file(log).value_or("");
    EXPECT_GT(text.size(), 0U) << "a log that is full starts again";
    EXPECT_TRUE(text.ends_with("end\n")) << text.size();
}

class ContainerDiskHost : public ContainerStartHost {
protected:
    ContainerDiskHost() {
        char self[4096] = {};
        static_cast<void>(::readlink("/proc/self/exe", self, sizeof self - 1));
        program_ = self;
    }
};

TEST_F(ContainerDiskHost, HandsItsDiskOverAndStays) {
    write_image(data_->paths().images() + "/disk", {{{'f', "disk/disk.raw", "disk content"}}});
    const std::string shared = path_ + "/shared";
    ASSERT_TRUE(make_dirs(shared, 0777));
    ContainerSpec spec = shell("");
    spec.image = "disk";
    spec.env = {
        {"ASAN_OPTIONS", "detect_leaks=0"}
    };
    spec.argv = {
        "/usr/bin/container-disk",
        "--copy-path",
        "/var/run/kubevirt/container-disks/disk_0",
        "--target",
        "/var/run/kubevirt/container-disks/root.img"
    };
    spec.mounts = {
        {.host_path = shared, .container_path = "/var/run/kubevirt/container-disks"}
    };
    ASSERT_TRUE(await(runtime_->start(spec)));
    while (!exists(shared + "/root.img")) {
        ASSERT_EQ(find("main")->phase, ContainerPhase::running) << log_text("main");
        context_.run_one_for(std::chrono::milliseconds(5));
    }
    EXPECT_EQ(read_file(shared + "/root.img"), "disk content");
    ASSERT_TRUE(await(runtime_->signal(find("main")->id, "TERM")));
    EXPECT_EQ(wait_exited("main").exit_code, 0);
}

TEST_F(ContainerDiskHost, KeepsAnAttachmentPodAliveUntilItsSocketGoes) {
    const std::string shared = path_ + "/shared";
    ASSERT_TRUE(make_dirs(shared, 0777));
    ContainerSpec spec = shell("/usr/bin/container-disk --copy-path /path/hp");
    spec.env = {
        {"ASAN_OPTIONS", "detect_leaks=0"}
    };
    spec.mounts = {
        {.host_path = shared, .container_path = "/path", .follows_host = true}
    };
    ASSERT_TRUE(await(runtime_->start(spec)));
    while (!exists(shared + "/hp.sock")) {
        ASSERT_EQ(find("main")->phase, ContainerPhase::running) << log_text("main");
        context_.run_one_for(std::chrono::milliseconds(5));
    }
    ASSERT_TRUE(remove_tree(shared + "/hp.sock"));
    EXPECT_EQ(wait_exited("main").exit_code, 0);
}

}  // namespace
}  // namespace berth::solo

// In a container this binary is found as container-disk.
int main(int argc, char** argv) {
    const char* slash = std::strrchr(argv[0], '/');
    if (std::strcmp(slash == nullptr ? argv[0] : slash + 1, "container-disk") == 0)
        return berth::solo::container_disk_main(argc, argv);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
