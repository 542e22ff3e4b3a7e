// DELETE: preconditions, policies, grace, finalizers, namespaces, collections.
#include "apiserver/testing.hpp"

namespace berth::apiserver {
namespace {

constexpr const char* kMaps = "/api/v1/namespaces/t/configmaps";
constexpr const char* kPods = "/api/v1/namespaces/t/pods";

class RemoveTest : public Bench {
protected:
    void add_map(const std::string& name, const std::string& metadata = "{}") {
        json::Value object;
        object = json::Object{
            {"metadata", parse(metadata)}
        };
        json::set(object, "/metadata/name", json::Value(name));
        const auto made = post(kMaps, std::move(object));
        ASSERT_EQ(made.code, 201) << message(made);
    }
    void add_pod(const std::string& name, const std::string& node) {
        post(
            kPods, parse(R"({"metadata":{"name":")" + name + R"("},"spec":{"containers":[{"name":"c","image":"i"}]}})")
        );
        if (node.empty()) return;
        const auto bound = post(
            std::string(kPods) + "/" + name + "/binding",
            parse(R"({"target":{"kind":"Node","name":")" + node + R"("}})")
        );
        ASSERT_EQ(bound.code, 201) << message(bound);
    }
};

TEST_F(RemoveTest, A16_DeleteThenGet) {
    add_map("c1");
    const auto removed = remove(std::string(kMaps) + "/c1");
    EXPECT_EQ(removed.code, 200);
    EXPECT_EQ(text(removed, "/status"), "Success");
    EXPECT_EQ(text(removed, "/details/kind"), "configmaps");
    const auto got = get(std::string(kMaps) + "/c1");
    EXPECT_EQ(got.code, 404);
    EXPECT_EQ(text(got, "/reason"), "NotFound");
    EXPECT_EQ(message(got), "configmaps \"c1\" not found");
    EXPECT_EQ(call("DELETE", std::string(kMaps) + "/c1").code, 404);
}

TEST_F(RemoveTest, A17_DryRunIsInTheBody) {
    add_map("c1");
    EXPECT_EQ(remove(kMaps, R"({"propagationPolicy":"Background","dryRun":["All"]})").code, 200);
    EXPECT_EQ(get(std::string(kMaps) + "/c1").code, 200);
    EXPECT_EQ(remove(std::string(kMaps) + "/c1", R"({"dryRun":["Some"]})").code, 422);
}

TEST_F(RemoveTest, A18_AFinalizerHoldsAndItsRemovalEnds) {
    const std::string at = std::string(kMaps) + "/c1";
    add_map("c1", R"({"finalizers":["ex.io/f"]})");
    auto stream = watch(
        kMaps,
        {
            {"resourceVersion", std::to_string(store->revision())}
    }
    );
    const auto marked = remove(at);
    EXPECT_EQ(marked.code, 200);
    EXPECT_EQ(text(marked, "/kind"), "ConfigMap");
    EXPECT_EQ(text(marked, "/metadata/deletionTimestamp"), to_rfc3339(clock.now()));
    EXPECT_EQ(text(marked, "/metadata/deletionGracePeriodSeconds"), "0");
    const auto again = remove(at);
    EXPECT_EQ(text(again, "/metadata/resourceVersion"), text(marked, "/metadata/resourceVersion"))
        << "nothing changes twice";
    const auto exists = post(kMaps, parse(R"({"metadata":{"name":"c1"}})"));
    EXPECT_EQ(message(exists), "object is being deleted: configmaps \"c1\" already exists");
    const auto added = merge_patch(at, R"({"metadata":{"finalizers":["ex.io/f","d.e/f"]}})");
    EXPECT_EQ(added.code, 422);
    EXPECT_NE(
        message(added).find(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{\"d.e/f\"}"
        ),
        std::string::npos
    );
    const auto ended = merge_patch(at, R"({"metadata":{"finalizers":null}})");
    EXPECT_EQ(ended.code, 200);
    EXPECT_EQ(text(ended, "/metadata/resourceVersion"), text(marked, "/metadata/resourceVersion"));
    EXPECT_EQ(get(at).code, 404);
    EXPECT_EQ(next(*stream), "MODIFIED c1");
    EXPECT_EQ(next(*stream), "DELETED c1");
}

TEST_F(RemoveTest, A60_PreconditionsAndPolicies) {
    const std::string at = std::string(kMaps) + "/c1";
    add_map("c1");
    const auto uid = remove(at, R"({"preconditions":{"uid":"abc"}})");
    EXPECT_EQ(uid.code, 409);
    EXPECT_NE(
        message(uid).find("the UID in the precondition (abc) does not match the UID in record ("), std::string::npos
    );
    const auto version = remove(at, R"({"preconditions":{"resourceVersion":"3"}})");
    EXPECT_EQ(version.code, 409);
    EXPECT_NE(message(version).find("the ResourceVersion in the precondition (3) does not match"), std::string::npos);
    const auto policy = remove(at, R"({"propagationPolicy":"Foo"})");
    EXPECT_EQ(policy.code, 422);
    EXPECT_EQ(text(policy, "/details/kind"), "DeleteOptions");
    EXPECT_EQ(remove(at, R"({"propagationPolicy":"Orphan","orphanDependents":true})").code, 422);
    EXPECT_EQ(remove(at, R"({"dryRun":["All"]})").code, 200);
    EXPECT_EQ(get(at).code, 200);
    EXPECT_EQ(call("DELETE", at + "?dryRun=All").code, 200);
    EXPECT_EQ(get(at).code, 200);
}

TEST_F(RemoveTest, A63_PoliciesBecomeFinalizers) {
    add_map("f");
    EXPECT_EQ(
        text(remove(std::string(kMaps) + "/f", R"({"propagationPolicy":"Foreground"})"), "/metadata/finalizers"),
        R"(["foregroundDeletion"])"
    );
    EXPECT_EQ(
        text(remove(std::string(kMaps) + "/f", R"({"propagationPolicy":"Orphan"})"), "/metadata/finalizers"),
        R"(["orphan"])"
    );
    EXPECT_EQ(text(remove(std::string(kMaps) + "/f"), "/metadata/finalizers"), R"(["orphan"])")
        << "no policy keeps what is there";
    EXPECT_EQ(text(remove(std::string(kMaps) + "/f", R"({"propagationPolicy":"Background"})"), "/status"), "Success");
}

TEST_F(RemoveTest, A61_PodsGetTimeWhichCanOnlyBeShortened) {
    const std::string at = std::string(kPods) + "/p";
    add_pod("p", "n1");
    const auto first = remove(at);
    EXPECT_EQ(first.code, 200);
    EXPECT_EQ(text(first, "/kind"), "Pod");
    EXPECT_EQ(text(first, "/metadata/deletionGracePeriodSeconds"), "30");
    EXPECT_EQ(text(first, "/metadata/deletionTimestamp"), to_rfc3339(clock.now() + std::chrono::seconds(30)));
    const auto shorter = remove(at, R"({"gracePeriodSeconds":5})");
    EXPECT_EQ(text(shorter, "/metadata/deletionGracePeriodSeconds"), "5");
    EXPECT_EQ(text(shorter, "/metadata/deletionTimestamp"), to_rfc3339(clock.now() + std::chrono::seconds(5)));
    const auto longer = remove(at, R"({"gracePeriodSeconds":50})");
    EXPECT_EQ(text(longer, "/metadata/resourceVersion"), text(shorter, "/metadata/resourceVersion"));
    EXPECT_EQ(text(remove(at), "/metadata/resourceVersion"), text(shorter, "/metadata/resourceVersion"));
    EXPECT_EQ(text(remove(at, R"({"gracePeriodSeconds":0})"), "/kind"), "Pod");
    EXPECT_EQ(get(at).code, 404);

    add_pod("q", "");
    EXPECT_EQ(remove(std::string(kPods) + "/q").code, 200);
    EXPECT_EQ(get(std::string(kPods) + "/q").code, 404) << "no node has to stop anything";
}

TEST_F(RemoveTest, PodsHeldByAFinalizerEndInTwoSteps) {
    const std::string at = std::string(kPods) + "/p";
    add_pod("p", "n1");
    merge_patch(at, R"({"metadata":{"finalizers":["ex.io/f"]}})");
    remove(at);
    const auto stopped = remove(at, R"({"gracePeriodSeconds":0})");
    EXPECT_EQ(text(stopped, "/metadata/deletionGracePeriodSeconds"), "0");
    EXPECT_EQ(get(at).code, 200);
    merge_patch(at, R"({"metadata":{"finalizers":null}})");
    EXPECT_EQ(get(at).code, 404);
}

TEST_F(RemoveTest, ABoundPodIsNotBoundAgain) {
    add_pod("p", "n1");
    EXPECT_EQ(text(get(std::string(kPods) + "/p"), "/spec/nodeName"), "n1");
    EXPECT_EQ(text(get(std::string(kPods) + "/p"), "/status/conditions/0/type"), "PodScheduled");
    const auto twice = post(std::string(kPods) + "/p/binding", parse(R"({"target":{"name":"n2"}})"));
    EXPECT_EQ(twice.code, 409);
    EXPECT_NE(message(twice).find("pod p is already assigned to node \"n1\""), std::string::npos);
    EXPECT_EQ(post(std::string(kPods) + "/p/eviction", parse("{}")).code, 201);
    EXPECT_EQ(text(get(std::string(kPods) + "/p"), "/metadata/deletionGracePeriodSeconds"), "30");
}

TEST_F(RemoveTest, A34_A35_NamespacesEndLast) {
    const auto kept = remove("/api/v1/namespaces/default");
    EXPECT_EQ(kept.code, 403);
    EXPECT_EQ(message(kept), "namespaces \"default\" is forbidden: this namespace may not be deleted");
    add_map("c1");
    const auto marked = remove("/api/v1/namespaces/t");
    EXPECT_EQ(text(marked, "/status/phase"), "Terminating");
    EXPECT_FALSE(text(marked, "/metadata/deletionTimestamp").empty());
    const auto closed = post(kMaps, parse(R"({"metadata":{"name":"late"}})"));
    EXPECT_EQ(closed.code, 403);
    EXPECT_EQ(
        message(closed),
        "configmaps \"late\" is forbidden: unable to create new content in namespace t because it is being terminated"
    );
    EXPECT_EQ(text(closed, "/details/causes/0/reason"), "NamespaceTerminating");
    json::Value finalized = *get("/api/v1/namespaces/t").document;
    json::set(finalized, "/spec/finalizers", json::Value(json::Array()));
    EXPECT_EQ(put("/api/v1/namespaces/t/finalize", finalized).code, 200);
    EXPECT_EQ(get("/api/v1/namespaces/t").code, 404);
}

TEST_F(RemoveTest, CollectionsAreDeletedBySelector) {
    add_map("a", R"({"labels":{"x":"1"}})");
    add_map("b", R"({"labels":{"x":"2"}})");
    const auto removed = remove(std::string(kMaps) + "?labelSelector=x%3D1");
    EXPECT_EQ(text(removed, "/kind"), "ConfigMapList");
    EXPECT_EQ(text(removed, "/items/0/metadata/name"), "a");
    EXPECT_EQ(text(removed, "/items/1"), "");
    EXPECT_EQ(get(std::string(kMaps) + "/a").code, 404);
    EXPECT_EQ(get(std::string(kMaps) + "/b").code, 200);
}

}  // namespace
}  // namespace berth::apiserver
