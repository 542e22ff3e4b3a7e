// Real mounts, loop devices and control groups, with real containers looking at them.
#include "solo/edge/linux_volumes.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "solo/edge/cgroups.hpp"
#include "solo/edge/host_test_world.hpp"
#include "solo/edge/image_for_test.hpp"
#include "solo/edge/loop_device.hpp"

namespace berth::solo {
namespace {

class LinuxVolumesHost : public HostWorld {
protected:
    void SetUp() override {
        HostWorld::SetUp();
        if (!data_) return;
        volumes_.emplace(pool_, data_->paths(), NodeName{"n1"});
        ASSERT_TRUE(await(volumes_->make_pod_dir(pod_)));
    }

    /// Runs a container to its end and returns what it printed.
    std::string printed_by(const ContainerSpec& spec) {
        const Result<void> started = await(runtime_->start(spec));
        if (!started) return "error: " + started.error().message;
        wait_exited(spec.name);
        return log_text(spec.name);
    }

    std::vector<std::string> mounts_here() const {
        std::vector<std::string> out;
        for (const MountPoint& mount : *read_mounts()) {
            if (mount.path.starts_with(path_ + "/")) out.push_back(mount.path.substr(path_.size()));
        }
        return out;
    }

    std::optional<LinuxVolumes> volumes_;
};

TEST_F(LinuxVolumesHost, FolderVolumesInAContainer) {
    const std::string scratch = *await(volumes_->make_empty_dir(pod_, "scratch", false, 107, false));
    const std::string memory = *await(volumes_->make_empty_dir(pod_, "memory", true, std::nullopt, false));
    const std::string files = *await(volumes_->write_files(
        pod_,
        "conf",
        {
            {"a",     "1"},
            {"dir/b", "2"}
    },
        0440,
        107
    ));
    const std::string claim = *await(volumes_->make_volume("pvc-1", 1_GiB, false));
    ContainerSpec spec = shell(
        "echo x >/scratch/x; echo y >/memory/y; stat -f -c %T /memory; cat /conf/a /conf/dir/b; echo z >/pvc/disk.img; "
        "stat -c '%u:%g' /pvc/disk.img; touch /ro/x 2>/dev/null || echo read-only; ls /deep/er"
    );
    spec.fs_group = 107;
    spec.mounts = {
        {.host_path = scratch, .container_path = "/scratch"},
        {.host_path = memory, .container_path = "/memory"},
        {.host_path = files, .container_path = "/conf", .read_only = true},
        {.host_path = claim, .container_path = "/pvc"},
        {.host_path = claim, .container_path = "/ro", .read_only = true},
        {.host_path = claim, .container_path = "/deep/er/claim"},
    };
    EXPECT_EQ(printed_by(spec), "tmpfs\n12107:107\nread-only\nclaim\n");
    EXPECT_EQ(read_file(scratch + "/x"), "x\n");
    EXPECT_EQ(read_file(claim + "/disk.img"), "z\n");

    ASSERT_EQ(await(volumes_->make_empty_dir(pod_, "scratch", false, 107, false)), scratch);
    EXPECT_EQ(read_file(scratch + "/x"), "x\n") << "made again, it keeps its content";
    ASSERT_TRUE(await(volumes_->write_files(
        pod_,
        "conf",
        {
            {"a", "3"}
    },
        0440,
        107
    )));
    EXPECT_EQ(list_dir(files), std::vector<std::string>{"a"});
}

TEST_F(LinuxVolumesHost, LaterMountsArriveOnce) {
    const std::string hotplug = *await(volumes_->make_empty_dir(pod_, "hotplug-disks", false, std::nullopt, true));
    ASSERT_EQ(await(volumes_->make_empty_dir(pod_, "hotplug-disks", false, std::nullopt, true)), hotplug);
    ContainerSpec spec = shell(
        "while [ ! -s /var/run/kubevirt/hotplug-disks/d.img ]; do sleep 0.02; done; cat "
        "/var/run/kubevirt/hotplug-disks/d.img; "
        "grep -c d.img /proc/self/mountinfo; while [ -s /var/run/kubevirt/hotplug-disks/d.img ]; do sleep 0.02; done; "
        "echo gone"
    );
    spec.mounts = {
        {.host_path = hotplug, .container_path = "/var/run/kubevirt/hotplug-disks", .follows_host = true}
    };
    ASSERT_TRUE(write_plain(path_ + "/source", "disk\n", 0666));
    ASSERT_TRUE(write_plain(hotplug + "/d.img", "", 0666));
    ASSERT_TRUE(await(runtime_->start(spec)));
    ASSERT_EQ(::mount((path_ + "/source").c_str(), (hotplug + "/d.img").c_str(), nullptr, MS_BIND, nullptr), 0);
    while (log_text("main").find("1\n") == std::string::npos) context_.run_one_for(std::chrono::milliseconds(10));
    ASSERT_TRUE(unmount(hotplug + "/d.img"));
    wait_exited("main");
    EXPECT_EQ(log_text("main"), "disk\n1\ngone\n");
}

TEST_F(LinuxVolumesHost, BlockVolume) {
    const Result<std::string> made = await(volumes_->make_volume("pvc-2", 8_MiB, true));
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_EQ(await(volumes_->make_volume("pvc-2", 8_MiB, true)), *made) << "made once";
    const std::string path = *await(volumes_->make_empty_dir(pod_, "hotplug-disks", false, std::nullopt, true));
    ContainerSpec spec = shell(
        "printf data | dd of=/dev/root conv=notrunc 2>/dev/null; head -c 4 /path/v/uid; echo; stat -c '%u:%g %a' "
        "/dev/root; "
        "head -c 1 /dev/other 2>/dev/null || echo denied"
    );
    spec.devices = {
        {.host_path = *made, .container_path = "/dev/root"  },
        {.host_path = *made, .container_path = "/path/v/uid"}
    };
    spec.mounts = {
        {.host_path = path, .container_path = "/path", .follows_host = true}
    };
    EXPECT_EQ(printed_by(spec), "data\n107:107 660\ndenied\n");
    struct stat node{};
    struct stat device{};
    ASSERT_EQ(::stat((path + "/v/uid").c_str(), &node), 0)
        << "the node lies in the emptyDir, where the node agent looks for it";
    ASSERT_EQ(::stat(made->c_str(), &device), 0);
    EXPECT_EQ(node.st_rdev, device.st_rdev);
    spec.attempt = 1;
    EXPECT_EQ(printed_by(spec), "data\n107:107 660\ndenied\n") << "a node that is there already is no obstacle";

    ASSERT_TRUE(await(volumes_->grow_volume("pvc-2", 16_MiB)));
    const Fd opened(::open(made->c_str(), O_RDONLY | O_CLOEXEC));
    EXPECT_EQ(::lseek(opened.get(), 0, SEEK_END), (16_MiB).value);
    const Result<void> busy = await(volumes_->delete_volume("pvc-2"));
    EXPECT_EQ(busy.error().kind, ErrorKind::conflict);
    EXPECT_EQ(read_file(path_ + "/nodes/n1/volumes/pvc-2.img").value_or("").substr(0, 4), "data")
        << "open means that the data stays";
}

TEST_F(LinuxVolumesHost, BlockVolumeComesBackAndGoes) {
    const std::string path = *await(volumes_->make_volume("pvc-3", 4_MiB, true));
    const std::string file = path_ + "/nodes/n1/volumes/pvc-3.img";
    ASSERT_TRUE(detach_loop(file));  // what a restart of the machine does
    EXPECT_FALSE(find_loop(file));
    ASSERT_TRUE(await(volumes_->restore_volumes()));
    const Result<std::string> device = find_loop(file);
    ASSERT_TRUE(device);
    ASSERT_TRUE(await(volumes_->restore_volumes()));
    EXPECT_EQ(find_loop(file), *device) << "one device a volume";
    ASSERT_TRUE(await(volumes_->delete_volume("pvc-3")));
    ASSERT_TRUE(await(volumes_->delete_volume("pvc-3")));
    EXPECT_TRUE(list_dir(path_ + "/nodes/n1/volumes").empty());
}

TEST_F(LinuxVolumesHost, RemovedPodLeavesNothing) {
    const std::string hotplug = *await(volumes_->make_empty_dir(pod_, "hotplug-disks", false, std::nullopt, true));
    static_cast<void>(await(volumes_->make_empty_dir(pod_, "memory", true, std::nullopt, false)));
    const std::string claim = *await(volumes_->make_volume("pvc-4", 1_GiB, false));
    ASSERT_TRUE(write_plain(claim + "/disk.img", "precious", 0666));
    ASSERT_TRUE(make_dirs(hotplug + "/claim", 0777));
    ASSERT_EQ(::mount(claim.c_str(), (hotplug + "/claim").c_str(), nullptr, MS_BIND, nullptr), 0);
    ContainerSpec spec = shell("exec sleep 1000");
    spec.mounts = {
        {.host_path = hotplug, .container_path = "/path", .follows_host = true}
    };
    ASSERT_TRUE(await(runtime_->start(spec)));

    const Result<void> early = await(volumes_->remove_pod_dir(pod_));
    ASSERT_FALSE(early) << "its container runs";
    EXPECT_EQ(early.error().kind, ErrorKind::conflict);
    const std::string id = find("main")->id;
    ASSERT_TRUE(await(runtime_->signal(id, "KILL")));
    wait_exited("main");
    ASSERT_TRUE(await(runtime_->remove(id)));
    {
        const Fd held(::open((hotplug + "/claim/disk.img").c_str(), O_RDONLY | O_CLOEXEC));
        EXPECT_EQ(await(volumes_->remove_pod_dir(pod_)).error().kind, ErrorKind::conflict) << "a mount is in use";
    }
    ASSERT_TRUE(await(volumes_->remove_pod_dir(pod_)));
    ASSERT_TRUE(await(volumes_->remove_pod_dir(pod_)));
    EXPECT_EQ(read_file(claim + "/disk.img"), "precious");
    EXPECT_TRUE(await(volumes_->list_pods())->empty());
    EXPECT_EQ(mounts_here(), std::vector<std::string>{});
    for (const std::string& hierarchy : cgroup_hierarchies())
        EXPECT_FALSE(exists(hierarchy + data_->paths().cgroup() + "/" + pod_.value));
}

TEST_F(LinuxVolumesHost, ForgottenMountSavesTheDataBehindIt) {
    const std::string claim = *await(volumes_->make_volume("pvc-5", 1_GiB, false));
    ASSERT_TRUE(write_plain(claim + "/disk.img", "precious", 0666));
    const std::string folder = *await(volumes_->make_empty_dir(pod_, "data", false, std::nullopt, false));
    ASSERT_TRUE(make_dirs(folder + "/claim", 0777));
    ASSERT_EQ(::mount(claim.c_str(), (folder + "/claim").c_str(), nullptr, MS_BIND, nullptr), 0);
    const Result<void> removed = remove_tree(folder);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().kind, ErrorKind::conflict);
    EXPECT_EQ(read_file(claim + "/disk.img"), "precious");
}

TEST_F(LinuxVolumesHost, PathsAreChecked) {
    struct Row {
        std::string path, type;
        std::optional<ErrorKind> wanted;
    };
    ASSERT_TRUE(write_plain(path_ + "/file", "", 0644));
    const Row rows[] = {
        {path_,               "Directory",         std::nullopt        },
        {path_,               "",                  std::nullopt        },
        {path_,               "File",              ErrorKind::invalid  },
        {path_ + "/file",     "File",              std::nullopt        },
        {path_ + "/file",     "DirectoryOrCreate", ErrorKind::invalid  },
        {path_ + "/none",     "Directory",         ErrorKind::not_found},
        {path_ + "/none",     "",                  ErrorKind::not_found},
        {path_ + "/made/new", "DirectoryOrCreate", std::nullopt        },
        {"relative",          "",                  ErrorKind::invalid  },
        {"/dev/null",         "CharDevice",        std::nullopt        },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.path + " " + row.type);
        const Result<std::string> opened = await(volumes_->open_path(row.path, row.type, std::nullopt));
        if (row.wanted)
            EXPECT_EQ(opened.error().kind, *row.wanted);
        else
            EXPECT_EQ(opened, row.path);
    }
}

