#include <gtest/gtest.h>

#include <set>

#include "sim/world.hpp"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;

std::string vm_with_disk(const std::string& name, const std::string& extra_spec = "") {
    return R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":")" + name +
           R"("},"spec":{"runStrategy":"Always",)" + R"("dataVolumeTemplates":[{"metadata":{"name":")" + name +
           R"(-root"},"spec":{"source":{"http":{"url":"http://images/a.raw"}},)" +
           R"("pvc":{"storageClassName":"local","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}],)" +
           R"("template":{"spec":{)" + extra_spec +
           R"("domain":{"memory":{"guest":"256Mi"},"devices":{"disks":[{"name":"root","disk":{"bus":"virtio"}}]}},)" +
           R"("volumes":[{"name":"root","dataVolume":{"name":")" + name + R"(-root"}}]}}}})";
}

bool is_running(World& world, const std::string& name) {
    return world.text(api::kVirtualMachine, name, "/status/printableStatus") == "Running";
}

class Placement : public ::testing::Test {
protected:
    Placement() : world({.echo = std::getenv("ECHO") != nullptr}) { world.machines.sources["http://images/a.raw"]; }

    void run_web() {
        ASSERT_TRUE(world.create(vm_with_disk("web")));
        ASSERT_TRUE(world.until([&] { return is_running(world, "web"); }, 60s))
            << world.text(api::kVirtualMachine, "web", "/status/printableStatus");
        world.run_for(2s);  // what watchers still have to hear
    }
    // Pods of the machine ever seen: the provisioning pod first.
    std::vector<std::string> pods_of_web() {
        std::vector<std::string> out;
        for (const std::string& name : world.ever(api::kPod)) {
            if (name.starts_with("virt-launcher-web-")) out.push_back(name);
        }
        return out;
    }
    const Seen* first(const api::Kind& kind, const std::string& name) {
        for (const Seen& seen : world.history()) {
            if (*seen.kind == kind && seen.name() == name) return &seen;
        }
        return nullptr;
    }

    World world;
};

bool is_subsequence(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
    std::size_t at = 0;
    for (const std::string& one : whole) {
        if (at < part.size() && part[at] == one) ++at;
    }
    return at == part.size();
}

TEST_F(Placement, P01_OneDiskFromYamlToRunning) {
    run_web();
    const std::vector<std::string> phases = world.values(api::kDataVolume, "web-root", "/status/phase");
    EXPECT_TRUE(is_subsequence({"WaitForFirstConsumer", "ImportScheduled", "ImportInProgress", "Succeeded"}, phases));
    EXPECT_EQ(pods_of_web().size(), 2U);
    EXPECT_EQ(world.text(api::kVmi, "web", "/status/phase"), "Running");
}

TEST_F(Placement, P02_EverythingIsOnOneNode) {
    run_web();
    const std::string node = world.text(api::kVmi, "web", "/status/nodeName");
    EXPECT_FALSE(node.empty());
    EXPECT_EQ(world.text(api::kClaim, "web-root", "/metadata/annotations/volume.kubernetes.io~1selected-node"), node);
    const std::string volume = world.text(api::kClaim, "web-root", "/spec/volumeName");
    EXPECT_EQ(
        world.text(api::kVolume, volume, "/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values/0"),
        node
    );
    for (const Seen& seen : world.history()) {
        if (*seen.kind == api::kPod && !seen.text("/spec/nodeName").empty())
            EXPECT_EQ(seen.text("/spec/nodeName"), node) << seen.name();
    }
}

