// Plugs on this machine: a pod as kubelet runs it for claims, a pod like a launcher's, and real mounts, nodes and
// rules.
#include "node/edge/linux_plugs.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <filesystem>

#include "node/edge/device_filter.hpp"
#include "node/edge/device_rules.hpp"
#include "solo/edge/cgroups.hpp"
#include "solo/edge/container_disk.hpp"
#include "solo/edge/host_test_world.hpp"
#include "solo/edge/linux_volumes.hpp"

namespace berth::node {
namespace {

using namespace std::chrono_literals;
using solo::ContainerSpec;

const Uid kMachine{"vmi-0001"};
const Uid kFileClaim{"aaaa0000-0000-4000-8000-000000000001"};
const Uid kBlockClaim{"aaaa0000-0000-4000-8000-000000000002"};
const Uid kThirdClaim{"aaaa0000-0000-4000-8000-000000000003"};

class LinuxPlugsHost : public solo::HostWorld {
protected:
    LinuxPlugsHost() { program_ = std::filesystem::read_symlink("/proc/self/exe"); }

    void SetUp() override {
        HostWorld::SetUp();
        if (!data_) return;
        const NodeName node{"n1"};
        volumes_.emplace(pool_, data_->paths(), node);
        open_plugs();
        launcher_dir_ = make_folder(pod_);
        attachment_dir_ = make_folder(attachment_pod_);
        files_ = *await(volumes_->make_volume("pvc-" + kFileClaim.value, 1_MiB, false));
        third_ = *await(volumes_->make_volume("pvc-" + kThirdClaim.value, 4_MiB, true));
        root_ = *await(volumes_->make_volume("pvc-root", 4_MiB, true));
        device_ = *await(volumes_->make_volume("pvc-" + kBlockClaim.value, 4_MiB, true));
        ASSERT_TRUE(solo::write_plain(files_ + "/disk.img", "file data", 0600));
    }

    void TearDown() override {
        for (const char* name : {"compute", "hotplug-disk"}) {
            if (!runtime_) break;
            if (const auto found = find(name)) await(runtime_->signal(found->id, "KILL"));
        }
        if (plugs_) await(plugs_->unplug_all(host_));
        HostWorld::TearDown();
    }

    void open_plugs() {
        const solo::NodeDir dir = data_->paths().node(NodeName{"n1"});
        plugs_.emplace(pool_, PlugDirs{dir.pods(), dir.plugs(), data_->paths().cgroup()});
    }

    std::string make_folder(const Uid& pod) {
        EXPECT_TRUE(await(volumes_->make_pod_dir(pod)));
        return *await(volumes_->make_empty_dir(pod, "hotplug-disks", false, std::nullopt, true));
    }

    ContainerSpec container(const Uid& pod, const std::string& name, const std::string& script) {
        ContainerSpec spec = shell(script);
        spec.pod_uid = pod;
        spec.name = name;
        spec.env = {
            {"ASAN_OPTIONS", "detect_leaks=0"}
        };
        return spec;
    }

    /// The pod that kubelet runs for both claims, as hotplug.md 6.1 writes it.
    void start_attachment_pod() {
        ContainerSpec spec = container(attachment_pod_, "hotplug-disk", "/usr/bin/container-disk --copy-path /path/hp");
        spec.mounts = {
            {.host_path = attachment_dir_, .container_path = "/path", .follows_host = true},
            {.host_path = files_, .container_path = "/hotplug/data"}
        };
        spec.devices = {
            {.host_path = device_, .container_path = "/path/raw/" + kBlockClaim.value  },
            {.host_path = third_,  .container_path = "/path/third/" + kThirdClaim.value}
        };
        const Result<void> started = await(runtime_->start(spec));
        ASSERT_TRUE(started) << started.error().message;
        run_until([&] { return solo::exists(attachment_dir_ + "/hp.sock"); });
    }