TEST_F(LinuxVolumesHost, SecondInstanceIsTold) {
    const Result<DataDir> second = DataDir::open(path_, "");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::conflict);
    EXPECT_NE(second.error().message.find("--data-dir"), std::string::npos) << second.error().message;
    EXPECT_FALSE(clean_up(path_, Duration{})) << "nobody cleans under a running one";
}

TEST_F(LinuxVolumesHost, ImagesRun) {
    const std::string busybox = read_file("/usr/bin/busybox").value_or("");
    write_image(
        data_->paths().images() + "/box",
        {
            {{'f', "bin/busybox", busybox, 0755},
             {'l', "bin/sh", "busybox"},
             {'d', "etc", "", 0755},
             {'d', "tmp", "", 01777}}
    },
        R"({"config":{"Entrypoint":["/bin/sh","-c","echo $WHO; cat /etc/hostname; busybox touch /new && echo writable"],"Env":["WHO=image"]}})"
    );
    write_image(data_->paths().images() + "/disk", {{{'f', "disk/disk.raw", "disk content"}}});
    ContainerSpec spec = shell("");
    spec.argv = {};
    spec.image = "box";
    spec.uid = 0;
    spec.gid = 0;
    EXPECT_EQ(printed_by(spec), "image\nweb\nwritable\n");
    EXPECT_FALSE(exists(data_->paths().images() + "/new"));

    ContainerSpec disk = shell("cat /disk/disk.raw; echo; touch /disk/x 2>/dev/null || echo read-only");
    disk.name = "volumeroot";
    disk.image = "disk";
    EXPECT_EQ(printed_by(disk), "disk content\nread-only\n");
}

TEST_F(LinuxVolumesHost, PurgeTakesWhatRunsToo) {
    static_cast<void>(await(volumes_->make_volume("pvc-6", 4_MiB, true)));
    static_cast<void>(await(volumes_->make_empty_dir(pod_, "hotplug-disks", false, std::nullopt, true)));
    ASSERT_TRUE(await(runtime_->start(shell("exec sleep 1000"))));
    const ProcessMark process = process_mark(find("main")->pid);
    const std::string group = data_->paths().cgroup();
    close_runtime();
    data_.reset();
    ASSERT_TRUE(purge(path_, Duration{}));
    ASSERT_TRUE(purge(path_, Duration{})) << "again is no error";
    EXPECT_FALSE(is_alive(process));
    EXPECT_EQ(mounts_here(), std::vector<std::string>{});
    EXPECT_EQ(mount_at(*read_mounts(), path_), nullptr);
    EXPECT_EQ(list_dir(path_), std::vector<std::string>{"images"});
    for (const std::string& hierarchy : cgroup_hierarchies()) EXPECT_FALSE(exists(hierarchy + group));
}

}  // namespace
}  // namespace berth::solo
