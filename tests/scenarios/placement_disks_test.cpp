// Which pods a machine gets for which disks, and where they land.
#include "placement_world.hpp"

namespace berth::sim {
namespace {

class PlacementDisks : public PlacementWorld {};

TEST_F(PlacementDisks, P04_TheTwoPodsDifferOnlyInWhatTheyRun) {
    run();
    json::Value temp, real;
    for (const Seen& seen : world.history()) {
        if (*seen.kind != api::kPod || seen.type != "ADDED" || !seen.name().starts_with("virt-launcher-web-")) continue;
        json::Value spec = *json::find(*seen.object, "/spec");
        json::erase(spec, "/containers/0/command");
        json::erase(spec, "/containers/0/args");
        json::erase(spec, "/nodeName");
        (seen.text("/metadata/annotations/kubevirt.io~1ephemeral-provisioning").empty() ? real : temp) = spec;
    }
    EXPECT_EQ(json::print(temp), json::print(real));
}

TEST_F(PlacementDisks, P07_ProvisioningIsShownWhileThePodBinds) {
    run();
    bool shown = false;
    for (const Seen& seen : world.history()) {
        if (*seen.kind != api::kVmi) continue;
        const std::string text = json::print(*seen.object);
        const bool provisions = text.find(R"("type":"Provisioning")") != std::string::npos;
        shown = shown || provisions;
        const std::string phase = seen.text("/status/phase");
        if (phase == "Scheduled" || phase == "Running") EXPECT_FALSE(provisions);
        if (provisions) EXPECT_NE(text.find(R"("reason":"PodNotExists")"), std::string::npos);
    }
    EXPECT_TRUE(shown);
}

TEST_F(PlacementDisks, P09_VolumeStatusNamesTheClaim) {
    run();
    const std::string at = "/status/volumeStatus/0";
    EXPECT_EQ(vmi(at + "/persistentVolumeClaimInfo/claimName"), "root");
    EXPECT_EQ(vmi(at + "/persistentVolumeClaimInfo/accessModes/0"), "ReadWriteOnce");
    EXPECT_EQ(vmi(at + "/persistentVolumeClaimInfo/volumeMode"), "Filesystem");
    EXPECT_EQ(
        vmi(at + "/persistentVolumeClaimInfo/capacity/storage"),
        world.text(api::kClaim, "root", "/status/capacity/storage")
    );
    EXPECT_NE(vmi(at + "/persistentVolumeClaimInfo/filesystemOverhead"), "");
    EXPECT_EQ(vmi(at + "/phase"), "");
    EXPECT_EQ(vmi(at + "/target"), "vda");
}

TEST_F(PlacementDisks, P10_OnePodPlacesThreeDisks) {
    run({
        .disks = {{"a"}, {"b"}, {"c"}}
    });
    EXPECT_EQ(pods(true).size(), 1U);
    EXPECT_EQ(pods(false).size(), 1U);
    EXPECT_EQ(volume_node("a"), volume_node("b"));
    EXPECT_EQ(volume_node("b"), volume_node("c"));
    EXPECT_NE(volume_node("c"), "");
}

TEST_F(PlacementDisks, P11_SelectorsDecideForTheDisks) {
    run({
        .disks = {{"a"}, {"b"}},
          .machine = R"("nodeSelector":{"kubernetes.io/hostname":"n2"},)"
    });
    EXPECT_EQ(volume_node("a"), "n2");
    EXPECT_EQ(volume_node("b"), "n2");
    EXPECT_EQ(vmi("/status/nodeName"), "n2");
}

TEST_F(PlacementDisks, P11_CordonedNodesAreLeftAlone) {
    for (const char* node : {"n1", "n3"})
        ASSERT_TRUE(world.patch(api::kNode, node, R"({"spec":{"unschedulable":true}})"));
    run();
    EXPECT_EQ(volume_node("root"), "n2");
}

TEST_F(PlacementDisks, P12_TolerationsReachBothPods) {
    for (const char* node : {"n1", "n2"})
        ASSERT_TRUE(world.patch(api::kNode, node, R"({"spec":{"unschedulable":true}})"));
    ASSERT_TRUE(world.patch(api::kNode, "n3", R"({"spec":{"taints":[{"key":"vms","effect":"NoSchedule"}]}})"));
    run({.machine = R"("tolerations":[{"key":"vms","operator":"Exists"}],)"});
    EXPECT_EQ(vmi("/status/nodeName"), "n3") << "P-78: the worker got there too";
}

TEST_F(PlacementDisks, P17_StoppedWhileNothingFits) {
    make({.machine = R"("nodeSelector":{"no":"where"},)"});
    ASSERT_TRUE(shows("ErrorUnschedulable"));
    EXPECT_EQ(condition("PodScheduled"), "False Unschedulable");
    EXPECT_EQ(world.machine_verb("web", "stop"), 202);
    ASSERT_TRUE(shows("Stopped"));
    EXPECT_TRUE(world.list(api::kVmi).empty());
    EXPECT_TRUE(world.list(api::kPod).empty());
    EXPECT_EQ(world.text(api::kClaim, "root", "/status/phase"), "Pending");
    EXPECT_EQ(world.text(api::kClaim, "root", "/metadata/annotations/volume.kubernetes.io~1selected-node"), "");
}

TEST_F(PlacementDisks, P18_AnImmediateDiskNeedsNoPod) {
    run({.disks = {{.name = "root", .storage_class = "local-immediate"}}});
    EXPECT_TRUE(pods(true).empty());
    EXPECT_TRUE(
        contains(world.values(api::kVirtualMachine, "web", "/status/printableStatus"), std::string("Provisioning"))
    );
    // The machine is made only after the disk is filled.
    std::string phase;
    for (const Seen& seen : world.history()) {
        if (*seen.kind == api::kDataVolume) phase = seen.text("/status/phase");
        if (*seen.kind == api::kVmi) break;
    }
    EXPECT_EQ(phase, "Succeeded");
}

TEST_F(PlacementDisks, P19_AWaitingDiskFollowsAnImmediateOne) {
    run({
        .disks = {{.name = "a", .storage_class = "local-immediate"}, {"b"}}
    });
    EXPECT_EQ(pods(true).size(), 1U);
    EXPECT_EQ(volume_node("a"), volume_node("b"));
}

TEST_F(PlacementDisks, P21_ABareClaimBindsThroughTheLauncher) {
    ASSERT_TRUE(world.create(claim_text("data")));
    run({.disks = {}, .claims = {"data"}});
    EXPECT_TRUE(pods(true).empty());
    EXPECT_EQ(pods(false).size(), 1U);
    EXPECT_EQ(volume_node("data"), vmi("/status/nodeName"));
}

TEST_F(PlacementDisks, P22_AClaimVolumeOfADataVolumeThatWaits) {
    ASSERT_TRUE(world.create(std::string_view(
        R"({"apiVersion":"cdi.kubevirt.io/v1beta1","kind":"DataVolume","metadata":{"name":"data"},"spec":{"source":{"blank":{}},"pvc":{"storageClassName":"local","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}})"
    )));
    ASSERT_TRUE(world.until([&] { return disk_phase("data") == "WaitForFirstConsumer"; }));
    run({.disks = {}, .claims = {"data"}});
    EXPECT_EQ(pods(true).size(), 1U);
    EXPECT_EQ(disk_phase("data"), "Succeeded");
}

