// What the solo cluster itself does, end to end on simulated machines: placing pods with their claims, binding and
// making volumes, protection, garbage collection, namespaces. Pods are plain ones: no virtual machine is needed.
#include <gtest/gtest.h>

#include "sim/world.hpp"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;

std::string text_of(const json::Value& value) { return json::print(value); }

std::string claim(const std::string& name, const std::string& class_name, const std::string& size) {
    return R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":")" + name +
           R"("},"spec":{"storageClassName":")" + class_name +
           R"(","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":")" + size + R"("}}}})";
}

std::string static_volume(const std::string& name, const std::string& node, const std::string& size) {
    return R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":")" + name +
           R"("},"spec":{"storageClassName":"static","capacity":{"storage":")" + size +
           R"("},"accessModes":["ReadWriteOnce"],"local":{"path":"/disks/)" + name +
           R"("},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"kubernetes.io/hostname","operator":"In","values":[")" +
           node + R"("]}]}]}}}})";
}

constexpr const char* kStatic =
    R"({"apiVersion":"storage.k8s.io/v1","kind":"StorageClass","metadata":{"name":"static"},"provisioner":"kubernetes.io/no-provisioner","volumeBindingMode":"WaitForFirstConsumer"})";

struct PodText {
    std::string name;
    std::vector<std::string> claims = {};
    std::string spec = {};  ///< more fields, each ending with a comma
    std::string command = R"("sleep")";
    std::string memory = "64Mi";
};

std::string print(const PodText& pod) {
    std::string volumes, mounts;
    for (const std::string& name : pod.claims) {
        volumes += std::string(volumes.empty() ? "" : ",") + R"({"name":")" + name +
                   R"(","persistentVolumeClaim":{"claimName":")" + name + R"("}})";
        mounts +=
            std::string(mounts.empty() ? "" : ",") + R"({"name":")" + name + R"(","mountPath":"/mnt/)" + name + R"("})";
    }
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + pod.name +
           R"(","labels":{"app":"test"}},"spec":{)" + pod.spec +
           R"("containers":[{"name":"main","image":"test.local/sleep","command":[)" + pod.command +
           R"(],"resources":{"requests":{"memory":")" + pod.memory + R"("}},"volumeMounts":[)" + mounts +
           R"(]}],"volumes":[)" + volumes + "]}}";
}

struct Cluster : World {
    using World::World;

    std::string pod(const std::string& name, std::string_view pointer = "/status/phase") {
        return text(api::kPod, name, pointer);
    }
    std::string pvc(const std::string& name, std::string_view pointer = "/status/phase") {
        return text(api::kClaim, name, pointer);
    }
    std::string pv(const std::string& name, std::string_view pointer = "/status/phase") {
        return text(api::kVolume, name, pointer);
    }
    std::string selected(const std::string& name) {
        return pvc(name, "/metadata/annotations/volume.kubernetes.io~1selected-node");
    }
    std::string scheduled(const std::string& name, std::string_view field) {
        const Result<kube::Document> found = get(api::kPod, "default", name);
        const json::Value* conditions = found ? json::find(**found, "/status/conditions") : nullptr;
        if (conditions == nullptr) return {};
        for (const json::Value& one : conditions->as_array()) {
            if (json::text_at(one, "/type") == "PodScheduled")
                return std::string(json::text_at(one, std::string("/") + std::string(field)));
        }
        return {};
    }
    bool runs(const std::string& name) {
        return until([&] { return pod(name) == "Running"; }, 60s);
    }
    bool is_gone(const api::Kind& kind, const std::string& name, Duration limit = 60s) {
        return until([&] { return !get(kind, kind.is_namespaced() ? "default" : "", name); }, limit);
    }
    void must(const std::string& document) {
        const Result<kube::Document> made = create(document);
        ASSERT_TRUE(made.has_value()) << made.error().message;
    }
    /// The node of the volume that the claim is bound to.
    std::string node_of(const std::string& claim_name) {
        return pv(
            pvc(claim_name, "/spec/volumeName"),
            "/spec/nodeAffinity/required/nodeSelectorTerms/0/matchExpressions/0/values/0"
        );
    }
};

// --- volumes that exist ---

