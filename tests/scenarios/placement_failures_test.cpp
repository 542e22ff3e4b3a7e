// What becomes of a machine when its disks, its pods or its claims fail.
#include "placement_world.hpp"

namespace berth::sim {
namespace {

class PlacementFailures : public PlacementWorld {
protected:
    void web_is_deleted(const char* propagation) {
        ASSERT_TRUE(world.remove(api::kVirtualMachine, "web", {.propagation = propagation}));
    }
};

TEST_F(PlacementFailures, P28_AKilledLauncherIsFollowedByAnotherMachine) {
    run({.strategy = "RerunOnFailure"});
    const std::string first = uid(api::kVmi, "web");
    const std::string node = vmi("/status/nodeName");
    world.node(node).kill_launcher("virt-launcher-web-");
    ASSERT_TRUE(world.until([&] { return uid(api::kVmi, "web") != first && vm_word() == "Running"; }));
    EXPECT_EQ(vmi("/status/nodeName"), node);
    EXPECT_EQ(pods(true).size(), 1U) << "the disk is bound already";
    EXPECT_TRUE(contains(world.values(api::kVmi, "web", "/status/phase"), std::string("Failed")));
}

TEST_F(PlacementFailures, P30_P31_AFatalErrorAndTheWayOut) {
    world.machines.sources["http://images/a.raw"].fatal = true;
    make({});
    ASSERT_TRUE(shows("DataVolumeError"));
    ASSERT_TRUE(world.until([&] { return disk_phase() == "Failed" && vmi("/status/phase") == "Failed"; }));
    EXPECT_TRUE(world.until([&] {
        return has_event("web", "FailedDataVolumeImport: DataVolume root failed to import disk image");
    }));
    EXPECT_TRUE(pods(false).empty());
    const std::string disk = uid(api::kDataVolume, "root");
    const std::string claim = uid(api::kClaim, "root");
    world.machines.sources["http://images/a.raw"].fatal = false;
    ASSERT_TRUE(world.remove(api::kDataVolume, "root"));
    ASSERT_TRUE(shows("Running", 3min));
    EXPECT_NE(uid(api::kDataVolume, "root"), disk);
    EXPECT_NE(uid(api::kClaim, "root"), claim);
    EXPECT_EQ(world.list(api::kVolume).size(), 1U) << "the volume of the failed disk is gone";
}

TEST_F(PlacementFailures, P32_AMachineDeletedWhileItsPodWaits) {
    make({.machine = R"("nodeSelector":{"no":"where"},)"});
    ASSERT_TRUE(shows("ErrorUnschedulable"));
    const std::string first = uid(api::kVmi, "web");
    ASSERT_TRUE(world.remove(api::kVmi, "web"));
    ASSERT_TRUE(world.until([&] { return is_gone(api::kPod, pods(true).front()); }, 2s));
    ASSERT_TRUE(world.until([&] { return !uid(api::kVmi, "web").empty() && uid(api::kVmi, "web") != first; }, 60s));
    ASSERT_TRUE(world.until([&] { return pods(true).size() == 2; }, 60s));
}

TEST_F(PlacementFailures, P34_AnOrphanedMachineRunsOn) {
    run();
    const std::string machine = uid(api::kVmi, "web");
    web_is_deleted("Orphan");
    ASSERT_TRUE(world.until([&] { return is_gone(api::kVirtualMachine, "web"); }));
    world.run_for(30s);
    EXPECT_EQ(vmi("/status/phase"), "Running");
    EXPECT_EQ(uid(api::kVmi, "web"), machine);
    EXPECT_EQ(vmi("/metadata/ownerReferences/0/uid"), "");
    EXPECT_EQ(world.text(api::kDataVolume, "root", "/metadata/ownerReferences/0/uid"), "");
    EXPECT_EQ(world.text(api::kClaim, "root", "/status/phase"), "Bound");
    ASSERT_TRUE(world.remove(api::kVmi, "web"));
    ASSERT_TRUE(world.until([&] { return is_gone(api::kVmi, "web"); }))
        << "I-32: the VM's finalizer goes without the VM";
}

TEST_F(PlacementFailures, P35_DeletedInTheForegroundDuringTheImport) {
    world.machines.sources["http://images/a.raw"].takes = 60s;
    make({});
    ASSERT_TRUE(world.until([&] { return disk_phase() == "ImportInProgress"; }));
    web_is_deleted("Foreground");
    const auto all_gone = [&] {
        return world.list(api::kVirtualMachine).empty() && world.list(api::kPod).empty() &&
               world.list(api::kDataVolume).empty() && world.list(api::kClaim).empty() &&
               world.list(api::kVolume).empty();
    };
    ASSERT_TRUE(world.until(all_gone));
    std::set<std::string> disks;
    for (const Seen& seen : world.history()) {
        if (*seen.kind == api::kDataVolume) disks.insert(seen.text("/metadata/uid"));
    }
    EXPECT_EQ(disks.size(), 1U) << "R-41: no disk is made again";
}

TEST_F(PlacementFailures, P37_P38_FailingPodsAreTriedMoreAndMoreSlowly) {
    make({.strategy = "Halted"});
    ASSERT_TRUE(world.until([&] { return disk_phase() == "WaitForFirstConsumer"; }));
    world.suspend_datavolumes();
    world.machines.behaviours["virt-launcher-web-"].exit_code = 1;
    EXPECT_EQ(world.machine_verb("web", "start"), 202);
    const std::pair<int, std::pair<Duration, Duration>> rounds[] = {
        {1, {10s, 15s} },
        {2, {40s, 60s} },
        {3, {90s, 135s}}
    };
    for (const auto& [count, range] : rounds) {
        const auto failures = [&] {
            const auto vm = world.get(api::kVirtualMachine, "default", "web");
            return json::integer_at(**vm, "/status/startFailure/consecutiveFailCount").value_or(0);
        };
        ASSERT_TRUE(world.until([&] { return failures() == count; }, 5min)) << count;
        const Timestamp at = world.clock.now();
        const auto retry =
            from_rfc3339(world.text(api::kVirtualMachine, "web", "/status/startFailure/retryAfterTimestamp"));
        ASSERT_TRUE(retry.has_value());
        EXPECT_GE(*retry - at, range.first - 1s) << count;
        EXPECT_LE(*retry - at, range.second + 1s) << count;
        const std::string failed = world.text(api::kVirtualMachine, "web", "/status/startFailure/lastFailedVMIUID");
        ASSERT_TRUE(shows("CrashLoopBackOff"));
        ASSERT_TRUE(world.until([&] { return !uid(api::kVmi, "web").empty() && uid(api::kVmi, "web") != failed; }, 5min)
        );
        EXPECT_GE(world.clock.now(), *retry) << count;
    }
    world.machines.behaviours.clear();
    world.resume_datavolumes();
    ASSERT_TRUE(shows("Running", 10min));
    EXPECT_EQ(world.text(api::kVirtualMachine, "web", "/status/startFailure/retryAfterTimestamp"), "");
}

TEST_F(PlacementFailures, P39_AnEndedPodWaitsForItsDisk) {
    make({.strategy = "Halted"});
    ASSERT_TRUE(world.until([&] { return disk_phase() == "WaitForFirstConsumer"; }));
    world.suspend_datavolumes();
    EXPECT_EQ(world.machine_verb("web", "start"), 202);
    ASSERT_TRUE(world.until([&] {
        return !pods(true).empty() && world.text(api::kPod, pods(true).front(), "/status/phase") == "Succeeded";
    }));
    world.run_for(60s);
    EXPECT_EQ(vmi("/status/phase"), "Pending");
    EXPECT_EQ(pods(true).size(), 1U);
    world.resume_datavolumes();
    ASSERT_TRUE(shows("Running"));
    EXPECT_EQ(pods(true).size(), 1U);
    EXPECT_EQ(world.values(api::kVmi, "web", "/metadata/uid").size(), 1U);
}

TEST_F(PlacementFailures, P41_AMachineWaitsForItsClaim) {
    ASSERT_TRUE(world.create(std::string_view(
        R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachineInstance","metadata":{"name":"web"},"spec":{
        "domain":{"memory":{"guest":"256Mi"},"devices":{}},"volumes":[{"name":"c","persistentVolumeClaim":{"claimName":"c"}}]}})"
    )));
    ASSERT_TRUE(world.until([&] { return condition("Synchronized") == "False FailedPvcNotFound"; }));
    EXPECT_EQ(condition("PodScheduled"), "False Unschedulable");
    EXPECT_TRUE(world.until([&] {
        return has_event("web", "FailedPvcNotFound: PVC default/c does not exist, waiting for it to appear");
    }));
    EXPECT_TRUE(world.ever(api::kPod).empty());
    ASSERT_TRUE(world.create(claim_text("c", "local-immediate")));
    ASSERT_TRUE(world.until([&] { return !pods(false).empty(); }, 5s));
    ASSERT_TRUE(world.until([&] { return vmi("/status/phase") == "Running"; }));
    EXPECT_EQ(condition("Synchronized"), "-");
}

