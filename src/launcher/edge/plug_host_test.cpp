// Plugged disks of a real guest: libvirt, QEMU, and what the guest sees of them.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "launcher/edge/pod_test_world.hpp"

namespace berth::launcher {
namespace {

struct TestPlug {
    std::string name;
    std::string bus = "scsi";
    std::string serial;
    std::string more;  ///< further fields of the disk, ", \"cache\": \"none\""
    std::string kind = "disk";
    bool block = false;
    bool told = true;  ///< false: in the spec, and not in place yet
    std::int64_t size = 0;
};

class PluggedPod : public LauncherPod {
protected:
    void TearDown() override {
        if (libvirt_ != nullptr) virConnectClose(libvirt_);
        if (!folder_.empty()) ::umount2(folder_.c_str(), MNT_DETACH);
        if (loop_) ::ioctl(*loop_, LOOP_CLR_FD, 0);
        if (loop_) ::close(*loop_);
        LauncherPod::TearDown();
    }

    /// The running domain, by the daemon inside the pod.
    virDomainPtr domain() {
        const auto pod = find("compute");
        const std::string socket = "/proc/" + std::to_string(pod->pid) + "/root/run/berth/run/libvirt/libvirt-sock";
        virSetErrorFunc(nullptr, [](void*, virErrorPtr) {});
        if (libvirt_ == nullptr) libvirt_ = virConnectOpen(("qemu+unix:///session?socket=" + socket).c_str());
        virDomainPtr found = libvirt_ == nullptr ? nullptr : virDomainLookupByName(libvirt_, "default_web");
        EXPECT_NE(found, nullptr) << virGetLastErrorMessage();
        return found;
    }
    void suspend() {
        virDomainPtr guest = domain();
        EXPECT_EQ(virDomainSuspend(guest), 0);
        virDomainFree(guest);
    }
    void resume() {
        virDomainPtr guest = domain();
        EXPECT_EQ(virDomainResume(guest), 0);
        virDomainFree(guest);
    }
    std::string live_xml() {
        virDomainPtr guest = domain();
        char* const text = virDomainGetXMLDesc(guest, 0);
        std::string out = text == nullptr ? "" : text;
        std::free(text);
        virDomainFree(guest);
        return out;
    }

    /// The folder of plugged disks on a file system that refuses O_DIRECT.
    void without_direct_io() {
        folder_ = volume("hotplug-disks");
        ASSERT_EQ(::mount("ramfs", folder_.c_str(), "ramfs", 0, nullptr), 0) << std::strerror(errno);
        ASSERT_EQ(::chown(folder_.c_str(), 107, 107), 0);
    }

    /// A loop device in the pod's folder, which the pod may use.
    void make_device(const std::string& name) {
        const std::string backing = path_ + "/" + name + ".backing";
        std::ofstream(backing) << "";
        fs::resize_file(backing, 8 << 20);
        const int control = ::open("/dev/loop-control", O_RDWR | O_CLOEXEC);
        const int number = ::ioctl(control, LOOP_CTL_GET_FREE);
        ::close(control);
        const int file = ::open(backing.c_str(), O_RDWR | O_CLOEXEC);
        loop_ = ::open(("/dev/loop" + std::to_string(number)).c_str(), O_RDWR | O_CLOEXEC);
        ASSERT_EQ(::ioctl(*loop_, LOOP_SET_FD, file), 0) << std::strerror(errno);
        ::close(file);
        const fs::path node = fs::path(volume("hotplug-disks")) / name;
        const unsigned minor_number = static_cast<unsigned>(number);
        ASSERT_EQ(::mknod(node.c_str(), S_IFBLK | 0660, makedev(7, minor_number)), 0) << std::strerror(errno);
        ASSERT_EQ(::chown(node.c_str(), 107, 107), 0);
        const auto pod = find("compute");
        const std::string groups = read("/proc/" + std::to_string(pod->pid) + "/cgroup");
        std::smatch match;
        ASSERT_TRUE(std::regex_search(groups, match, std::regex(":devices:(\\S+)"))) << groups;
        std::ofstream allow("/sys/fs/cgroup/devices" + match[1].str() + "/devices.allow");
        allow << "b 7:" << number << " rwm";
        ASSERT_TRUE(allow.flush());
    }