TEST(Cluster, P13_StaticVolumeDecidesTheNode) {
    Cluster world;
    world.must(kStatic);
    world.must(static_volume("small", "n1", "5Gi"));
    world.must(static_volume("big", "n2", "20Gi"));
    world.must(claim("a", "static", "10Gi"));
    world.run_for(1s);
    EXPECT_EQ(world.pvc("a"), "Pending") << "4.10: no pod is being scheduled";
    world.must(print({.name = "p", .claims = {"a"}}));
    ASSERT_TRUE(world.runs("p"));
    EXPECT_EQ(world.pod("p", "/spec/nodeName"), "n2");
    EXPECT_EQ(world.pvc("a", "/spec/volumeName"), "big");
    EXPECT_EQ(world.pvc("a", "/status/capacity/storage"), "20Gi") << "R-50";
    EXPECT_EQ(world.pv("small"), "Available");
}

TEST(Cluster, P15_WaitsUntilAVolumeComes) {
    Cluster world;
    world.must(kStatic);
    world.must(static_volume("v1", "n1", "1Gi"));
    world.must(static_volume("v2", "n2", "1Gi"));
    world.must(claim("a", "static", "1Gi"));
    world.must(claim("b", "static", "1Gi"));
    world.must(print({
        .name = "p", .claims = {"a", "b"}
    }));
    ASSERT_TRUE(world.until([&] { return world.scheduled("p", "reason") == "Unschedulable"; }, 10s));
    EXPECT_NE(
        world.scheduled("p", "message").find("didn't find available persistent volumes to bind"), std::string::npos
    );
    EXPECT_EQ(world.pv("v1", "/spec/claimRef/name") + world.pv("v2", "/spec/claimRef/name"), "");
    world.must(static_volume("v3", "n2", "1Gi"));
    ASSERT_TRUE(world.runs("p"));
    EXPECT_EQ(world.node_of("a") + world.node_of("b"), "n2n2");
}

TEST(Cluster, P53_TenVolumesTenPodsAtOnce) {
    Cluster world;
    world.must(kStatic);
    for (int i = 0; i < 10; ++i) world.must(static_volume("v" + std::to_string(i), i % 2 == 0 ? "n1" : "n2", "1Gi"));
    for (int i = 0; i < 10; ++i) {
        world.must(claim("c" + std::to_string(i), "static", "1Gi"));
        world.must(print({.name = "p" + std::to_string(i), .claims = {"c" + std::to_string(i)}}));
    }
    std::set<std::string> bound;
    for (int i = 0; i < 10; ++i) {
        ASSERT_TRUE(world.runs("p" + std::to_string(i)));
        bound.insert(world.pvc("c" + std::to_string(i), "/spec/volumeName"));
        EXPECT_EQ(world.node_of("c" + std::to_string(i)), world.pod("p" + std::to_string(i), "/spec/nodeName"));
    }
    EXPECT_EQ(bound.size(), 10U) << "R-20: each exactly once";
}

TEST(Cluster, P70_RetainedVolumesStayReleased) {
    Cluster world;
    world.must(kStatic);
    world.must(static_volume("v1", "n1", "1Gi"));
    world.must(claim("a", "static", "1Gi"));
    world.must(print({.name = "p", .claims = {"a"}}));
    ASSERT_TRUE(world.runs("p"));
    ASSERT_TRUE(world.remove(api::kPod, "p", {.grace_seconds = 0}));
    ASSERT_TRUE(world.remove(api::kClaim, "a"));
    ASSERT_TRUE(world.until([&] { return world.pv("v1") == "Released"; }, 10s)) << "K-92";
    world.must(claim("a", "static", "1Gi"));
    world.must(print({.name = "q", .claims = {"a"}}));
    world.run_for(30s);
    EXPECT_EQ(world.pod("q"), "Pending") << "R-39: a namesake does not inherit it";
    EXPECT_EQ(world.pv("v1"), "Released");
}

// --- volumes that are made ---

TEST(Cluster, P02_P10_OneNodeForAllClaims) {
    Cluster world;
    for (const char* name : {"a", "b", "c"}) world.must(claim(name, "local", "1Gi"));
    world.must(print({
        .name = "p", .claims = {"a", "b", "c"}
    }));
    ASSERT_TRUE(world.runs("p"));
    const std::string node = world.pod("p", "/spec/nodeName");
    for (const char* name : {"a", "b", "c"}) {
        EXPECT_EQ(world.node_of(name), node);
        EXPECT_EQ(world.selected(name), node);
        EXPECT_EQ(
            world.pvc(name, "/metadata/annotations/volume.kubernetes.io~1storage-provisioner"), "local.berth.dev"
        );
    }
    EXPECT_EQ(
        world.events_of("a"),
        (std::vector<std::string>{
            "WaitForFirstConsumer: waiting for first consumer to be created before binding",
            "ProvisioningSucceeded: Successfully provisioned volume pvc-" + world.pvc("a", "/metadata/uid"),
        })
    ) << "P-08";
}