TEST_F(PlacementDisks, P23_AFilledDiskNeedsNoPod) {
    ASSERT_TRUE(world.create(std::string_view(
        R"({"apiVersion":"cdi.kubevirt.io/v1beta1","kind":"DataVolume","metadata":{"name":"data"},"spec":{"source":{"blank":{}},"pvc":{"storageClassName":"local-immediate","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}})"
    )));
    ASSERT_TRUE(world.until([&] { return disk_phase("data") == "Succeeded"; }));
    run({.disks = {}, .claims = {"data"}});
    EXPECT_TRUE(pods(true).empty());
    EXPECT_FALSE(has_event("web", "SuccessfulDataVolumeCreate"));
}

TEST_F(PlacementDisks, P24_AHaltedVmHasItsDisks) {
    make({.strategy = "Halted"});
    ASSERT_TRUE(world.until([&] { return disk_phase() == "WaitForFirstConsumer"; }));
    world.run_for(5s);
    EXPECT_EQ(vm_word(), "Stopped");
    EXPECT_TRUE(world.ever(api::kPod).empty());
    EXPECT_EQ(world.machine_verb("web", "start"), 202);
    ASSERT_TRUE(shows("Running"));
    EXPECT_EQ(pods(true).size(), 1U);
}

TEST_F(PlacementDisks, P25_DisksOnStartOnly) {
    make({.strategy = "Halted", .annotations = R"("kubevirt.io/immediate-data-volume-creation":"false")"});
    world.run_for(10s);
    EXPECT_TRUE(world.ever(api::kDataVolume).empty());
    EXPECT_EQ(world.machine_verb("web", "start"), 202);
    ASSERT_TRUE(shows("Running"));
    EXPECT_EQ(world.machine_verb("web", "stop"), 202);
    ASSERT_TRUE(shows("Stopped"));
    EXPECT_EQ(disk_phase(), "Succeeded");
}