    fs::path file(const std::string& name) { return fs::path(volume("hotplug-disks")) / (name + ".img"); }

    void make_file(const std::string& name, std::uintmax_t size = 8 << 20) {
        std::ofstream(file(name)) << "";
        fs::resize_file(file(name), size);
        ASSERT_EQ(::chown(file(name).c_str(), 107, 107), 0);
    }

    void wish(const std::vector<TestPlug>& plugs) {
        std::string disks;
        std::string volumes;
        std::vector<agent::VolumePath> paths;
        for (const TestPlug& plug : plugs) {
            disks += R"(, {"name": ")" + plug.name + R"(", ")" + plug.kind + R"(": {"bus": ")" + plug.bus + "\"}" +
                     (plug.serial.empty() ? "" : R"(, "serial": ")" + plug.serial + "\"") + plug.more + "}";
            volumes += R"(, {"name": ")" + plug.name + R"(", "persistentVolumeClaim": {"claimName": ")" + plug.name +
                       R"(", "hotpluggable": true}})";
            if (!plug.told) continue;
            agent::VolumePath path;
            path.name = plug.name;
            path.path = std::string(kHotplugDisksDir) + "/" + plug.name + (plug.block ? "" : ".img");
            path.block = plug.block;
            path.size = plug.size;
            paths.push_back(std::move(path));
        }
        auto vmi = json::parse(
            R"({"metadata": {"name": "web", "namespace": "default", "uid": "u1"}, "spec": {
                "domain": {"memory": {"guest": "128Mi"}, "devices": {"disks": [{"name": "root", "disk": {"bus": "virtio"}})" +
            disks + R"(]}}, "volumes": [{"name": "root", "containerDisk": {"image": "berth.local/guest"}})" + volumes +
            "]}}"
        );
        ASSERT_TRUE(vmi) << vmi.error().message;
        last_.reset();
        const Result<void> sent = await(link_->sync(*vmi, std::move(paths)));
        ASSERT_TRUE(sent) << sent.error().message;
    }

    void boot(const std::vector<TestPlug>& plugs = {}) {
        bring_root();
        start_pod();
        wish(plugs);
        wait_state("running");
        open_console();
        wait_console("GUEST-READY");
        while (said_.find("NET-UP") == said_.npos && !testing::Test::HasFatalFailure()) wait_console("\\n");
        matched_ = said_.size();
    }

    /// The report of now if it fits, else the first one that does.
    agent::Report wait_report(const std::function<bool(const agent::Report&)>& fits) {
        if (!last_ || !fits(*last_)) last_ = LauncherPod::wait_report(fits);
        return *last_;
    }

    static bool has(const agent::Report& report, const std::string& name) {
        return std::ranges::any_of(report.disks, [&](const auto& disk) { return disk.name == name; });
    }
    std::string wait_target(const std::string& name) {
        const agent::Report report = wait_report([&](const agent::Report& each) { return has(each, name); });
        const auto disk = std::ranges::find(report.disks, name, &agent::DiskReport::name);
        return disk == report.disks.end() ? "" : disk->target;
    }
    void wait_gone(const std::string& name) {
        wait_report([&](const agent::Report& report) {
            return !has(report, name) &&
                   std::ranges::none_of(report.detaching, [&](const auto& each) { return each.name == name; });
        });
    }
    virConnectPtr libvirt_ = nullptr;
    std::string folder_;  ///< mounted
    std::optional<int> loop_;
    std::optional<agent::Report> last_;  ///< none: nothing was reported since the last wish

    std::string wait_error(const std::string& name) {
        std::string message;
        wait_report([&](const agent::Report& report) {
            for (const agent::DiskError& error : report.disk_errors)
                if (error.name == name) message = error.message;
            return !message.empty();
        });
        return message;
    }
};