TEST(Cluster, P16_P17_NothingSticksToWhatCannotRun) {
    Cluster world;
    world.must(claim("a", "local", "1Gi"));
    world.must(print({.name = "p", .claims = {"a"}, .memory = "16Gi"}));
    ASSERT_TRUE(world.until(
        [&] { return world.scheduled("p", "message") == "0/3 nodes are available: 3 Insufficient memory."; }, 10s
    ));
    ASSERT_TRUE(world.remove(api::kPod, "p"));
    ASSERT_TRUE(world.is_gone(api::kPod, "p"));
    EXPECT_TRUE(world.values(api::kClaim, "a", "/metadata/annotations/volume.kubernetes.io~1selected-node").empty());
    EXPECT_EQ(world.pvc("a"), "Pending");
}

TEST(Cluster, P18_ImmediateNeedsNoPod) {
    Cluster world;
    world.must(claim("a", "local-immediate", "1Gi"));
    ASSERT_TRUE(world.until([&] { return world.pvc("a") == "Bound"; }, 10s));
    world.must(print({.name = "p", .claims = {"a"}}));
    ASSERT_TRUE(world.runs("p"));
    EXPECT_EQ(world.pod("p", "/spec/nodeName"), world.node_of("a"));
}

TEST(Cluster, P48_RescheduleFreesTheNode) {
    Cluster world;
    world.node("n1").refuses_volumes = true;
    world.must(claim("a", "local", "1Gi"));
    world.must(print({.name = "p", .claims = {"a"}}));
    ASSERT_TRUE(world.until([&] { return world.scheduled("p", "reason") == "SchedulerError"; }, 10s)) << "K-32";
    EXPECT_EQ(world.scheduled("p", "message"), "provisioning failed for PVC \"a\"");
    ASSERT_TRUE(world.patch(api::kNode, "n1", R"({"spec":{"unschedulable":true}})"));
    ASSERT_TRUE(world.runs("p")) << "R-16";
    EXPECT_EQ(world.selected("a"), "n2");
}

TEST(Cluster, P49_PlainErrorKeepsTheNode) {
    Cluster world;
    world.node("n1").fails_all_volumes = true;
    world.must(claim("a", "local", "1Gi"));
    world.must(print({.name = "p", .claims = {"a"}}));
    ASSERT_TRUE(world.until([&] { return world.selected("a") == "n1"; }, 10s));
    world.run_for(60s);
    EXPECT_EQ(
        world.values(api::kClaim, "a", "/metadata/annotations/volume.kubernetes.io~1selected-node"),
        std::vector<std::string>{"n1"}
    );
    const std::vector<std::string> events = world.events_of("a");
    EXPECT_NE(std::ranges::find(events, "ProvisioningFailed: no space left on device"), events.end()) << "K-62";
    world.node("n1").fails_all_volumes = false;
    ASSERT_TRUE(world.runs("p"));
    EXPECT_EQ(world.pod("p", "/spec/nodeName"), "n1") << "R-14";
}

TEST(Cluster, P50_SelectedNodeIsDeleted) {
    Cluster world;
    world.node("n1").fails_all_volumes = true;
    world.must(claim("a", "local", "1Gi"));
    world.must(print({.name = "p", .claims = {"a"}}));
    ASSERT_TRUE(world.until([&] { return world.selected("a") == "n1"; }, 10s));
    ASSERT_TRUE(world.remove(api::kNode, "n1"));
    ASSERT_TRUE(world.until([&] { return world.selected("a") != "n1"; }, 60s)) << "R-17";
    ASSERT_TRUE(world.runs("p"));
    EXPECT_EQ(world.pod("p", "/spec/nodeName"), "n2");
}

TEST(Cluster, P74_BindTimeoutIsASchedulerError) {
    Cluster world;
    world.node("n1").fails_all_volumes = true;
    world.must(claim("a", "local", "1Gi"));
    world.must(print({.name = "p", .claims = {"a"}}));
    ASSERT_TRUE(world.until([&] { return world.scheduled("p", "reason") == "SchedulerError"; }, 11min)) << "R-19";
    EXPECT_EQ(world.scheduled("p", "message"), "binding volumes: context deadline exceeded");
    EXPECT_EQ(world.selected("a"), "n1");
    world.node("n1").fails_all_volumes = false;
    ASSERT_TRUE(world.until([&] { return world.pod("p") == "Running"; }, 2min));
    EXPECT_EQ(world.ever(api::kVolume).size(), 1U);
}

