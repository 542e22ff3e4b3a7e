// The world of host tests of VM pods: a pod with the launcher's programs on this machine, and the node's side of it.
// The test binary is its own program inside the pod (launcher_host_test.cpp has its main).
#pragma once

#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>

#include "launcher/plan/disks.hpp"
#include "node/edge/unix_connector.hpp"
#include "solo/edge/host_test_world.hpp"

namespace berth::launcher {
using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr Bytes kDataSize = 16_MiB;

inline std::string guest_image() {
    const char* folder = std::getenv("BERTH_GUEST_DIR");
    return std::string(folder == nullptr ? "build/guest" : folder) + "/guest.qcow2";
}

class LauncherPod : public solo::HostWorld {
protected:
    LauncherPod() { program_ = fs::read_symlink("/proc/self/exe"); }

    void SetUp() override {
        if (!fs::exists(guest_image()))
            GTEST_SKIP() << "needs the test guest: run ./dev build, or name its folder in BERTH_GUEST_DIR";
        HostWorld::SetUp();
    }

    void TearDown() override {
        if (!runtime_) return;
        link_.reset();
        console_.reset();
        if (const auto pod = find("compute")) await(runtime_->signal(pod->id, "KILL"));
        if (testing::Test::HasFailure())
            std::printf("--- pod ---\n%s--- console ---\n%s---\n", read(log_path()).c_str(), said_.c_str());
        HostWorld::TearDown();
    }

    std::string volume(const std::string& name) {
        const fs::path path = fs::path(path_) / "test-volumes" / name;
        fs::create_directories(path);
        EXPECT_EQ(::chown(path.c_str(), 107, 107), 0);
        return path;
    }

    void start_pod(int grace_seconds = 30) {
        solo::ContainerSpec spec = shell("");
        spec.name = "compute";
        spec.argv = {
            "/usr/bin/virt-launcher-monitor",
            "--qemu-timeout",
            "300s",
            "--name",
            "web",
            "--uid",
            "u1",
            "--namespace",
            "default"
        };
        for (const std::string& argument :
             {std::string("--grace-period-seconds"), std::to_string(grace_seconds), std::string("--run-as-nonroot")})
            spec.argv.push_back(argument);
        spec.env = {
            {"POD_UID",      pod_.value      },
            {"ASAN_OPTIONS", "detect_leaks=0"}
        };
        for (const auto& [name, path] : {
                 std::pair{"sockets",         "/var/run/kubevirt/sockets"               },
                 std::pair{"container-disks", "/var/run/kubevirt/container-disks"       },
                 std::pair{"ephemeral-disks", "/var/run/kubevirt-ephemeral-disks"       },
                 std::pair{"data",            "/var/run/kubevirt-private/vmi-disks/data"},
        }) {
            spec.mounts.push_back({.host_path = volume(name), .container_path = path});
        }
        spec.mounts.push_back({.host_path = volume("hotplug-disks"), .container_path = std::string(kHotplugDisksDir)});
        spec.mounts.back().follows_host = true;
        const Result<void> started = await(runtime_->start(spec));
        ASSERT_TRUE(started) << started.error().message;
        connect();
    }

    void bring_root() {
        const fs::path to = fs::path(volume("container-disks")) / "root.img";
        fs::copy_file(guest_image(), to);
        fs::permissions(to, fs::perms(0644));
    }

    void connect() {
        node::UnixConnector connector([this](const Uid&) { return volume("sockets") + "/launcher-sock"; });
        const auto until = std::chrono::steady_clock::now() + 20s;
        do {
            Result<std::unique_ptr<agent::Link>> made = await(connector.connect(pod_));
            if (made) {
                link_ = *std::move(made);
                return;
            }
            finish(clock_.sleep_for(20ms));
        } while (std::chrono::steady_clock::now() < until);
        FAIL() << "no connection to the launcher";
    }

    /// The first report that fits. Connects again when the launcher has died, as the node's agent does.
    agent::Report wait_report(const std::function<bool(const agent::Report&)>& fits) {
        agent::Report last;
        while (!testing::Test::HasFatalFailure()) {
            std::optional<agent::Report> next = await(link_->next());
            if (!next) {
                connect();
                continue;
            }
            last = *std::move(next);
            if (fits(last)) return last;
        }
        ADD_FAILURE() << "no such report; last state \"" << last.state << "\", error " << last.error;
        return last;
    }
    agent::Report wait_state(const std::string& state) {
        return wait_report([&](const agent::Report& report) { return report.state == state; });
    }