TEST_F(PlacementFailures, P75_ActivePodsAreThePodsOfTheMachine) {
    run();
    const auto found = world.get(api::kVmi, "default", "web");
    const json::Value* active = json::find(**found, "/status/activePods");
    ASSERT_NE(active, nullptr);
    ASSERT_EQ(active->get_object().size(), 1U);
    EXPECT_EQ(std::string(active->get_object().begin()->key()), uid(api::kPod, pods(false).front()));
    ASSERT_TRUE(world.remove(api::kVirtualMachine, "web"));
    ASSERT_TRUE(world.until([&] { return is_gone(api::kVmi, "web"); }));
    world.run_for(1s);
    std::vector<std::string> gone;
    for (const Seen& seen : world.history()) {
        if (seen.type == "DELETED" && (*seen.kind == api::kVmi || *seen.kind == api::kPod))
            gone.push_back(std::string(seen.kind->kind));
    }
    EXPECT_EQ(gone.back(), "VirtualMachineInstance") << "after the last of its pods";
}

TEST_F(PlacementFailures, AHaltedVmIsStartedPaused) {
    make({.strategy = "Halted"});
    ASSERT_TRUE(world.until([&] { return disk_phase() == "WaitForFirstConsumer"; }));
    EXPECT_EQ(world.machine_verb("web", "start", R"({"paused":true})"), 202);
    ASSERT_TRUE(world.until([&] { return vmi("/spec/startStrategy") == "Paused"; }));
    ASSERT_TRUE(world.until([&] { return vmi("/status/phase") == "Running"; }));
    EXPECT_EQ(world.text(api::kVirtualMachine, "web", "/status/stateChangeRequests/0/action"), "");
}