// A disk comes while the guest runs, is written, goes, and comes back with another serial and its data.
TEST_F(PluggedPod, H64_ScsiFileComesAndGoes) {
    boot();
    make_file("logs");
    wish({
        {.name = "logs", .serial = "Logs-A"}
    });
    EXPECT_EQ(wait_target("logs"), "sda");
    wait_console("BLK add sda sectors=16384 .*scsi-0QEMU_QEMU_HARDDISK_Logs-A");
    type(
        "echo kept | dd of=/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_Logs-A bs=512 seek=8 conv=sync 2>/dev/null; sync; "
        "echo T'1'=$?"
    );
    wait_console("T1=0");
    wish({});
    wait_gone("logs");
    wait_console("BLK remove sda");
    wish({
        {.name = "logs", .bus = "virtio", .serial = "Logs-B"}
    });
    EXPECT_EQ(wait_target("logs"), "vdb");
    wait_console("BLK add vdb sectors=16384 virtio-Logs-B");
    type("dd if=/dev/vdb bs=512 skip=8 count=1 2>/dev/null | head -c 4; echo -T'2'");
    wait_console("kept-T2");
    wish({});
    wait_gone("logs");
    wait_console("BLK remove vdb");
}

// The guest does not run, so it does not answer: its disk keeps its letter and is asked for again, and the others come
// and go. When it runs again it lets go.
TEST_F(PluggedPod, R11_GuestThatDoesNotAnswer) {
    make_file("slow");
    boot({
        {.name = "slow", .bus = "virtio", .serial = "Slow"}
    });
    EXPECT_EQ(wait_target("slow"), "vdb");
    suspend();
    wait_state("paused");
    wish({});
    wait_report([](const agent::Report& report) { return report.detaching.size() == 1; });
    make_file("next");
    wish({
        {.name = "next", .bus = "virtio", .serial = "Next"}
    });
    EXPECT_EQ(wait_target("next"), "vdc");
    const agent::Report again = wait_report([](const agent::Report& report) {
        return report.detaching.size() == 1 && report.detaching[0].requests == 2;
    });
    EXPECT_TRUE(has(again, "slow")) << "it stays reported until it is gone";
    EXPECT_GE(clock_.now() - again.detaching[0].since, 5s);
    kill_program("virt-launcher");
    while (await(link_->next())) continue;
    last_.reset();
    const agent::Report after = wait_report([](const agent::Report& report) { return !report.detaching.empty(); });
    EXPECT_EQ(after.detaching[0].since, again.detaching[0].since) << "the next launcher knows that it was asked";
    EXPECT_GE(after.detaching[0].requests, 2);
    wish({
        {.name = "next", .bus = "virtio", .serial = "Next"}
    });
    resume();
    wait_gone("slow");
    open_console();
    type("ls /dev/disk/by-id; echo T'1'");
    wait_console("virtio-Next\\r?\\nT1");
}

// A firmware loses the request, and nobody says so. The disk was there at boot, on a port that lets it go (9.13).
TEST_F(PluggedPod, R11_FirmwareLosesTheRequest) {
    make_file("early");
    bring_root();
    start_pod();
    wish({
        {.name = "early", .bus = "virtio", .serial = "Early"}
    });
    wait_state("running");
    EXPECT_EQ(wait_target("early"), "vdb");
    wish({});
    const agent::Report asked = wait_report([](const agent::Report& report) { return report.detaching.size() == 1; });
    EXPECT_EQ(asked.detaching[0].requests, 1);
    wait_gone("early");
}