    /// A container with the launcher's folder.
    void start_launcher() {
        ContainerSpec spec = container(pod_, "compute", "exec sleep 1000");
        spec.mounts = {
            {.host_path = launcher_dir_, .container_path = "/var/run/kubevirt/hotplug-disks", .follows_host = true}
        };
        spec.devices = {
            {.host_path = root_, .container_path = "/dev/root"}
        };
        const Result<void> started = await(runtime_->start(spec));
        ASSERT_TRUE(started) << started.error().message;
    }

    /// What a command prints that sees the launcher's files and is held by its device rules.
    std::string in_launcher(const std::string& command) {
        const std::string group = "/sys/fs/cgroup/devices" + data_->paths().cgroup() + "/" + pod_.value + "/compute";
        const std::string line = "echo $$ >" + group + "/cgroup.procs; cd /proc/" +
                                 std::to_string(find("compute")->pid) + "/root/run/kubevirt/hotplug-disks; " + command;
        FILE* const out = ::popen(line.c_str(), "re");
        std::string text;
        char buffer[512];
        while (out != nullptr && std::fgets(buffer, sizeof buffer, out) != nullptr) text += buffer;
        if (out != nullptr) ::pclose(out);
        return text;
    }

    Plug file_plug() const { return {.volume = "data", .claim = kFileClaim, .attachment_pod = attachment_pod_}; }
    Plug block_plug() const {
        return {.volume = "raw", .claim = kBlockClaim, .attachment_pod = attachment_pod_, .block = true};
    }

    Result<void> plug(const Plug& wanted) {
        Result<void> done;
        // The socket file is there a moment before somebody listens.
        run_until([&] {
            done = await(plugs_->plug(host_, wanted));
            return done || done.error().kind != ErrorKind::unavailable;
        });
        return done;
    }

    std::string record_path() const { return data_->paths().node(NodeName{"n1"}).plugs() + "/" + kMachine.value; }

    std::string seen() {
        std::string out;
        const Result<std::vector<Plug>> all = await(plugs_->look(host_));
        if (!all) return all.error().message;
        for (const Plug& one : *all) out += one.volume + (one.in_place ? " in place; " : " missing; ");
        return out;
    }

    static std::size_t mounts() { return solo::read_mounts()->size(); }

    dev_t rdev() const {
        struct stat status{};
        EXPECT_EQ(::stat(device_.c_str(), &status), 0);
        return status.st_rdev;
    }

    bool is_device_allowed() const {
        return *is_allowed(data_->paths().cgroup() + "/" + pod_.value + "/compute", rdev());
    }

