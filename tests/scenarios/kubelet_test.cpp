// What a node does with its pods, end to end on simulated machines: start, end, restart, and a kubelet that was killed.
#include <gtest/gtest.h>

#include "sim/world.hpp"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;

/// A pod on n1. `spec` ends with a comma.
std::string pod_on_n1(
    const std::string& name,
    const std::string& spec,
    const std::string& command = R"("sleep")",
    const std::string& image = "test.local/x"
) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name + R"("},"spec":{"nodeName":"n1",)" + spec +
           R"("containers":[{"name":"main","image":")" + image + R"(","command":[)" + command + "]}]}}";
}

struct Nodes : World {
    using World::World;
    std::string pod(const std::string& name, std::string_view pointer = "/status/phase") {
        return text(api::kPod, name, pointer);
    }
    bool reaches(const std::string& name, const std::string& phase, Duration limit = 60s) {
        return until([&] { return pod(name) == phase; }, limit);
    }
    bool is_gone(const std::string& name, Duration limit = 60s) {
        return until([&] { return !get(api::kPod, "default", name); }, limit);
    }
    int starts(const std::string& container) {
        return static_cast<int>(std::ranges::count(machines.trace, "start n1 " + container));
    }
};

TEST(Nodes, L24_ShortPodSucceedsAndLeavesNothing) {
    Nodes world;
    ASSERT_TRUE(world.create(pod_on_n1("p", R"("restartPolicy":"Never",)", R"("/bin/bash")")));
    ASSERT_TRUE(world.reaches("p", "Succeeded"));
    world.run_for(1s);
    EXPECT_EQ(
        world.values(api::kPod, "p", "/status/phase"), (std::vector<std::string>{"Pending", "Running", "Succeeded"})
    );
    EXPECT_EQ(world.pod("p", "/status/containerStatuses/0/state/terminated/reason"), "Completed");
    ASSERT_TRUE(world.remove(api::kPod, "p"));
    ASSERT_TRUE(world.is_gone("p"));
    ASSERT_TRUE(
        world.until([&] { return world.node("n1").containers().empty() && world.node("n1").pod_dirs().empty(); }, 10s)
    );
}

TEST(Nodes, K93_GracePeriod) {
    Nodes world;
    ASSERT_TRUE(world.create(pod_on_n1("p", "")));
    ASSERT_TRUE(world.reaches("p", "Running"));
    ASSERT_TRUE(world.remove(api::kPod, "p", {.grace_seconds = 30}));
    EXPECT_TRUE(world.is_gone("p", 5s)) << "it ends on TERM, nobody waits for the whole period";
}

// The container's start has several steps, and nobody else goes on with them.
TEST(Nodes, KilledWhileAContainerIsOnItsWayUp) {
    Nodes world;
    ASSERT_TRUE(world.create(pod_on_n1("p", "")));
    ASSERT_TRUE(world.until([&] { return !world.node("n1").containers().empty(); }));
    world.kill("n1");
    world.run_for(10s);
    ASSERT_EQ(world.pod("p"), "Pending") << "nobody brings it up";
    world.start("n1");
    EXPECT_TRUE(world.reaches("p", "Running"));
    EXPECT_EQ(world.starts("p/main"), 1);
}

TEST(Nodes, R27_ForceDeletedPodIsCleanedUp) {
    Nodes world;
    ASSERT_TRUE(world.create(pod_on_n1("p", "")));
    ASSERT_TRUE(world.reaches("p", "Running"));
    world.kill("n1");
    ASSERT_TRUE(world.remove(api::kPod, "p", {.grace_seconds = 0}));
    EXPECT_TRUE(world.is_gone("p", 1s)) << "without the kubelet";
    EXPECT_FALSE(world.node("n1").containers().empty());
    world.start("n1");
    ASSERT_TRUE(
        world.until([&] { return world.node("n1").containers().empty() && world.node("n1").pod_dirs().empty(); }, 10s)
    );
}

TEST(Nodes, R27_NamesakeWaitsForTheRest) {
    Nodes world;
    ASSERT_TRUE(world.create(pod_on_n1("p", "")));
    ASSERT_TRUE(world.reaches("p", "Running"));
    ASSERT_TRUE(world.remove(api::kPod, "p", {.grace_seconds = 0}));
    ASSERT_TRUE(world.create(pod_on_n1("p", "")));
    ASSERT_TRUE(world.reaches("p", "Running"));
    EXPECT_EQ(world.starts("p/main"), 2);
    ASSERT_TRUE(world.until(
        [&] { return world.node("n1").containers().size() == 1 && world.node("n1").pod_dirs().size() == 1; }, 10s
    ));
}

TEST(Nodes, KilledKubeletDisturbsNothing) {
    Nodes world;
    ASSERT_TRUE(world.create(pod_on_n1("p", "")));
    ASSERT_TRUE(world.create(pod_on_n1("q", R"("restartPolicy":"Never",)")));
    ASSERT_TRUE(world.reaches("p", "Running") && world.reaches("q", "Running"));
    world.kill("n1");
    world.node("n1").release("q", 3);
    world.run_for(5s);
    EXPECT_EQ(world.pod("q"), "Running") << "nobody looks";
    world.start("n1");
    ASSERT_TRUE(world.reaches("q", "Failed", 10s));
    EXPECT_EQ(world.pod("p"), "Running");
    EXPECT_EQ(world.pod("p", "/status/containerStatuses/0/restartCount"), "");
    EXPECT_EQ(world.starts("p/main"), 1);
}