// A libvirtd that died right behind QEMU's answer knows nothing of the disk. Nobody wants it any more: with the next
// connection it leaves the guest, and its file is closed.
TEST_F(PluggedPod, DiskThatLibvirtHasForgottenLeaves) {
    boot();
    make_file("known");
    wish({
        {.name = "known", .serial = "Known"}
    });
    EXPECT_EQ(wait_target("known"), "sda");
    wait_console("BLK add sda");
    virDomainPtr guest = domain();
    const auto tell = [&](const std::string& command) {
        char* said = nullptr;
        const int done = virDomainQemuMonitorCommand(guest, command.c_str(), &said, 0);
        const std::string out = said == nullptr ? virGetLastErrorMessage() : said;
        std::free(said);
        EXPECT_TRUE(done == 0 && out.find("\"error\"") == out.npos) << command << ": " << out;
    };
    for (const char* name : {"lost", "half"}) {
        make_file(name);
        tell(
            R"({"execute":"blockdev-add","arguments":{"driver":"file","filename":")" + std::string(kHotplugDisksDir) +
            "/" + name + R"(.img","node-name":"stray-)" + name + "\"}}"
        );
    }
    tell(
        R"({"execute":"device_add","arguments":{"driver":"scsi-hd","id":"ua-lost","drive":"stray-lost","bus":"scsi0.0","lun":9}})"
    );
    wait_console("BLK add sdb");
    virDomainFree(guest);
    const auto opened = [&] {
        std::string out;
        const fs::path fds = "/proc/" + std::to_string(guests().at(0)) + "/fd";
        for (const auto& fd : fs::directory_iterator(fds)) {
            std::error_code error;
            const fs::path file = fs::read_symlink(fd.path(), error);
            if (file.parent_path().filename() == "hotplug-disks") out += file.filename().string() + " ";
        }
        return out;
    };
    EXPECT_NE(opened().find("lost.img"), std::string::npos);
    EXPECT_NE(opened().find("half.img"), std::string::npos);
    virConnectClose(std::exchange(libvirt_, nullptr));
    kill_program("libvirtd");
    wait_console("BLK remove sdb");
    run_until([&] { return opened() == "known.img "; });
    EXPECT_EQ(opened(), "known.img ");
    type("echo on | dd of=/dev/sda bs=512 conv=sync,fsync 2>/dev/null; echo T'9'=$?");
    wait_console("T9=0");
}

TEST_F(PluggedPod, H56_BlockDeviceComesAndGoes) {
    boot();
    make_device("raw");
    wish({
        {.name = "raw", .serial = "Raw", .block = true}
    });
    EXPECT_EQ(wait_target("raw"), "sda");
    wait_console("BLK add sda sectors=16384 .*HARDDISK_Raw");
    type("echo block | dd of=/dev/sda bs=512 conv=sync 2>/dev/null; sync; echo T'1'=$?");
    wait_console("T1=0");
    wish({});
    wait_gone("raw");
    std::ifstream in(path_ + "/raw.backing", std::ios::binary);
    std::string head(5, ' ');
    in.read(head.data(), 5);
    EXPECT_EQ(head, "block");
}

// H-69 and R-31: told, and its file is only the place for a mount. When the file is there, one call attaches it.
TEST_F(PluggedPod, R31_EmptyFileIsNotAttached) {
    boot();
    make_file("late", 0);
    make_file("other");
    wish({
        {.name = "late"},
        {.name = "other", .serial = "Other"}
    });
    EXPECT_EQ(wait_target("other"), "sdb");
    wait_console("BLK add sda .*Other");
    fs::resize_file(file("late"), 4 << 20);  // no event of the folder: a file's mount comes like this too
    std::ofstream(fs::path(volume("hotplug-disks")) / "sign") << "";
    EXPECT_EQ(wait_target("late"), "sda");
    wait_console("BLK add sdb sectors=8192");
    std::size_t calls = 0;
    const std::string log = read(log_path());
    for (std::size_t at = log.find("call=attach disk=late target=sda error=\"\""); at != log.npos;
         at = log.find("call=attach disk=late target=sda error=\"\"", at + 1))
        ++calls;
    EXPECT_EQ(calls, 1U) << log;
}

// R-23, H-67, H-70: what a disk asks for and cannot have is its own trouble.
TEST_F(PluggedPod, R23_OneBadDiskHoldsUpNobody) {
    boot();
    for (const char* name : {"shared", "lun", "good"}) make_file(name);
    wish({
        {.name = "lun",    .kind = "lun"                                         },
        {.name = "shared", .more = R"(, "shareable": true, "cache": "writeback")"},
        {.name = "good",   .serial = "Good"                                      },
    });
    wait_target("good");
    EXPECT_NE(wait_error("shared").find("is shareable, which cache"), std::string::npos);
    const std::string lun = wait_error("lun");
    EXPECT_NE(lun.find("lun"), std::string::npos) << lun;
    wish({
        {.name = "good",   .serial = "Good"                },
        {.name = "shared", .more = R"(, "shareable": true)"}
    });
    wait_target("shared");
    const std::string xml = live_xml();
    EXPECT_NE(xml.find("<shareable/>"), std::string::npos) << xml;
    wait_report([](const agent::Report& report) { return report.disk_errors.empty(); });
}