TEST_F(PlacementFailures, ARestartRequestReplacesTheMachineOnce) {
    run();
    const std::string first = uid(api::kVmi, "web");
    EXPECT_EQ(world.machine_verb("web", "restart"), 202);
    ASSERT_TRUE(world.until([&] { return uid(api::kVmi, "web") != first && vm_word() == "Running"; }));
    world.run_for(10s);
    EXPECT_EQ(world.values(api::kVmi, "web", "/metadata/uid").size(), 2U);
    EXPECT_EQ(world.text(api::kVirtualMachine, "web", "/status/stateChangeRequests/0/action"), "");
}

TEST_F(PlacementFailures, P40_ADeletedProvisioningPodIsNotTheEnd) {
    world.machines.behaviours["virt-launcher-web-"].holds = true;
    make({});
    ASSERT_TRUE(world.until([&] {
        return !pods(true).empty() && world.text(api::kPod, pods(true).front(), "/status/phase") == "Running";
    }));
    world.machines.behaviours.clear();
    ASSERT_TRUE(world.remove(api::kPod, pods(true).front(), {.grace_seconds = 30}));
    ASSERT_TRUE(shows("Running", 3min));
    world.run_for(5s);
    EXPECT_EQ(world.list(api::kPod).size(), 1U) << "no pod is left over";
}