TEST(Nodes, KilledAtEveryStepOfAStart) {
    for (int steps = 0; steps < 600; steps += 60) {
        SCOPED_TRACE(steps);
        Nodes world;
        ASSERT_TRUE(world.create(pod_on_n1("p", R"("restartPolicy":"Never",)", R"("/bin/bash")")));
        const std::uint64_t stop = world.context.steps() + static_cast<std::uint64_t>(steps);
        world.until([&] { return world.context.steps() >= stop; }, 10s);
        world.kill("n1");
        world.start("n1");
        ASSERT_TRUE(world.reaches("p", "Succeeded"));
        EXPECT_EQ(world.starts("p/main"), 1) << "never twice";
    }
}

TEST(Nodes, D13_RestartsWithPauses) {
    Nodes world;
    world.machines.behaviours["p"] = {.exit_code = 1};
    ASSERT_TRUE(world.create(pod_on_n1("p", R"("restartPolicy":"OnFailure",)", R"("/bin/bash")")));
    ASSERT_TRUE(world.until(
        [&] { return world.pod("p", "/status/containerStatuses/0/state/waiting/reason") == "CrashLoopBackOff"; }, 10s
    ));
    EXPECT_EQ(world.starts("p/main"), 2) << "the first restart comes at once";
    world.run_for(1500ms);
    EXPECT_EQ(world.starts("p/main"), 3);
    world.run_for(1s);
    EXPECT_EQ(world.starts("p/main"), 3) << "then 2 s";
    world.machines.behaviours.clear();
    ASSERT_TRUE(world.reaches("p", "Succeeded"));
    EXPECT_EQ(world.starts("p/main"), 4);
}

TEST(Nodes, P69_ImageComesLater) {
    Nodes world;
    world.machines.behaviours["p"] = {.image_blocked = true};
    ASSERT_TRUE(world.create(pod_on_n1("p", "")));
    ASSERT_TRUE(world.until(
        [&] { return world.pod("p", "/status/containerStatuses/0/state/waiting/reason") == "ErrImagePull"; }, 10s
    ));
    ASSERT_TRUE(world.until(
        [&] { return world.pod("p", "/status/containerStatuses/0/state/waiting/reason") == "ImagePullBackOff"; }, 30s
    ));
    EXPECT_EQ(world.pod("p"), "Pending");
    world.machines.behaviours.clear();
    EXPECT_TRUE(world.reaches("p", "Running"));
}

TEST(Nodes, L23_SidecarsStandBeside) {
    Nodes world;
    const std::string inits =
        R"("restartPolicy":"Never","initContainers":[{"name":"log","image":"test.local/x","command":["sleep"],"restartPolicy":"Always"},{"name":"init","image":"test.local/x","command":["/bin/bash"]}],)";
    ASSERT_TRUE(world.create(pod_on_n1("p", inits, R"("/bin/bash")")));
    ASSERT_TRUE(world.reaches("p", "Succeeded"));
    const auto& trace = world.machines.trace;
    const auto at = [&](const char* line) { return std::ranges::find(trace, line) - trace.begin(); };
    EXPECT_LT(at("start n1 p/log"), at("start n1 p/init"));
    EXPECT_LT(at("exit n1 p/init 0"), at("start n1 p/main"));
    EXPECT_LT(at("exit n1 p/main 0"), at("exit n1 p/log 143"));
}

TEST(Nodes, K94_WaitsForWhatItNeeds) {
    Nodes world;
    ASSERT_TRUE(world.create(pod_on_n1("p", R"("volumes":[{"name":"c","configMap":{"name":"cm"}}],)")));
    ASSERT_TRUE(world.until(
        [&] { return world.pod("p", "/status/containerStatuses/0/state/waiting/reason") == "ContainerCreating"; }, 10s
    ));
    world.run_for(1s);
    const std::vector<std::string> events = world.events_of("p");
    EXPECT_NE(
        std::ranges::find(events, "FailedMount: MountVolume.SetUp failed for volume \"c\": configmap \"cm\" not found"),
        events.end()
    );
    ASSERT_TRUE(world.create(
        std::string_view(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"cm"},"data":{"a":"b"}})")
    ));
    EXPECT_TRUE(world.reaches("p", "Running", 5s)) << "no timer: the configmap's arrival starts it";
}

TEST(Nodes, R61_PresetNodeBindsNothing) {
    Nodes world;
    ASSERT_TRUE(world.create(std::string_view(
        R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"a"},"spec":{"storageClassName":"local","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})"
    )));
    ASSERT_TRUE(world.create(pod_on_n1("p", R"("volumes":[{"name":"a","persistentVolumeClaim":{"claimName":"a"}}],)")));
    world.run_for(60s);
    EXPECT_EQ(world.text(api::kClaim, "a", "/status/phase"), "Pending") << "K-05";
    EXPECT_EQ(world.pod("p"), "Pending");
}

}  // namespace
}  // namespace berth::sim