TEST_F(PluggedPod, H66_StorageWithoutDirectIo) {
    without_direct_io();
    boot();
    make_file("direct");
    make_file("plain");
    wish({
        {.name = "direct", .more = R"(, "cache": "none")"},
        {.name = "plain",  .serial = "Plain"             }
    });
    wait_target("plain");
    EXPECT_NE(wait_error("direct").find("no direct I/O"), std::string::npos);
    const std::string xml = live_xml();
    EXPECT_NE(xml.find("cache='writethrough'"), std::string::npos) << xml;
    EXPECT_EQ(xml.find("ua-direct"), std::string::npos);
}

// H-51 to H-53 on bus scsi, which this guest can see.
TEST_F(PluggedPod, H52_MediaComeAndGo) {
    boot({
        {.name = "cd", .kind = "cdrom", .told = false}
    });
    const TestPlug drive{.name = "cd", .kind = "cdrom"};
    const auto insert = [&](const std::string& text) {
        make_file("cd", 1 << 20);
        std::fstream(file("cd"), std::ios::in | std::ios::out) << text;
        wish({drive});
        wait_target("cd");
    };
    type("dd if=/dev/sr0 bs=2048 count=1 of=/dev/null 2>/dev/null; echo T'0'=$?");
    wait_console("T0=1");
    insert("first!");
    type("dd if=/dev/sr0 bs=2048 count=1 2>/dev/null | head -c 6; echo T'1'");
    wait_console("first!T1");
    wish({
        {.name = "cd", .kind = "cdrom", .told = false}
    });
    wait_gone("cd");
    fs::remove(file("cd"));
    insert("second");
    type("dd if=/dev/sr0 bs=2048 count=1 2>/dev/null | head -c 6; echo T'2'");
    wait_console("secondT2");
    wish({});  // drive and volume leave together: the drive stays in the machine, without a medium
    wait_gone("cd");
    type("dd if=/dev/sr0 bs=2048 count=1 of=/dev/null 2>/dev/null; echo T'3'=$?");
    wait_console("T3=1");
}

TEST_F(PluggedPod, H72_RebootKeepsDisks) {
    make_file("logs");
    make_file("more");
    boot();
    wish({
        {.name = "logs", .serial = "Logs"},
        {.name = "more", .bus = "virtio", .serial = "More"}
    });
    wait_target("logs");
    wait_target("more");
    wait_console("BLK add .*Logs");
    type("reboot");
    wait_console("GUEST-REBOOT");
    wait_console("BLK add .*Logs");
    wait_console("GUEST-READY");
    type("ls /dev/disk/by-id; echo T'1'");
    wait_console("scsi-0QEMU_QEMU_HARDDISK_Logs[^]*virtio-More[^]*T1");
    wish({});
    wait_gone("logs");
    wait_gone("more");
}

TEST_F(PluggedPod, H73_ClaimGrows) {
    make_file("logs");
    boot();
    wish({
        {.name = "logs", .serial = "Logs", .size = 8 << 20}
    });
    wait_target("logs");
    wait_console("BLK add sda sectors=16384");
    wish({
        {.name = "logs", .serial = "Logs", .size = (24 << 20) + 7}
    });
    wait_console("BLK resize sda sectors=49152");
    const agent::Report grown = wait_report([](const agent::Report& report) {
        return std::ranges::any_of(report.disks, [](const auto& disk) { return disk.size == 24 << 20; });
    });
    EXPECT_TRUE(has(grown, "logs"));
    EXPECT_EQ(fs::file_size(file("logs")), 24U << 20);
}

// H-71: three at least find a port. The one that finds none says which bus has room, and scsi disks still come.
TEST_F(PluggedPod, H71_PortsRunOut) {
    boot();
    std::vector<TestPlug> plugs;
    agent::Report report;
    while (plugs.size() < 12) {
        const std::string name = "v" + std::to_string(plugs.size());
        make_file(name, 1 << 20);
        plugs.push_back({.name = name, .bus = "virtio"});
        wish(plugs);
        report = wait_report([&](const agent::Report& each) { return has(each, name) || !each.disk_errors.empty(); });
        if (!report.disk_errors.empty()) break;
    }
    ASSERT_EQ(report.disk_errors.size(), 1U);
    EXPECT_GE(plugs.size() - 1, 3U);
    EXPECT_NE(report.disk_errors[0].message.find("use bus scsi"), std::string::npos) << report.disk_errors[0].message;
    make_file("s");
    plugs.push_back({.name = "s", .serial = "S"});
    wish(plugs);
    wait_target("s");
    plugs.erase(plugs.begin());  // its port is free for the one that waits
    wish(plugs);
    wait_report([](const agent::Report& each) { return each.disk_errors.empty() && has(each, "s"); });
}

