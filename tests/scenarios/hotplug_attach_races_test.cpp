// Volumes that come, go and come back while something else is under way.
#include "hotplug_attach_world.hpp"

namespace berth::sim {
namespace {

class HotplugRaces : public AttachWorld {
protected:
    void plugged(const std::string& volume, const std::string& machine = "web") {
        make_claim(volume);
        add(volume, volume, machine);
        ASSERT_TRUE(is(volume, "Ready", machine));
        world.run_for(1s);
    }
    /// One add or remove, and the store's change is all that anybody has seen when it returns.
    bool reaches(const std::string& volume, const std::string& wanted) {
        return world.until([&] { return phase(volume) == wanted; }, 60s);
    }
};

TEST_F(HotplugRaces, R01_ABlockVolumeIsLetGo) {
    run_machine();
    make_claim("data", "Block");
    add("data");
    ASSERT_TRUE(is("data", "Ready"));
    const std::size_t from = world.history().size();
    drop("data");
    ASSERT_TRUE(is_gone_from("data"));
    world.run_for(1s);
    EXPECT_EQ(phases("data", from), (std::vector<std::string>{"Ready", "UnMountedFromPod", "Detaching", "-"}));
    EXPECT_EQ(std::ranges::count(world.machines.trace, std::string("plug data")), 1) << "the node is not made again";
    EXPECT_EQ(std::ranges::count(world.machines.trace, std::string("unplug data")), 1);
}

TEST_F(HotplugRaces, R02_R03_AddedAgainWhileItIsOnItsWayOut) {
    run_machine();
    plugged("data");
    for (const char* when : {"UnMountedFromPod", "Detaching"}) {
        SCOPED_TRACE(when);
        drop("data");
        ASSERT_TRUE(reaches("data", when));
        add("data");
        ASSERT_TRUE(is("data", "Ready"));
        world.run_for(5s);
        EXPECT_EQ(phase("data"), "Ready");
        EXPECT_TRUE(is_in_guest("data"));
        EXPECT_EQ(in_place()["data"], "data");
    }
    ASSERT_TRUE(world.until([&] { return attachment_pods().size() == 1; }, 2min));
}

TEST_F(HotplugRaces, R04_RemovedAndAddedAgainAtOnce) {
    run_machine();
    plugged("data");
    for (int i = 0; i < 5; ++i) {
        drop("data");
        add("data");
        world.run_for(std::chrono::milliseconds(i * 10));
    }
    world.run_for(10s);
    ASSERT_TRUE(is("data", "Ready"));
    const Launcher* launcher = world.launcher_of("web");
    EXPECT_EQ(std::ranges::count(launcher->report.disks, "data", &agent::DiskReport::name), 1);
    EXPECT_LE(detaches("data"), 5);
    EXPECT_EQ(attaches("data"), detaches("data") + 1);
}

TEST_F(HotplugRaces, R05_H86_OneThatImportsHoldsNobodyUp) {
    run_machine();
    plugged("a");
    world.machines.sources["http://images/slow.raw"].takes = 40s;
    make_disk("b", "http://images/slow.raw");
    make_claim("c");
    add_disk("b");
    add("c");
    ASSERT_TRUE(is("c", "Ready", "web", 20s));
    EXPECT_NE(disk_phase("b"), "Succeeded");
    EXPECT_TRUE(phase("b") == "Pending" || phase("b") == "Bound") << phase("b");
    ASSERT_TRUE(is("b", "Ready", "web", 2min));
    EXPECT_LE(created_pods(), 4U) << "one for each, and the one that they share";
}

TEST_F(HotplugRaces, R07_OneWithoutAnImageHoldsNobodyUp) {
    run_machine();
    world.node("n1").plugs().without_image = {"a"};
    for (const char* name : {"a", "b"}) make_claim(name);
    for (const char* name : {"a", "b"}) add(name);
    ASSERT_TRUE(is("b", "Ready", "web", 20s));
    EXPECT_EQ(phase("a"), "AttachedToNode");
    ASSERT_TRUE(world.until([&] { return has_event("web", "HotplugFailed"); }, 10s));
    for (const std::string& event : world.events_of("web")) {
        if (event.starts_with("HotplugFailed")) EXPECT_NE(event.find("volume a "), std::string::npos) << event;
    }
    world.node("n1").plugs().without_image.clear();
    ASSERT_TRUE(is("a", "Ready"));
}

TEST_F(HotplugRaces, R08_H85_AnotherClaimUnderTheSameName) {
    run_machine();
    plugged("data");
    make_claim("other");
    const std::size_t from = world.history().size();
    drop("data");
    add("data", "other");
    ASSERT_TRUE(world.until(
        [&] { return phase("data") == "Ready" && entry("data", "/persistentVolumeClaimInfo/claimName") == "other"; },
        60s
    )) << phase("data")
       << " " << entry("data", "/message");
    EXPECT_EQ(in_place()["data"], "other");
    EXPECT_EQ(attaches("data"), 2);
    EXPECT_EQ(detaches("data"), 1);
    // Ready is never said of a claim that the guest does not have.
    bool was_unmounted = false;
    for (std::size_t i = from; i < world.history().size(); ++i) {
        const Seen& seen = world.history()[i];
        if (*seen.kind != api::kVmi) continue;
        was_unmounted = was_unmounted || entry_of(*seen.object, "data", "/phase") == "UnMountedFromPod";
        if (entry_of(*seen.object, "data", "/phase") == "Ready" && !was_unmounted) {
            EXPECT_EQ(entry_of(*seen.object, "data", "/persistentVolumeClaimInfo/claimName"), "data");
        }
    }
    ASSERT_TRUE(world.until([&] { return attachment_pods().size() == 1; }, 2min));
    EXPECT_TRUE(mentions(*attachment_pods().front(), "other"));
    EXPECT_FALSE(mentions(*attachment_pods().front(), "data"));
}

TEST_F(HotplugRaces, H87_R10_TwoMachinesSwapTheirClaims) {
    run_machine("web");
    run_machine("twin");
    plugged("one", "web");
    plugged("two", "twin");
    std::string here = "one";
    std::string there = "two";
    for (int i = 0; i < 20; ++i) {
        SCOPED_TRACE(i);
        const auto swap = [&](const std::string& machine, const std::string& old_claim, const std::string& new_claim) {
            edit(machine, [&](json::Array& volumes, json::Array& disks) {
                erase(volumes, old_claim);
                erase(disks, old_claim);
                append(
                    volumes,
                    disks,
                    new_claim,
                    {
                        {"claimName", new_claim}
                }
                );
            });
        };
        swap("web", here, there);
        swap("twin", there, here);
        std::swap(here, there);
        ASSERT_TRUE(is(here, "Ready", "web", 6min));
        ASSERT_TRUE(is(there, "Ready", "twin", 6min));
        EXPECT_EQ(
            in_place("web"),
            (std::map<std::string, std::string>{
                {here, here}
        })
        );
        EXPECT_EQ(
            in_place("twin"),
            (std::map<std::string, std::string>{
                {there, there}
        })
        );
    }
}

TEST_F(HotplugRaces, R10_WhoeverWaitsIsToldFor) {
    run_machine("web");
    run_machine("twin");
    plugged("one", "twin");
    add("one", "one", "web");
    ASSERT_TRUE(is("one", "Pending", "web"));
    EXPECT_EQ(entry("one", "/reason"), "PVCNotReady");
    EXPECT_EQ(entry("one", "/message"), "PVC one is in use by VMI twin");
    world.run_for(60s);
    EXPECT_EQ(phase("one", "web"), "Pending");
    drop("one", "twin");
    ASSERT_TRUE(is("one", "Ready", "web"));
}

TEST_F(HotplugRaces, R11_AGuestThatDoesNotLetGo) {
    run_machine();
    plugged("one");
    world.launcher_of("web")->ignores_unplug = {"one"};
    drop("one");
    make_claim("two");
    add("two");
    ASSERT_TRUE(is("two", "Ready"));
    world.run_for(60s);
    EXPECT_EQ(phase("one"), "Ready");
    EXPECT_EQ(entry("one", "/reason"), "DetachPending");
    EXPECT_NE(entry("one", "/target"), entry("two", "/target"));
    EXPECT_TRUE(std::ranges::any_of(attachment_pods(), [](const auto& pod) {
        return runs(*pod) && mentions(*pod, "one");
    }));
    world.launcher_of("web")->release("one");
    ASSERT_TRUE(is_gone_from("one"));
    EXPECT_EQ(phase("two"), "Ready");
}

TEST_F(HotplugRaces, R12_ABusyMountKeepsItsPod) {
    run_machine();
    for (const char* name : {"one", "two"}) plugged(name);
    world.node("n1").plugs().failing_unplug = {"one"};
    drop("one");
    drop("two");
    ASSERT_TRUE(is_gone_from("two"));
    ASSERT_TRUE(world.until([&] { return has_event("web", "SyncFailed"); }, 10s));
    world.run_for(10s);
    EXPECT_TRUE(std::ranges::any_of(attachment_pods(), [](const auto& pod) {
        return runs(*pod) && mentions(*pod, "one");
    }));
    EXPECT_TRUE(in_place().contains("one"));
    world.node("n1").plugs().failing_unplug.clear();
    ASSERT_TRUE(is_gone_from("one"));
}

TEST_F(HotplugRaces, R16_R36_ManyComeWhileOthersAreAttached) {
    run_machine();
    std::vector<std::string> names;
    for (int i = 0; i < 12; ++i) names.push_back("v" + std::to_string(i));
    for (const std::string& name : names) make_claim(name);
    for (const std::string& name : names) {
        add(name);
        world.run_for(30ms);  // in the middle of the one before
    }
    for (const std::string& name : names) ASSERT_TRUE(is(name, "Ready"));
    world.run_for(1s);
    for (const std::string& name : names) {
        // No step back, and none lost between the two writers.
        const std::vector<std::string> seen = phases(name);
        EXPECT_EQ(std::ranges::count(seen, "MountedToPod"), 1) << name;
        EXPECT_EQ(std::ranges::count(seen, "AttachedToNode"), 1) << name;
        EXPECT_EQ(seen.back(), "Ready");
        EXPECT_EQ(attaches(name), 1) << name;
        EXPECT_EQ(detaches(name), 0) << name;
    }
}

// The launcher pod is gone, its attachment pod is not: it still counts as the machine's, its annotations say so. When
// it goes, whoever waits for the claim is looked at.
TEST_F(HotplugRaces, R18_TheLauncherPodGoesFirst) {
    SCOPED_TRACE("hotplug/R-18");
    run_machine("web");
    run_machine("twin");
    plugged("data");
    const std::string pod(json::text_at(*attachment_pods().front(), "/metadata/name"));
    ASSERT_TRUE(world.patch(api::kPod, pod, R"({"metadata":{"finalizers":["test.example/hold"]}})"));
    world.kill("n1");  // nobody ends the containers
    for (const kube::Document& each : world.list(api::kPod)) {
        const std::string name(json::text_at(*each, "/metadata/name"));
        if (name.starts_with("virt-launcher-web")) ASSERT_TRUE(world.remove(api::kPod, name, {.grace_seconds = 0}));
    }
    ASSERT_TRUE(world.until([&] { return vmi("/status/phase") == "Failed"; }, 10s));
    ASSERT_EQ(attachment_pods().size(), 1U);
    add("data", "data", "twin");
    world.run_for(10s);
    EXPECT_EQ(phase("data", "twin"), "Pending");
    EXPECT_EQ(entry("data", "/message", "twin"), "PVC data is in use by VMI web");
    ASSERT_TRUE(world.patch(api::kPod, pod, R"({"metadata":{"finalizers":null}})"));
    world.start("n1");
    EXPECT_TRUE(is("data", "Ready", "twin"));
    EXPECT_EQ(attachment_pods("web").size(), 0U);
}

TEST_F(HotplugRaces, R19_ThreeDisksThatWaitForTheirConsumer) {
    run_machine();
    for (const char* name : {"a", "b", "c"}) make_disk(name, "http://images/a.raw");
    ASSERT_TRUE(world.until([&] { return disk_phase("c") == "WaitForFirstConsumer"; }));
    edit("web", [&](json::Array& volumes, json::Array& disks) {
        for (const char* name : {"a", "b", "c"})
            append(
                volumes,
                disks,
                name,
                {
                    {"name", name}
            }
            );
    });
    for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(is(name, "Ready"));
    std::map<std::string, std::set<std::string>> live;  // claim → trigger pods
    std::set<std::string> all;
    for (const Seen& seen : world.history()) {
        if (*seen.kind != api::kPod || seen.text("/metadata/labels/kubevirt.io") != "hotplug-disk" ||
            is_attachment(*seen.object))
            continue;
        const std::string claim = seen.text("/spec/volumes/1/persistentVolumeClaim/claimName");
        all.insert(seen.name());
        if (seen.type == "DELETED" || !seen.text("/metadata/deletionTimestamp").empty()) {
            live[claim].erase(seen.name());
        } else {
            live[claim].insert(seen.name());
        }
        EXPECT_LE(live[claim].size(), 1U) << claim;
    }
    EXPECT_EQ(all.size(), 3U);
    for (const char* name : {"a", "b", "c"}) {
        EXPECT_FALSE(contains(phases(name), std::string("UnMountedFromPod")));
    }
}

TEST_F(HotplugRaces, R37_ABindingWakesTheMachine) {
    run_machine();
    // Bound by hand: neither a DataVolume nor a pod says anything of it.
    ASSERT_TRUE(world
                    .create(std::string_view(
                        R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"data"},"spec":{
        "storageClassName":"","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})"
                    ))
                    .has_value());
    add("data");
    ASSERT_TRUE(is("data", "AttachedToNode"));
    world.run_for(5s);
    ASSERT_TRUE(world
                    .create(std::string_view(
                        R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"by-hand"},"spec":{
        "capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"local":{"path":"/sim/n1/volumes/by-hand"},
        "nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[
            {"key":"kubernetes.io/hostname","operator":"In","values":["n1"]}]}]}}}})"
                    ))
                    .has_value());
    world.machines.volumes["by-hand"].size = 1_GiB;
    ASSERT_TRUE(is("data", "Ready"));
    EXPECT_EQ(in_place()["data"], "data");
}

}  // namespace
}  // namespace berth::sim