TEST_F(PlacementDisks, P26_AManualVmStartsWhenAsked) {
    make({.strategy = "Manual"});
    world.run_for(5s);
    EXPECT_TRUE(world.list(api::kVmi).empty());
    EXPECT_EQ(world.machine_verb("web", "start"), 202);
    ASSERT_TRUE(shows("Running"));
    EXPECT_TRUE(contains(
        world.values(api::kVirtualMachine, "web", "/status/stateChangeRequests/0/action"), std::string("Start")
    ));
    EXPECT_EQ(world.text(api::kVirtualMachine, "web", "/status/stateChangeRequests/0/action"), "");
    EXPECT_EQ(world.machine_verb("web", "start"), 409);
}

TEST_F(PlacementDisks, ARunningMachineIsReadyAndQuiet) {
    run();
    world.run_for(10s);
    EXPECT_EQ(condition("Ready"), "True");
    EXPECT_TRUE(world.is_quiet());
    const std::size_t before = world.history().size();
    world.run_for(5min);
    for (std::size_t i = before; i < world.history().size(); ++i) {
        ADD_FAILURE() << world.history()[i].kind->kind << " " << world.history()[i].name()
                      << " was written for nothing";
    }
}

TEST_F(PlacementDisks, P76_MemoryOfBothPods) {
    std::string text = VmText{}.json();
    text.replace(text.find("256Mi"), 5, "1Gi");
    ASSERT_TRUE(world.create(text));
    ASSERT_TRUE(shows("Running"));
    int checked = 0;
    for (const Seen& seen : world.history()) {
        if (*seen.kind != api::kPod || seen.type != "ADDED" || !seen.name().starts_with("virt-launcher-")) continue;
        const std::string requests = "/spec/containers/0/resources/requests/";
        EXPECT_EQ(bytes_or_zero(Quantity{seen.text(requests + "memory")}), 1_GiB + 288_MiB);
        EXPECT_EQ(seen.text(requests + "cpu"), "100m");
        EXPECT_EQ(seen.text(requests + "ephemeral-storage"), "50M");
        EXPECT_EQ(json::integer_at(*seen.object, "/spec/terminationGracePeriodSeconds"), 60);
        ++checked;
    }
    EXPECT_EQ(checked, 2);
}

TEST_F(PlacementDisks, P66_P67_WhatIsRefused) {
    std::string unreferenced = VmText{.claims = {"x"}}.json();
    unreferenced.replace(unreferenced.find(R"("dataVolume":{"name":"root"})"), 28, R"("dataVolume":{"name":"else"})");
    const Result<kube::Document> refused = world.create(unreferenced);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid);
    EXPECT_NE(
        refused.error().message.find("must be referenced in the VMI template's 'volumes' list"), std::string::npos
    ) << refused.error().message;
    std::string both = VmText{}.json();
    both.replace(both.find(R"("runStrategy")"), 0, R"("running":true,)");
    EXPECT_FALSE(world.create(both).has_value());
    std::string old_form = VmText{}.json();
    old_form.replace(old_form.find(R"("runStrategy":"Always")"), 22, R"("running":true)");
    ASSERT_TRUE(world.create(old_form).has_value());
    ASSERT_TRUE(shows("Running"));
    EXPECT_EQ(world.machine_verb("web", "stop"), 202);
    ASSERT_TRUE(shows("Stopped"));
    const auto vm = world.get(api::kVirtualMachine, "default", "web");
    EXPECT_FALSE(json::bool_at(**vm, "/spec/running", true));
}

TEST_F(PlacementDisks, ClaimsThatOneMachineMayHaveAreNotShared) {
    ASSERT_TRUE(world.create(claim_text("data")));
    run({.name = "a", .disks = {}, .claims = {"data"}});
    make({.name = "b", .disks = {}, .claims = {"data"}});
    ASSERT_TRUE(world.until([&] { return condition("Synchronized", "b") == "False PVCInUse"; }));
    world.run_for(30s);
    EXPECT_TRUE(pods(false, "b").empty());
    EXPECT_EQ(world.machine_verb("a", "stop"), 202);
    ASSERT_TRUE(shows("Running", 60s, "b"));
    EXPECT_EQ(condition("Synchronized", "b"), "-");
}