TEST_F(Placement, P03_ProvisioningPodAndLauncherPod) {
    run_web();
    const std::vector<std::string> pods = pods_of_web();
    ASSERT_EQ(pods.size(), 2U);
    const Seen* temp = first(api::kPod, pods[0]);
    const Seen* real = first(api::kPod, pods[1]);
    EXPECT_EQ(temp->text("/metadata/annotations/kubevirt.io~1ephemeral-provisioning"), "true");
    EXPECT_EQ(temp->text("/spec/containers/0/command/0"), "/bin/bash");
    EXPECT_EQ(temp->text("/metadata/ownerReferences/0/kind"), "VirtualMachineInstance");
    EXPECT_EQ(real->text("/metadata/annotations/kubevirt.io~1ephemeral-provisioning"), "");
    EXPECT_EQ(real->text("/spec/containers/0/command/0"), "/usr/bin/virt-launcher-monitor");
}

TEST_F(Placement, P05_LauncherComesAfterTheProvisioningPodAndTheData) {
    run_web();
    const std::vector<std::string> pods = pods_of_web();
    std::size_t temp_gone = 0, filled = 0, launcher_made = 0, at = 0;
    for (const Seen& seen : world.history()) {
        ++at;
        if (*seen.kind == api::kPod && seen.name() == pods[0] && seen.type == "DELETED") temp_gone = at;
        if (*seen.kind == api::kDataVolume && filled == 0 && seen.text("/status/phase") == "Succeeded") filled = at;
        if (*seen.kind == api::kPod && seen.name() == pods[1] && launcher_made == 0) launcher_made = at;
    }
    EXPECT_GT(temp_gone, 0U);
    EXPECT_GT(launcher_made, temp_gone);
    const std::string volume = world.text(api::kClaim, "web-root", "/spec/volumeName");
    EXPECT_EQ(world.machines.volumes.at(volume).content, "image");
    EXPECT_GT(filled, 0U);
}

TEST_F(Placement, P06_PrintableStatusOnItsWay) {
    run_web();
    const std::vector<std::string> seen = world.values(api::kVirtualMachine, "web", "/status/printableStatus");
    const std::set<std::string> legal{"Stopped", "Provisioning", "WaitingForVolumeBinding", "Starting", "Running"};
    for (const std::string& status : seen) EXPECT_TRUE(legal.contains(status)) << status;
    EXPECT_EQ(seen.back(), "Running");
    EXPECT_TRUE(is_subsequence({"WaitingForVolumeBinding", "Running"}, seen));
}

TEST_F(Placement, P08_EventsOfTheFlow) {
    run_web();
    const std::vector<std::string> vm = world.events_of("web");
    const auto has = [&](const std::string& prefix) {
        return std::ranges::any_of(vm, [&](const auto& e) { return e.starts_with(prefix); });
    };
    EXPECT_TRUE(has("SuccessfulDataVolumeCreate: "));
    EXPECT_TRUE(has("SuccessfulCreate: Started the virtual machine"));
    for (const std::string& pod : pods_of_web())
        EXPECT_TRUE(has("SuccessfulCreate: Created virtual machine pod " + pod));
    EXPECT_TRUE(has("SuccessfulDelete: Deleted WaitForFirstConsumer temporary pod " + pods_of_web()[0]));
    EXPECT_TRUE(has("Started: VirtualMachineInstance started."));
}

TEST_F(Placement, P16_TooLargeForEveryNode) {
    ASSERT_TRUE(world.create(vm_with_disk("web", R"("nodeSelector":{"no":"where"},)")));
    ASSERT_TRUE(world.until(
        [&] { return world.text(api::kVirtualMachine, "web", "/status/printableStatus") == "ErrorUnschedulable"; }, 30s
    ));
    EXPECT_EQ(world.text(api::kClaim, "web-root", "/metadata/annotations/volume.kubernetes.io~1selected-node"), "");
    EXPECT_EQ(world.text(api::kDataVolume, "web-root", "/status/phase"), "WaitForFirstConsumer");
}