    const Uid attachment_pod_{"99999999-2222-4333-8444-555555555555"};
    const PlugHost host_{kMachine, pod_};
    std::optional<solo::LinuxVolumes> volumes_;
    std::optional<LinuxPlugs> plugs_;
    std::string launcher_dir_;
    std::string attachment_dir_;
    std::string files_;
    std::string device_;
    std::string third_;
    std::string root_;  ///< a permanent volume of the machine
};

TEST_F(LinuxPlugsHost, H55_H57_FileIsSeenInTheLauncherAndGoes) {
    start_attachment_pod();
    start_launcher();
    const std::size_t mounts_before = mounts();
    const Monotonic start = clock_.monotonic();
    const Result<void> done = plug(file_plug());
    std::printf("plug of a file: %.2f ms\n", static_cast<double>((clock_.monotonic() - start).count()) / 1000);
    ASSERT_TRUE(done) << done.error().message;

    const std::string target = launcher_dir_ + "/data.img";
    struct stat there{};
    struct stat source{};
    ASSERT_EQ(::stat(target.c_str(), &there), 0);
    ASSERT_EQ(::stat((files_ + "/disk.img").c_str(), &source), 0);
    EXPECT_EQ(there.st_ino, source.st_ino);
    EXPECT_EQ(there.st_dev, source.st_dev);
    EXPECT_EQ(there.st_uid, 107U);
    EXPECT_EQ(there.st_gid, 107U);
    EXPECT_NE(solo::mount_at(*solo::read_mounts(), target), nullptr);
    EXPECT_EQ(in_launcher("cat data.img"), "file data");

    for (int pass = 0; pass < 10; ++pass) ASSERT_TRUE(plug(file_plug()));
    EXPECT_EQ(mounts(), mounts_before + 1);
    const json::Value record = *json::parse(*solo::read_file(record_path()));
    ASSERT_EQ(record.at("mountTargetEntries").as_array().size(), 1U) << "H-57: each target once";
    EXPECT_EQ(json::text_at(record, "/mountTargetEntries/0/targetFile"), target);
    EXPECT_TRUE(json::bool_at(record, "/usesSafePaths"));
    EXPECT_EQ(seen(), "data in place; ");

    const Result<void> gone = await(plugs_->unplug(host_, "data"));
    ASSERT_TRUE(gone) << gone.error().message;
    EXPECT_FALSE(solo::exists(record_path())) << "H-57: the last volume takes the file along";
    EXPECT_FALSE(solo::exists(target));
    EXPECT_EQ(mounts(), mounts_before);
    EXPECT_EQ(solo::read_file(files_ + "/disk.img"), "file data");
    EXPECT_EQ(in_launcher("cat data.img 2>/dev/null || echo gone"), "gone\n");
    EXPECT_TRUE(await(plugs_->unplug(host_, "data"))) << "what is gone is a success";
}

TEST_F(LinuxPlugsHost, H56_BlockDeviceIsAllowedAndDenied) {
    start_attachment_pod();
    start_launcher();
    const Monotonic start = clock_.monotonic();
    const Result<void> done = plug(block_plug());
    std::printf("plug of a device: %.2f ms\n", static_cast<double>((clock_.monotonic() - start).count()) / 1000);
    ASSERT_TRUE(done) << done.error().message;
    struct stat there{};
    ASSERT_EQ(::lstat((launcher_dir_ + "/raw").c_str(), &there), 0);
    ASSERT_TRUE(S_ISBLK(there.st_mode));
    EXPECT_EQ(there.st_rdev, rdev());
    EXPECT_EQ(there.st_uid, 107U);
    EXPECT_EQ(in_launcher("dd if=raw bs=1 count=1 2>/dev/null | wc -c"), "1\n");
    EXPECT_EQ(seen(), "raw in place; ");

    ASSERT_TRUE(await(plugs_->unplug(host_, "raw")));
    EXPECT_FALSE(is_device_allowed());
    EXPECT_FALSE(solo::exists(launcher_dir_ + "/raw"));
    EXPECT_FALSE(solo::exists(record_path()));
}

TEST_F(LinuxPlugsHost, H58_RestartKeepsPermanentAndPluggedDevices) {
    start_attachment_pod();
    start_launcher();
    const std::size_t mounts_before = mounts();
    ASSERT_TRUE(plug(block_plug()));
    open_plugs();  // a new agent on the same machine
    EXPECT_EQ(seen(), "raw in place; ");
    ASSERT_TRUE(plug({.volume = "third", .claim = kThirdClaim, .attachment_pod = attachment_pod_, .block = true}));
    EXPECT_EQ(seen(), "raw in place; third in place; ");
    for (const char* device : {"raw", "third", "../../../dev/root"}) {
        SCOPED_TRACE(device);
        EXPECT_EQ(in_launcher("dd if=" + std::string(device) + " bs=1 count=1 2>/dev/null | wc -c"), "1\n");
    }
    ASSERT_TRUE(plug(file_plug()));
    EXPECT_EQ(*await(plugs_->hosts()), std::vector<PlugHost>{host_});

    ASSERT_TRUE(await(plugs_->unplug_all(host_)));
    EXPECT_EQ(mounts(), mounts_before);
    EXPECT_FALSE(is_device_allowed());
    EXPECT_FALSE(solo::exists(record_path()));
    EXPECT_TRUE(await(plugs_->hosts())->empty());
    EXPECT_EQ(in_launcher("dd if=../../../dev/root bs=1 count=1 2>/dev/null | wc -c"), "1\n") << "it is not ours";
}

TEST_F(LinuxPlugsHost, UnifiedGroupsHaveOneProgramThatIsReplacedWhole) {
    std::string unified;
    for (const solo::MountPoint& mount : *solo::read_mounts()) {
        if (mount.fs_type == "cgroup2") unified = mount.path;
    }
    if (unified.empty()) GTEST_SKIP() << "needs a cgroup v2 mount";
    const std::string group = unified + "/berth-device-test-" + std::to_string(::getpid());
    ASSERT_TRUE(solo::make_dirs(group, 0755));
    const auto node = [&](const std::string& name, const std::string& device) {
        struct stat status{};
        EXPECT_EQ(::stat(device.c_str(), &status), 0);
        EXPECT_EQ(::mknod((path_ + "/" + name).c_str(), S_IFBLK | 0660, status.st_rdev), 0);
        return DeviceRule{'b', gnu_dev_major(status.st_rdev), gnu_dev_minor(status.st_rdev)};
    };
    const DeviceRule first = node("first", device_);
    const DeviceRule second = node("second", third_);
    // "first second null", those that a process of the group can read
    const auto readable = [&] {
        std::string script = "echo $$ >" + group + "/cgroup.procs; cd " + path_ +
                             "; for d in first second /dev/null; do " +
                             "dd if=$d bs=1 count=1 >/dev/null 2>&1 && printf '%s ' $d; done";
        FILE* const out = ::popen(script.c_str(), "re");
        char line[128] = {};
        if (std::fgets(line, sizeof line, out) == nullptr) line[0] = '\0';
        ::pclose(out);
        return std::string(line);
    };
    std::vector<DeviceRule> rules = default_device_rules();
    ASSERT_TRUE(set_device_rules(group, rules));
    EXPECT_EQ(readable(), "/dev/null ");
    rules.push_back(first);
    ASSERT_TRUE(set_device_rules(group, rules));
    EXPECT_EQ(readable(), "first /dev/null ") << "a stale program that only forbids would still hold";
    rules.push_back(second);
    ASSERT_TRUE(set_device_rules(group, rules));
    EXPECT_EQ(readable(), "first second /dev/null ");
    rules.resize(rules.size() - 2);
    rules.push_back({'b', first.major, first.minor, true, false, true});
    ASSERT_TRUE(set_device_rules(group, rules));
    EXPECT_EQ(readable(), "first /dev/null ");
    EXPECT_EQ(::rmdir(group.c_str()), 0);
}

// A machine with devices of the host passed through: they stay allowed when a block volume comes and when it goes.
TEST_F(LinuxPlugsHost, R28_PassedThroughDevicesStayAllowed) {
    SCOPED_TRACE("hotplug/R-28");
    std::string unified;
    for (const solo::MountPoint& mount : *solo::read_mounts()) {
        if (mount.fs_type == "cgroup2") unified = mount.path;
    }
    if (unified.empty()) GTEST_SKIP() << "needs a cgroup v2 mount";
    const std::string group = unified + "/berth-passthrough-test-" + std::to_string(::getpid());
    const std::string dev = path_ + "/dev";
    struct Node {
        std::string name;
        dev_t device;
    };
    // Nothing has to be behind them: the kernel asks the rules first.
    const Node passed[] = {
        {"vfio/vfio",       gnu_dev_makedev(10,  196)},
        {"vfio/12",         gnu_dev_makedev(511, 12) },
        {"bus/usb/001/002", gnu_dev_makedev(189, 1)  },
    };
    for (const char* folder : {"/vfio", "/bus/usb/001"}) ASSERT_TRUE(solo::make_dirs(dev + folder, 0755));
    for (const Node& one : passed)
        ASSERT_EQ(::mknod((dev + "/" + one.name).c_str(), S_IFCHR | 0660, one.device), 0) << one.name;
    const std::string stranger = path_ + "/stranger";
    ASSERT_EQ(::mknod(stranger.c_str(), S_IFCHR | 0660, gnu_dev_makedev(189, 2)), 0);
    const std::string plugged = path_ + "/plugged";
    ASSERT_EQ(::mknod(plugged.c_str(), S_IFBLK | 0660, rdev()), 0);
    ASSERT_TRUE(solo::make_dirs(group, 0755));
    const auto is_refused = [&](const std::string& path) {
        const std::string script = "echo $$ >" + group + "/cgroup.procs; LC_ALL=C head -c 1 " + path +
                                   " 2>&1 >/dev/null | grep -c 'not permitted'";
        FILE* const out = ::popen(script.c_str(), "re");
        const int first = std::fgetc(out);
        ::pclose(out);
        return first == '1';
    };
    const std::vector<dev_t> steps[] = {{}, {rdev()}, {}};
    for (const std::vector<dev_t>& now : steps) {
        SCOPED_TRACE(now.size());
        ASSERT_TRUE(set_device_rules(group, rules_of_group(dev, now)));
        for (const Node& one : passed) EXPECT_FALSE(is_refused(dev + "/" + one.name)) << one.name;
        EXPECT_TRUE(is_refused(stranger)) << "only what the machine was given";
        EXPECT_EQ(is_refused(plugged), now.empty());
    }
    EXPECT_EQ(::rmdir(group.c_str()), 0);
}

TEST_F(LinuxPlugsHost, R32_MountsDoNotGrowOverRestarts) {
    start_attachment_pod();
    start_launcher();
    ASSERT_TRUE(plug(file_plug()));
    const std::size_t before = mounts();
    for (int restart = 0; restart < 12; ++restart) {
        open_plugs();
        EXPECT_EQ(seen(), "data in place; ");
        ASSERT_TRUE(plug(file_plug()));
    }
    EXPECT_EQ(mounts(), before);
}

TEST_F(LinuxPlugsHost, H60_ClaimWithoutAnImage) {
    start_attachment_pod();
    start_launcher();
    ASSERT_TRUE(solo::remove_tree(files_ + "/disk.img"));
    const Result<void> refused = plug(file_plug());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::not_found) << refused.error().message;
    EXPECT_FALSE(solo::exists(record_path()));
    EXPECT_FALSE(solo::exists(launcher_dir_ + "/data.img")) << "no image is ever made";
    ASSERT_TRUE(solo::write_plain(files_ + "/disk.img", "late", 0600));
    ASSERT_TRUE(plug(file_plug()));
    EXPECT_EQ(in_launcher("cat data.img"), "late");
}

TEST_F(LinuxPlugsHost, H59_BusyMountIsKeptAndTheOtherGoes) {
    start_attachment_pod();
    start_launcher();
    ASSERT_TRUE(plug(file_plug()));
    ASSERT_TRUE(plug(block_plug()));
    {
        const Fd held(::open((launcher_dir_ + "/data.img").c_str(), O_RDONLY | O_CLOEXEC));
        const Result<void> busy = await(plugs_->unplug(host_, "data"));
        ASSERT_FALSE(busy);
        EXPECT_NE(busy.error().message.find("busy"), std::string::npos) << busy.error().message;
        ASSERT_TRUE(await(plugs_->unplug(host_, "raw")));
        EXPECT_EQ(seen(), "data in place; ");
    }
    ASSERT_TRUE(await(plugs_->unplug(host_, "data")));
    EXPECT_EQ(seen(), "");
}

TEST_F(LinuxPlugsHost, R29_RecordedAndNeverMounted) {
    start_attachment_pod();
    start_launcher();
    ASSERT_TRUE(plug(file_plug()));
    // The agent died between the record and the mount.
    ASSERT_TRUE(solo::unmount(launcher_dir_ + "/data.img"));
    open_plugs();
    EXPECT_EQ(seen(), "data missing; ");
    ASSERT_TRUE(await(plugs_->unplug(host_, "data")));
    EXPECT_EQ(seen(), "");
    EXPECT_FALSE(solo::exists(launcher_dir_ + "/data.img")) << "no empty file stays";
}

TEST_F(LinuxPlugsHost, R33_LinksAreNotFollowed) {
    start_attachment_pod();
    start_launcher();
    const std::string victim = path_ + "/victim";
    ASSERT_TRUE(solo::write_plain(victim, "untouched", 0600));
    for (const char* name : {"data.img", "raw"})
        ASSERT_EQ(::symlink(victim.c_str(), (launcher_dir_ + "/" + name).c_str()), 0);
    const std::size_t before = mounts();
    EXPECT_EQ(plug(file_plug()).error().kind, ErrorKind::io);
    EXPECT_EQ(plug(block_plug()).error().kind, ErrorKind::io);
    EXPECT_EQ(await(plugs_->unplug(host_, "data")).error().kind, ErrorKind::io);
    EXPECT_EQ(await(plugs_->unplug(host_, "raw")).error().kind, ErrorKind::io);
    EXPECT_EQ(mounts(), before);
    struct stat status{};
    ASSERT_EQ(::stat(victim.c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, ::getuid());
    EXPECT_EQ(solo::read_file(victim), "untouched");
    EXPECT_TRUE(std::filesystem::is_symlink(launcher_dir_ + "/data.img"));
}

TEST_F(LinuxPlugsHost, AnotherClaimUnderTheSameNameWaitsForTheOldPlug) {
    start_attachment_pod();
    start_launcher();
    ASSERT_TRUE(plug(file_plug()));
    Plug other = file_plug();
    other.claim = Uid{"another"};
    EXPECT_EQ(plug(other).error().kind, ErrorKind::conflict);
    EXPECT_EQ(seen(), "data in place; ");
}

TEST_F(LinuxPlugsHost, OneMachineHasAClaim) {
    start_attachment_pod();
    start_launcher();
    ASSERT_TRUE(plug(file_plug()));
    const Uid second_pod{"22222222-2222-4333-8444-555555555555"};
    make_folder(second_pod);
    const PlugHost second{Uid{"vmi-0002"}, second_pod};
    const Result<void> refused = await(plugs_->plug(second, file_plug()));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::conflict);
    EXPECT_NE(refused.error().message.find(kMachine.value), std::string::npos) << refused.error().message;
    Plug shared = file_plug();
    shared.shared = true;
    ASSERT_TRUE(await(plugs_->plug(second, shared)));
    ASSERT_TRUE(await(plugs_->unplug_all(second)));
}

TEST_F(LinuxPlugsHost, DamagedRecordIsRebuiltFromTheKernel) {
    start_attachment_pod();
    start_launcher();
    ASSERT_TRUE(plug(file_plug()));
    ASSERT_TRUE(plug(block_plug()));
    ASSERT_TRUE(solo::write_plain(record_path(), R"({"mountTargetEntries":[],"usesSafePaths":true})", 0600));
    const std::vector<Plug> found = *await(plugs_->look(host_));
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(found[0].in_place && found[1].in_place);
    EXPECT_TRUE(found[0].claim.empty()) << "the kernel does not know claims";
    ASSERT_TRUE(plug(file_plug()));
    Plug wrong = block_plug();
    wrong.claim = Uid{"wrong"};
    EXPECT_EQ((*await(plugs_->look(host_)))[0].claim, kFileClaim) << "the same file: it is this claim's";
    ASSERT_TRUE(plug(block_plug()));
    EXPECT_EQ(seen(), "data in place; raw in place; ");
}

TEST_F(LinuxPlugsHost, R30_PlugsOfAnotherPodAreLeftAlone) {
    start_attachment_pod();
    start_launcher();
    ASSERT_TRUE(plug(file_plug()));
    const Uid second_pod{"22222222-2222-4333-8444-555555555555"};
    make_folder(second_pod);
    const PlugHost second{kMachine, second_pod};
    EXPECT_TRUE(await(plugs_->look(second))->empty());
    ASSERT_TRUE(await(plugs_->unplug(second, "data")));
    ASSERT_TRUE(await(plugs_->unplug_all(second)));
    EXPECT_EQ(seen(), "data in place; ");
}

/// Runs calls where they are asked for: a forked child has no other threads.
class Inline final : public Blocking {
public:
    Task<void> run(std::function<void()> work) override {
        work();
        co_return;
    }
};

// Every act of a plug and of an unplug, and the agent killed right before it. What a new agent finds, it ends.
TEST_F(LinuxPlugsHost, H88_KilledBeforeEachAct) {
    start_attachment_pod();
    start_launcher();
    ASSERT_TRUE(plug(file_plug()));  // everybody listens
    ASSERT_TRUE(await(plugs_->unplug_all(host_)));
    const std::size_t mounts_before = mounts();
    const solo::NodeDir dir = data_->paths().node(NodeName{"n1"});
    const PlugDirs dirs{dir.pods(), dir.plugs(), data_->paths().cgroup()};

    // Runs one call in a process that ends before its act number `last`; whether it got to its end.
    const auto ends = [&](int last, bool is_plug, const Plug& subject) {
        const pid_t child = ::fork();
        if (child == 0) {
            int acts = 0;
            Inline inline_calls;
            LinuxPlugs plugs(inline_calls, dirs, [&](const char*) {
                if (acts++ == last) ::_exit(9);
            });
            boost::asio::io_context own;
            TaskGroup group(own.get_executor());
            std::optional<Result<void>> done;
            group.spawn(
                "call",
                solo::keep_result(is_plug ? plugs.plug(host_, subject) : plugs.unplug(host_, subject.volume), done)
            );
            own.run();
            ::_exit(done && *done ? 0 : 1);
        }
        int status = 0;
        EXPECT_EQ(::waitpid(child, &status, 0), child);
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) != 1) << "the call failed";
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
    };
    for (const Plug& subject : {file_plug(), block_plug()}) {
        for (int last = 0;; ++last) {
            SCOPED_TRACE(subject.volume + ", plug killed before act " + std::to_string(last));
            const bool whole = ends(last, true, subject);
            open_plugs();
            // The volume is still wanted: the new agent plugs it. Or it is not: the new agent takes all of it away.
            if (last % 2 == 0) {
                ASSERT_TRUE(plug(subject));
                EXPECT_EQ(seen(), subject.volume + " in place; ");
            }
            ASSERT_TRUE(await(plugs_->unplug(host_, subject.volume)));
            EXPECT_EQ(seen(), "");
            EXPECT_EQ(mounts(), mounts_before);
            EXPECT_FALSE(is_device_allowed());
            EXPECT_FALSE(solo::exists(record_path()));
            if (whole) break;
            ASSERT_LT(last, 20);
        }
        for (int last = 0;; ++last) {
            SCOPED_TRACE(subject.volume + ", unplug killed before act " + std::to_string(last));
            ASSERT_TRUE(plug(subject));
            const bool whole = ends(last, false, subject);
            open_plugs();
            if (!whole) EXPECT_NE(seen(), "") << "the record goes last";
            ASSERT_TRUE(await(plugs_->unplug(host_, subject.volume)));
            EXPECT_EQ(seen(), "");
            EXPECT_EQ(mounts(), mounts_before);
            EXPECT_FALSE(is_device_allowed());
            EXPECT_FALSE(solo::exists(record_path()));
            if (whole) break;
            ASSERT_LT(last, 20);
        }
    }
    EXPECT_EQ(solo::read_file(files_ + "/disk.img"), "file data");
}

TEST_F(LinuxPlugsHost, RemovedPodFolderSparesTheClaim) {
    start_attachment_pod();
    start_launcher();
    ASSERT_TRUE(plug(file_plug()));
    const auto compute = find("compute");
    ASSERT_TRUE(await(runtime_->signal(compute->id, "KILL")));
    wait_exited("compute");
    ASSERT_TRUE(await(runtime_->remove(compute->id)));
    const Result<void> removed = await(volumes_->remove_pod_dir(pod_));
    ASSERT_TRUE(removed) << removed.error().message;
    EXPECT_EQ(solo::read_file(files_ + "/disk.img"), "file data");
    EXPECT_EQ(seen(), "data missing; ");
    ASSERT_TRUE(await(plugs_->unplug_all(host_)));
    EXPECT_FALSE(solo::exists(record_path()));
}

}  // namespace
}  // namespace berth::node

int main(int argc, char** argv) {
    const std::string name = std::filesystem::path(argv[0]).filename();
    if (name == "container-disk") return berth::solo::container_disk_main(argc, argv);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