TEST(Cluster, K65_ClaimsOfAPodAreCountedTogether) {
    Cluster world;
    for (const char* name : {"a", "b", "c", "d"}) world.must(claim(name, "local", "60Gi"));
    world.must(print({
        .name = "p", .claims = {"a", "b"}
    }));
    ASSERT_TRUE(world.until(
        [&] {
            return world.scheduled("p", "message") ==
                   "0/3 nodes are available: 3 node(s) did not have enough free storage.";
        },
        10s
    ));
    world.must(print({.name = "q", .claims = {"c"}}));
    world.must(print({.name = "r", .claims = {"d"}}));
    ASSERT_TRUE(world.runs("q") && world.runs("r"));
    EXPECT_NE(world.node_of("c"), world.node_of("d")) << "one node cannot hold both";
}

TEST(Cluster, GrownClaim) {
    Cluster world;
    world.must(claim("a", "local-immediate", "10Gi"));
    ASSERT_TRUE(world.until([&] { return world.pvc("a") == "Bound"; }, 10s));
    ASSERT_TRUE(world.patch(api::kClaim, "a", R"({"spec":{"resources":{"requests":{"storage":"20Gi"}}}})"));
    ASSERT_TRUE(world.until([&] { return world.pvc("a", "/status/capacity/storage") == "20Gi"; }, 10s));
    EXPECT_EQ(world.machines.volumes.at(world.pvc("a", "/spec/volumeName")).size, 20_GiB);
}

TEST(Cluster, K64_ReclaimedWithItsData) {
    Cluster world;
    world.must(claim("a", "local-immediate", "1Gi"));
    ASSERT_TRUE(world.until([&] { return world.pvc("a") == "Bound"; }, 10s));
    const std::string volume = world.pvc("a", "/spec/volumeName");
    ASSERT_TRUE(world.remove(api::kClaim, "a"));
    ASSERT_TRUE(world.is_gone(api::kVolume, volume));
    EXPECT_FALSE(world.machines.volumes.contains(volume));
}

TEST(Cluster, P72_EndedPodsStillHoldTheirClaims) {
    Cluster world;
    world.must(claim("a", "local", "1Gi"));
    world.must(print({.name = "p", .claims = {"a"}, .spec = R"("restartPolicy":"Never",)", .command = R"("/bin/bash")"})
    );
    ASSERT_TRUE(world.until([&] { return world.pod("p") == "Succeeded"; }, 10s));
    ASSERT_TRUE(world.remove(api::kClaim, "a"));
    world.run_for(30s);
    EXPECT_NE(world.pvc("a", "/metadata/deletionTimestamp"), "");
    ASSERT_TRUE(world.remove(api::kPod, "p"));
    ASSERT_TRUE(world.is_gone(api::kClaim, "a"));
}

// --- killed at any step ---

// The claims of one pod end bound on one node, whenever the cluster's own controllers are killed.
TEST(Cluster, P56_P57_KilledAnywhere) {
    const auto build = [](Cluster& world) {
        world.must(kStatic);
        world.must(static_volume("v1", "n2", "1Gi"));
        world.must(static_volume("v2", "n2", "1Gi"));
        for (const char* name : {"s", "t"}) world.must(claim(name, "static", "1Gi"));
        world.must(claim("d", "local", "1Gi"));
        world.must(print({
            .name = "p", .claims = {"s", "t", "d"}
        }));
    };
    std::uint64_t steps = 0;
    {
        Cluster world;
        build(world);
        const std::uint64_t before = world.context.steps();
        ASSERT_TRUE(world.runs("p"));
        steps = world.context.steps() - before;
    }
    constexpr std::uint64_t kCrashes = 12;
    for (std::uint64_t i = 0; i < kCrashes; ++i) {
        SCOPED_TRACE("killed after step " + std::to_string(i * steps / kCrashes) + " of " + std::to_string(steps));
        Cluster world;
        build(world);
        const std::uint64_t stop = world.context.steps() + i * steps / kCrashes;
        world.until([&] { return world.context.steps() >= stop; }, 60s);
        world.kill("cluster");
        world.start("cluster");
        ASSERT_TRUE(world.runs("p"));
        for (const char* name : {"s", "t", "d"}) {
            EXPECT_EQ(world.node_of(name), "n2") << name;
            EXPECT_EQ(world.pvc(name, "/metadata/annotations/pv.kubernetes.io~1bind-completed"), "yes");
            EXPECT_EQ(
                world.pv(world.pvc(name, "/spec/volumeName"), "/spec/claimRef/uid"), world.pvc(name, "/metadata/uid")
            );
        }
        ASSERT_TRUE(world.until([&] { return world.is_quiet(); }, 2min)) << "and then the system is quiet";
    }
}

