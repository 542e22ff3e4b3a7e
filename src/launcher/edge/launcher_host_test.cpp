// Real pods on this machine: crun, libvirtd, QEMU and the test guest.
#include <gtest/gtest.h>

#include "launcher/edge/pod_test_world.hpp"
#include "launcher/edge/programs.hpp"
#include "node/edge/capabilities.hpp"

namespace berth::launcher {
namespace {

// kill -9 of the launcher and of libvirtd: the guest does not notice, and is found again (reliability/I-02).
TEST_F(LauncherPod, I02_GuestSurvivesItsHelpers) {
    start_pod();
    EXPECT_EQ(wait_state("").accelerator, "");
    sync();
    bring_root();  // the container disk comes after the machine was sent
    const agent::Report running = wait_state("running");
    EXPECT_EQ(running.machine_type.substr(0, 6), "pc-q35");
    EXPECT_FALSE(running.accelerator.empty());
    const std::vector<agent::DiskReport> disks = {
        {"data", "sda", kDataSize.value},
        {"root", "vda", 33554432       },
        {"seed", "vdb", 55296          }
    };
    const agent::Report sized = wait_report([&](const agent::Report& report) { return report.disks == disks; });
    EXPECT_EQ(sized.disk_errors, std::vector<agent::DiskError>());
    open_console();
    wait_console("GUEST-READY");
    wait_console("seed-of-web-1");
    wait_quiet();
    type("cat /sys/class/block/sda/size; K=kept; echo T'1'=$?");
    wait_console("32768\\r?\\nT1=0");

    // A kernel reads the cloud-init image by either set of names.
    type(
        "for o in norock nojoliet; do mount -t iso9660 -o ro,$o /dev/vdb /mnt; M=$M$(cat /mnt/meta-data); umount /mnt; "
        "done"
    );
    type("echo \"$M\"T'0'");
    wait_console(R"((\{"instance-id":"web.default","local-hostname":"web-1"\}){2}T0)");

    kill_program("virt-launcher");
    while (await(link_->next())) continue;  // the link ends with the launcher
    wait_report([&](const agent::Report& report) { return report.disks == disks; });
    open_console();
    type("echo $K-T'2'");
    wait_console("kept-T2");

    kill_program("libvirtd");
    finish(clock_.sleep_for(1s));  // the monitor and the launcher find each other again
    type("echo $K-T'3'");
    wait_console("kept-T3");
    ASSERT_TRUE(await(link_->shutdown()));
    const agent::Report off = wait_state("shutoff");
    EXPECT_EQ(off.reason, "shutdown");
    const solo::ContainerInfo ended = wait_exited("compute");
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_EQ(ended.termination_message, "the guest was shut down");
}

// Whoever dies between the record of the start and its success: one guest runs, or none and the pod says so. Never two.
TEST_F(LauncherPod, I02_LauncherDiesWhileStarting) {
    bring_root();
    start_pod();
    sync();
    wait_state("starting");
    kill_program("virt-launcher");
    while (await(link_->next())) continue;
    wait_state("");
    sync();
    wait_state("running");
    EXPECT_EQ(guests().size(), 1U);
}

TEST_F(LauncherPod, I02_LauncherDiesWhenQemuRuns) {
    bring_root();
    start_pod();
    sync();
    wait_state("starting");
    while (guests().empty()) finish(clock_.sleep_for(5ms));
    kill_program("virt-launcher");
    while (await(link_->next())) continue;
    wait_state("running");
    EXPECT_EQ(guests().size(), 1U);
}

TEST_F(LauncherPod, I02_LibvirtdDiesWhileStarting) {
    bring_root();
    start_pod();
    sync();
    wait_state("starting");
    while (guests().empty()) finish(clock_.sleep_for(5ms));
    kill_program("libvirtd");
    const agent::Report after =
        wait_report([](const agent::Report& report) { return report.state == "running" || report.state == "crashed"; });
    EXPECT_LE(guests().size(), 1U);
    if (after.state == "crashed") EXPECT_EQ(wait_exited("compute").exit_code, 1);
}

// The second pod starts from what the first one found out about QEMU; a pod cannot make us read our own files.
TEST_F(LauncherPod, CapabilitiesAreHarvested) {
    bring_root();
    start_pod();
    sync();
    wait_state("running");
    const auto pod = find("compute");
    ASSERT_TRUE(pod);
    const fs::path inside =
        fs::path("/proc") / std::to_string(pod->pid) / "root/run/berth/cache/libvirt/qemu/cache/capabilities";
    const std::string trap = std::string(64, 'a') + ".xml";
    fs::create_symlink("/etc/passwd", inside / trap);
    const std::string seeds = volume("seeds");
    EXPECT_FALSE(node::harvest_capabilities(pod->pid, seeds));
    EXPECT_FALSE(fs::exists(fs::path(seeds) / trap));
    fs::remove(inside / trap);
    for (const auto& entry : fs::directory_iterator(seeds)) fs::remove(entry);
    EXPECT_EQ(node::harvest_capabilities(pod->pid, seeds), 1);
    EXPECT_EQ(node::harvest_capabilities(pod->pid, seeds), 0) << "it is there already";
}

TEST_F(LauncherPod, P28_CrashedGuestFailsThePod) {
    bring_root();
    start_pod();
    sync();
    wait_state("running");
    ASSERT_EQ(guests().size(), 1U);
    ASSERT_EQ(::kill(guests().front(), SIGKILL), 0);
    EXPECT_EQ(wait_state("crashed").reason, "failed");
    EXPECT_EQ(wait_exited("compute").exit_code, 1);
}

TEST_F(LauncherPod, P27_GuestPowersOff) {
    bring_root();
    start_pod();
    sync();
    wait_state("running");
    open_console();
    wait_console("GUEST-READY");
    wait_quiet();
    type("poweroff");
    EXPECT_EQ(wait_state("shutoff").reason, "guest");
    EXPECT_EQ(wait_exited("compute").exit_code, 0);
}

TEST_F(LauncherPod, StoppedBeforeAnythingStarted) {
    start_pod();
    wait_state("");
    const auto pod = find("compute");
    ASSERT_TRUE(pod);
    ASSERT_TRUE(await(runtime_->signal(pod->id, "TERM")));
    const solo::ContainerInfo ended = wait_exited("compute");
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_EQ(ended.termination_message, "no guest was started");
}

TEST_F(LauncherPod, StopsWithinGrace) {
    bring_root();
    start_pod(1);  // the guest's firmware does not hear the power button
    sync();
    wait_state("running");
    const auto pod = find("compute");
    ASSERT_TRUE(pod);
    ASSERT_TRUE(await(runtime_->signal(pod->id, "TERM")));
    EXPECT_EQ(wait_state("shutoff").reason, "destroyed");
    EXPECT_EQ(wait_exited("compute").exit_code, 0);
}

TEST_F(LauncherPod, StartIsTriedAgain) {
    bring_root();
    start_pod();
    sync("nonsense");
    const agent::Report failed = wait_report([](const agent::Report& report) { return !report.error.empty(); });
    EXPECT_EQ(failed.state, "");
    EXPECT_NE(failed.error.find("nonsense"), std::string::npos) << failed.error;
    sync();
    EXPECT_EQ(wait_state("running").error, "");
}

}  // namespace
}  // namespace berth::launcher

int main(int argc, char** argv) {
    if (std::filesystem::path(argv[0]).filename() == "virt-launcher-monitor")
        return berth::launcher::monitor_main(argc, argv);
    if (std::filesystem::path(argv[0]).filename() == "virt-launcher") return berth::launcher::launcher_main(argc, argv);
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