// The launcher or libvirtd dies while a disk comes and while it goes. The guest reads on without an error, and in the
// end has what was asked for (reliability/I-02).
class KilledPod : public PluggedPod, public testing::WithParamInterface<const char*> {
protected:
    void kill_it() {
        while (processes(GetParam()).empty()) finish(clock_.sleep_for(5ms));  // the monitor has it begin again
        kill_program(GetParam());
        if (std::string_view(GetParam()) != "virt-launcher") return;
        while (await(link_->next())) continue;
        // The dying one's socket may take one more connection, which leads nowhere.
        do connect();
        while (!await(link_->next()));
        last_.reset();
    }
};

TEST_P(KilledPod, I02_EndsAsAsked) {
    make_file("used");
    make_file("comes");
    boot({
        {.name = "used", .serial = "Used"}
    });
    wait_target("used");
    const std::vector<TestPlug> both = {
        {.name = "used",  .serial = "Used" },
        {.name = "comes", .serial = "Comes"}
    };
    // Reads past the guest's own cache, until the file is gone.
    type(
        "(touch /tmp/on; echo LOOP'-'BEGIN; while [ -e /tmp/on ]; do dd if=/dev/sda of=/dev/null bs=64k count=4 "
        "iflag=direct || echo BAD; "
        "done; echo LOOP'-'END) 2>/dev/null &"
    );
    wait_console("LOOP-BEGIN");  // what is typed goes through the launcher: until here it would die with it
    for (int round = 0; round < 3; ++round) {
        wish(both);
        finish(clock_.sleep_for(round * 10ms));
        kill_it();
        wish(both);
        wait_target("comes");
        const std::vector<TestPlug> one = {both[0]};
        wish(one);
        finish(clock_.sleep_for(round * 10ms));
        kill_it();
        wish(one);
        wait_gone("comes");
    }
    open_console();
    type("rm /tmp/on");
    wait_console("LOOP-END");
    EXPECT_EQ(said_.find("BAD\r"), said_.npos);
    type("dmesg | grep -c 'I/O error'; ls /dev/disk/by-id; echo T'1'");
    wait_console("0\\r?\\n[^]*HARDDISK_Used\\r?\\n[^]*T1");
    EXPECT_EQ(guests().size(), 1U);
}
INSTANTIATE_TEST_SUITE_P(Helpers, KilledPod, testing::Values("virt-launcher", "libvirtd"));

// How long it takes: from the wish to the report. Printed, not judged: the machine is not ours alone.
TEST_F(PluggedPod, TimesOfAttachAndDetach) {
    boot();
    make_file("t");
    for (const char* bus : {"scsi", "virtio"}) {
        std::vector<std::int64_t> attach;
        std::vector<std::int64_t> detach;
        for (int i = 0; i < 9; ++i) {
            const Monotonic start = clock_.monotonic();
            wish({
                {.name = "t", .bus = bus, .serial = "T"}
            });
            wait_target("t");
            wait_console("BLK add");
            const Monotonic there = clock_.monotonic();
            wish({});
            wait_gone("t");
            const Monotonic gone = clock_.monotonic();
            wait_console("BLK remove");
            attach.push_back((there - start) / 1ms);
            detach.push_back((gone - there) / 1ms);
        }
        std::ranges::sort(attach);
        std::ranges::sort(detach);
        std::printf(
            "%s: wish to by-id link in the guest %ld..%ld, median %ld ms; wish to gone %ld..%ld, median %ld ms\n",
            bus,
            attach.front(),
            attach.back(),
            attach[4],
            detach.front(),
            detach.back(),
            detach[4]
        );
        EXPECT_EQ(attach.size(), 9U);
    }
}

}  // namespace
}  // namespace berth::launcher