    void sync(const std::string& data_bus = "scsi") {
        auto vmi = json::parse(R"({
          "metadata": {"name": "web", "namespace": "default", "uid": "u1"},
          "spec": {"hostname": "web-1", "domain": {"memory": {"guest": "128Mi"}, "devices": {"disks": [
              {"name": "root", "disk": {"bus": "virtio"}},
              {"name": "data", "serial": "DATA-1", "disk": {"bus": "BUS"}},
              {"name": "seed", "disk": {"bus": "virtio"}}]}},
            "volumes": [{"name": "root", "containerDisk": {"image": "berth.local/guest"}},
              {"name": "data", "persistentVolumeClaim": {"claimName": "data"}},
              {"name": "seed", "cloudInitNoCloud": {"userData": "#!/bin/sh\necho seed-of-$(hostname)\n"}}]}})");
        ASSERT_TRUE(vmi);
        json::set(*vmi, "/spec/domain/devices/disks/1/disk/bus", json::Value(data_bus));
        agent::VolumePath data;
        data.name = "data";
        data.path = "/var/run/kubevirt-private/vmi-disks/data/disk.img";
        data.create_if_absent = true;
        data.size = kDataSize.value;
        std::vector<agent::VolumePath> volumes = {data};
        const Result<void> sent = await(link_->sync(*vmi, std::move(volumes)));
        ASSERT_TRUE(sent) << sent.error().message;
    }

    void open_console() {
        Result<std::unique_ptr<kube::Duplex>> opened = await(node::open_console(volume("sockets") + "/console-sock"));
        ASSERT_TRUE(opened) << opened.error().message;
        console_ = *std::move(opened);
    }

    /// Reads the console until the pattern appears behind what was matched before.
    void wait_console(const std::string& pattern) {
        const std::regex wanted(pattern);
        while (!testing::Test::HasFatalFailure()) {
            std::smatch match;
            const std::string rest = said_.substr(matched_);
            if (std::regex_search(rest, match, wanted)) {
                matched_ += static_cast<std::size_t>(match.position() + match.length());
                return;
            }
            const std::optional<std::string> more = await(console_->read());
            if (!more) break;
            said_ += *more;
        }
        FAIL() << "the console never said " << pattern << "; it said\n" << said_.substr(matched_);
    }

    /// Waits until the guest says nothing more by itself: its messages come between what it answers.
    void wait_quiet() {
        while (said_.find("CLOUD-INIT-DONE") == said_.npos || said_.find("NET-UP") == said_.npos) wait_console("\\n");
        matched_ = said_.size();
    }

    void type(const std::string& line) {
        const Result<void> written = await(console_->write(line + "\n"));
        ASSERT_TRUE(written) << written.error().message;
    }

    /// QEMU processes of the guest; libvirt runs others to ask QEMU what it can do.
    std::vector<pid_t> guests() {
        std::vector<pid_t> out = processes("/usr/bin/qemu-system");
        std::erase_if(out, [](pid_t pid) {
            return read("/proc/" + std::to_string(pid) + "/cmdline").find("guest=default_web") == std::string::npos;
        });
        return out;
    }
    /// Processes of the pod whose command line starts with this.
    std::vector<pid_t> processes(const std::string& name) {
        std::vector<pid_t> out;
        const auto pod = find("compute");
        if (!pod || pod->pid == 0) return out;
        const fs::path ns = fs::read_symlink("/proc/" + std::to_string(pod->pid) + "/ns/pid");
        for (const auto& entry : fs::directory_iterator("/proc")) {
            std::error_code error;
            if (fs::read_symlink(entry.path() / "ns/pid", error) != ns || error) continue;
            if (read(entry.path() / "cmdline").starts_with(name)) out.push_back(std::stoi(entry.path().filename()));
        }
        return out;
    }

    void kill_program(const std::string& name) {
        const std::vector<pid_t> pids = processes(name);
        ASSERT_EQ(pids.size(), 1U) << name;
        ASSERT_EQ(::kill(pids.front(), SIGKILL), 0);
    }

    static std::string read(const fs::path& path) {
        std::ifstream in(path, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }
    std::string log_path() { return runtime_->log_path(pod_, "compute"); }

    std::unique_ptr<agent::Link> link_;
    std::unique_ptr<kube::Duplex> console_;
    std::string said_;
    std::size_t matched_ = 0;
};

}  // namespace berth::launcher