TEST_F(PlacementDisks, TwoMachinesMadeTogetherNeverBothStart) {
    ASSERT_TRUE(world.create(claim_text("data")));
    make({.name = "a", .disks = {}, .claims = {"data"}});
    make({.name = "b", .disks = {}, .claims = {"data"}});
    ASSERT_TRUE(shows("Running", 60s, "a"));
    world.run_for(60s);
    EXPECT_TRUE(pods(false, "b").empty());
}

TEST_F(PlacementDisks, P52_ThirtyMachinesAtOnce) {
    constexpr int kMachines = 30;
    for (int i = 0; i < kMachines; ++i) {
        const std::string name = "m" + std::to_string(i);
        make({
            .name = name, .disks = {{name + "-a"}, {name + "-b"}}
        });
    }
    int running = 0;
    const auto all_run = [&] {
        while (running < kMachines && vm_word("m" + std::to_string(running)) == "Running") ++running;
        return running == kMachines;
    };
    ASSERT_TRUE(world.until(all_run, 10min));
    world.run_for(5s);
    for (int i = 0; i < kMachines; ++i) {
        const std::string name = "m" + std::to_string(i);
        EXPECT_EQ(volume_node(name + "-a"), vmi("/status/nodeName", name));
        EXPECT_EQ(volume_node(name + "-b"), vmi("/status/nodeName", name));
        EXPECT_EQ(pods(true, name).size(), 1U);
        EXPECT_EQ(pods(false, name).size(), 1U);
    }
    EXPECT_EQ(world.list(api::kPod).size(), static_cast<std::size_t>(kMachines));
}

TEST_F(PlacementDisks, P59_ASelectorThatLeavesTheDisksBehind) {
    run({.machine = R"("nodeSelector":{"kubernetes.io/hostname":"n1"},)"});
    const auto select = [&](const std::string& node) {
        const std::string selector = R"({"kubernetes.io/hostname":")" + node + R"("})";
        return world.patch(
            api::kVirtualMachine, "web", R"({"spec":{"template":{"spec":{"nodeSelector":)" + selector + "}}}}"
        );
    };
    ASSERT_TRUE(select("n2").has_value());
    world.run_for(1s);
    EXPECT_EQ(vm_word(), "Running") << "R-48: a running machine keeps its spec";
    EXPECT_EQ(world.machine_verb("web", "restart"), 202);
    ASSERT_TRUE(shows("ErrorUnschedulable"));
    EXPECT_EQ(pods(true).size(), 1U) << "B-02: disks are never placed again";
    ASSERT_TRUE(select("n1").has_value());
    EXPECT_EQ(world.machine_verb("web", "restart"), 202);
    ASSERT_TRUE(shows("Running"));
}

TEST_F(PlacementDisks, P63_AClaimThatIsThereIsAdopted) {
    ASSERT_TRUE(world.create(claim_text("root")));
    run();
    EXPECT_EQ(disk_phase(), "Succeeded");
    EXPECT_EQ(world.text(api::kClaim, "root", "/metadata/ownerReferences/0/kind"), "DataVolume");
    for (const std::string& pod : world.ever(api::kPod)) EXPECT_FALSE(pod.starts_with("importer-")) << "its data stays";
    EXPECT_FALSE(has_event("web", "FailedDataVolumeCreate"));
}

TEST_F(PlacementDisks, P64_AnothersClaimIsLeftAlone) {
    std::string foreign = claim_text("root");
    foreign.replace(
        foreign.find(R"("name":"root")"),
        13,
        R"("name":"root","ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"n1","uid":")" +
            uid(api::kNode, "n1") + R"(","controller":true}])"
    );
    ASSERT_TRUE(world.create(foreign));
    make({});
    ASSERT_TRUE(world.until([&] { return has_event("root", "ErrResourceExists"); }));
    world.run_for(30s);
    EXPECT_TRUE(world.ever(api::kPod).empty());
    EXPECT_EQ(world.text(api::kClaim, "root", "/metadata/ownerReferences/0/kind"), "Node");
    ASSERT_TRUE(world.patch(api::kClaim, "root", R"({"metadata":{"ownerReferences":null}})"));
    ASSERT_TRUE(shows("Running"));
}

}  // namespace
}  // namespace berth::sim