TEST_F(Placement, P27_OnceEndsAsItShould) {
    std::string once = vm_with_disk("web");
    once.replace(once.find("Always"), 6, "Once");
    ASSERT_TRUE(world.create(once));
    ASSERT_TRUE(world.until([&] { return is_running(world, "web"); }, 60s));
    world.launcher_of("web")->power_off();
    ASSERT_TRUE(world.until(
        [&] { return world.text(api::kVirtualMachine, "web", "/status/printableStatus") == "Stopped"; }, 60s
    ));
    EXPECT_EQ(world.text(api::kVmi, "web", "/status/phase"), "Succeeded");
}

TEST_F(Placement, P29_FailingWorkerRecovers) {
    world.machines.sources["http://images/a.raw"].fails = 2;
    ASSERT_TRUE(world.create(vm_with_disk("web")));
    ASSERT_TRUE(world.until([&] { return is_running(world, "web"); }, 5min));
    const std::vector<std::string> seen = world.values(api::kVirtualMachine, "web", "/status/printableStatus");
    EXPECT_TRUE(std::ranges::find(seen, "DataVolumeError") != seen.end());
    EXPECT_EQ(world.values(api::kVmi, "web", "/metadata/uid").size(), 1U);
}

TEST_F(Placement, P33_DeletedMachineLeavesNothing) {
    run_web();
    ASSERT_TRUE(world.remove(api::kVirtualMachine, "web"));
    const auto all_gone = [&] {
        return world.list(api::kVirtualMachine).empty() && world.list(api::kVmi).empty() &&
               world.list(api::kPod).empty() && world.list(api::kDataVolume).empty() &&
               world.list(api::kClaim).empty() && world.list(api::kVolume).empty();
    };
    ASSERT_TRUE(world.until(all_gone, 2min))
        << "left: " << world.list(api::kPod).size() << " pods, " << world.list(api::kClaim).size() << " claims, "
        << world.list(api::kVolume).size() << " volumes "
        << (world.list(api::kVolume).empty() ? "" : json::print(*world.list(api::kVolume).front()));
    EXPECT_TRUE(world.machines.volumes.empty());
}

TEST_F(Placement, P36_StopDuringImportThenStartOnTheSameNode) {
    world.machines.sources["http://images/a.raw"].takes = 20s;
    ASSERT_TRUE(world.create(vm_with_disk("web")));
    ASSERT_TRUE(world.until(
        [&] { return world.text(api::kDataVolume, "web-root", "/status/phase") == "ImportInProgress"; }, 60s
    ));
    const std::string node =
        world.text(api::kClaim, "web-root", "/metadata/annotations/volume.kubernetes.io~1selected-node");
    EXPECT_EQ(world.machine_verb("web", "stop"), 202);
    ASSERT_TRUE(world.until([&] { return world.list(api::kVmi).empty(); }, 60s));
    ASSERT_TRUE(world.until(
        [&] { return world.text(api::kVirtualMachine, "web", "/status/printableStatus") == "Stopped"; }, 60s
    ));
    EXPECT_EQ(world.text(api::kDataVolume, "web-root", "/status/phase"), "Succeeded");
    EXPECT_EQ(world.machine_verb("web", "start"), 202);
    ASSERT_TRUE(world.until([&] { return is_running(world, "web"); }, 60s));
    EXPECT_EQ(world.text(api::kVmi, "web", "/status/nodeName"), node);
}

TEST_F(Placement, P42_MissingClaimIsNamed) {
    const std::string vm =
        R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":"web"},"spec":{"runStrategy":"Always",
        "template":{"spec":{"domain":{"memory":{"guest":"256Mi"},"devices":{}},"volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"c"}}]}}}})";
    ASSERT_TRUE(world.create(vm));
    ASSERT_TRUE(world.until(
        [&] { return world.text(api::kVirtualMachine, "web", "/status/printableStatus") == "ErrorPvcNotFound"; }, 30s
    ));
    EXPECT_EQ(world.text(api::kVmi, "web", "/status/phase"), "Pending");
}

}  // namespace
}  // namespace berth::sim