TEST_F(PlacementFailures, P73_ARestartDuringTheImportWaitsForIt) {
    world.machines.sources["http://images/a.raw"].takes = 30s;
    make({.strategy = "Manual"});
    ASSERT_TRUE(world.until([&] { return disk_phase() == "WaitForFirstConsumer"; }));
    EXPECT_EQ(world.machine_verb("web", "start"), 202);
    ASSERT_TRUE(world.until([&] { return disk_phase() == "ImportInProgress"; }));
    const std::string first = uid(api::kVmi, "web");
    EXPECT_EQ(world.machine_verb("web", "restart"), 202);
    ASSERT_TRUE(world.until([&] { return disk_phase() == "Succeeded"; }));
    EXPECT_EQ(uid(api::kVmi, "web"), first);
    ASSERT_TRUE(world.until([&] { return uid(api::kVmi, "web") != first && vm_word() == "Running"; }));
    world.run_for(5s);
    EXPECT_EQ(world.values(api::kVmi, "web", "/metadata/uid").size(), 2U);
    EXPECT_EQ(world.text(api::kVirtualMachine, "web", "/status/stateChangeRequests/0/action"), "");
}

TEST_F(PlacementFailures, P58_AnotherVmsDiskIsUsedButNotTogether) {
    run({.name = "a", .disks = {{"shared"}}});
    make({.name = "b", .disks = {{"shared"}}});
    ASSERT_TRUE(world.until([&] { return condition("Synchronized", "b") == "False PVCInUse"; }))
        << "design: one machine per claim";
    const std::string first = uid(api::kDataVolume, "shared");
    ASSERT_TRUE(world.remove(api::kVirtualMachine, "a"));
    ASSERT_TRUE(shows("Running", 3min, "b"));
    EXPECT_NE(uid(api::kDataVolume, "shared"), first) << "b has made a disk of its own";
    EXPECT_EQ(world.text(api::kDataVolume, "shared", "/metadata/ownerReferences/0/name"), "b");
}

// Whatever the controllers had written when they were killed: one launcher, and the machine runs.
TEST(PlacementCrashes, P55_KilledAtEveryWrite) {
    std::size_t last = 0;
    for (std::size_t at = 1; at == 1 || at < last; ++at) {
        SCOPED_TRACE(at);
        World world;
        world.machines.sources["http://images/a.raw"];
        ASSERT_TRUE(world.create(VmText{}.json()));
        const auto is_running = [&] {
            return world.text(api::kVirtualMachine, "web", "/status/printableStatus") == "Running";
        };
        const std::size_t before = world.history().size();
        world.until([&] { return world.history().size() >= before + at || is_running(); });
        world.kill("controllers");
        world.run_for(1s);
        world.start("controllers");
        ASSERT_TRUE(world.until(is_running, 3min))
            << world.text(api::kVirtualMachine, "web", "/status/printableStatus");
        world.run_for(1s);
        std::set<std::string> launchers;
        for (const Seen& seen : world.history()) {
            const bool is_temporary = !seen.text("/metadata/annotations/kubevirt.io~1ephemeral-provisioning").empty();
            if (*seen.kind == api::kPod && seen.name().starts_with("virt-launcher-") && !is_temporary)
                launchers.insert(seen.text("/metadata/uid"));
        }
        EXPECT_EQ(launchers.size(), 1U);
        last = std::max(last, world.history().size() - before);
    }
}

}  // namespace
}  // namespace berth::sim