// --- owners and namespaces ---

std::string owned(const std::string& name, const std::string& owner, const std::string& uid, bool blocks = true) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
           R"(","ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":")" + owner + R"(","uid":")" + uid +
           R"(","blockOwnerDeletion":)" + (blocks ? "true" : "false") + "}]}}";
}

constexpr const char* kOwner = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owner"}})";

TEST(Cluster, K96_BackgroundForegroundOrphan) {
    for (const char* policy : {"Background", "Foreground", "Orphan"}) {
        SCOPED_TRACE(policy);
        Cluster world;
        world.must(kOwner);
        world.must(owned("child", "owner", world.text(api::kConfigMap, "owner", "/metadata/uid")));
        world.run_for(1s);
        ASSERT_TRUE(world.remove(api::kConfigMap, "owner", {.propagation = policy}));
        ASSERT_TRUE(world.is_gone(api::kConfigMap, "owner"));
        if (std::string_view(policy) == "Orphan") {
            world.run_for(5s);
            EXPECT_EQ(world.text(api::kConfigMap, "child", "/metadata/name"), "child");
            EXPECT_EQ(world.text(api::kConfigMap, "child", "/metadata/ownerReferences/0/uid"), "");
        } else {
            EXPECT_TRUE(world.is_gone(api::kConfigMap, "child"));
        }
    }
}

TEST(Cluster, K96_OwnerThatNeverWas) {
    Cluster world;
    world.must(owned("child", "nobody", "00000000-0000-4000-8000-000000000000"));
    EXPECT_TRUE(world.is_gone(api::kConfigMap, "child", 5s)) << "within seconds";
}

TEST(Cluster, A34_NamespacesAreFurnishedAndEnd) {
    Cluster world;
    world.must(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"t"}})");
    ASSERT_TRUE(world.until([&] { return world.get(api::kServiceAccount, "t", "default").has_value(); }, 1s));
    ASSERT_TRUE(world.until([&] { return world.get(api::kConfigMap, "t", "kube-root-ca.crt").has_value(); }, 1s));
    ASSERT_TRUE(world.remove(api::kNamespace, "t"));
    EXPECT_TRUE(world.is_gone(api::kNamespace, "t", 500ms)) << "2.14: an empty one goes at once";
}

TEST(Cluster, A35_NamespaceSaysWhatHoldsIt) {
    Cluster world;
    world.must(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"t"}})");
    world.must(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"held","namespace":"t","finalizers":["a.b/c"]}})"
    );
    ASSERT_TRUE(world.remove(api::kNamespace, "t"));
    world.run_for(5s);
    const Result<kube::Document> found = world.get(api::kNamespace, "", "t");
    ASSERT_TRUE(found.has_value());
    EXPECT_NE(text_of(**found).find("a.b/c in 1 resource instances"), std::string::npos) << text_of(**found);
    kube::Request let_go;
    let_go.method = "PATCH";
    let_go.path = "/api/v1/namespaces/t/configmaps/held";
    let_go.headers = {
        {"content-type", "application/merge-patch+json"}
    };
    let_go.body = R"({"metadata":{"finalizers":null}})";
    ASSERT_EQ(world.request(let_go).code, 200);
    EXPECT_TRUE(world.is_gone(api::kNamespace, "t", 5s));
}

TEST(Cluster, K93_PodsOfADeletedNode) {
    Cluster world;
    world.must(print({.name = "p"}));
    ASSERT_TRUE(world.runs("p"));
    ASSERT_TRUE(world.remove(api::kNode, world.pod("p", "/spec/nodeName")));
    world.run_for(30s);
    EXPECT_EQ(world.pod("p"), "Running") << "it may come back";
    EXPECT_TRUE(world.is_gone(api::kPod, "p", 30s));
}

}  // namespace
}  // namespace berth::sim
