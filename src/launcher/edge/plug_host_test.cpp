// Plugged disks of a real guest: libvirt, QEMU, and what the guest sees of them.
#include <gtest/gtest.h>

#include <fcntl.h>

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
        while (said_.find("NET-UP") == said_.npos) wait_console("\\n");
        matched_ = said_.size();
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
    type("echo kept | dd of=/dev/disk/by-id/scsi-0QEMU_QEMU_HARDDISK_Logs-A bs=512 seek=8 conv=sync; sync; echo T'1'=$?"
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
    type("dd if=/dev/vdb bs=512 skip=8 count=1 | head -c 4; echo -T'2'");
    wait_console("kept-T2");
    wish({});
    wait_gone("logs");
    wait_console("BLK remove vdb");
}

}  // namespace
}  // namespace berth::launcher
