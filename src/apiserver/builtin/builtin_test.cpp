// Defaults and protected fields of pods, claims, volumes, storage classes, secrets.
#include "apiserver/testing.hpp"

namespace berth::apiserver {
namespace {

class BuiltinTest : public Bench {
protected:
    kube::Response claim(const std::string& name, const std::string& more = "") {
        return post(
            "/api/v1/namespaces/t/persistentvolumeclaims",
            parse(
                R"({"metadata":{"name":")" + name +
                R"("},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}})" + more + "}}"
            )
        );
    }
    void storage_class(const std::string& name, bool is_default) {
        const std::string flag = is_default ? "true" : "false";
        post(
            "/apis/storage.k8s.io/v1/storageclasses",
            parse(
                R"({"provisioner":"p","metadata":{"name":")" + name +
                R"(","annotations":{"storageclass.kubernetes.io/is-default-class":")" + flag + R"("}}})"
            )
        );
    }
};

TEST_F(BuiltinTest, PodsAreCompletedAndTheirSpecIsFixed) {
    const std::string pods = "/api/v1/namespaces/t/pods";
    const auto made = post(pods, parse(R"({"metadata":{"name":"p"},"spec":{"containers":[
        {"name":"c","image":"i","resources":{"limits":{"memory":"1Gi","cpu":"1"}}}]},"status":{"phase":"Running"}})"));
    ASSERT_EQ(made.code, 201) << message(made);
    struct Row {
        const char* pointer;
        const char* value;
    };
    const Row rows[] = {
        {"/spec/restartPolicy",                         "Always"              },
        {"/spec/terminationGracePeriodSeconds",         "30"                  },
        {"/spec/dnsPolicy",                             "ClusterFirst"        },
        {"/spec/schedulerName",                         "default-scheduler"   },
        {"/spec/serviceAccountName",                    "default"             },
        {"/spec/containers/0/terminationMessagePath",   "/dev/termination-log"},
        {"/spec/containers/0/terminationMessagePolicy", "File"                },
        {"/spec/containers/0/imagePullPolicy",          "Always"              },
        {"/spec/containers/0/resources/requests/cpu",   "1"                   },
        {"/status/phase",                               "Pending"             },
        {"/status/qosClass",                            "Guaranteed"          },
        {"/metadata/generation",                        "1"                   },
    };
    for (const Row& row : rows) EXPECT_EQ(text(made, row.pointer), row.value) << row.pointer;
    EXPECT_EQ(merge_patch(pods + "/p", R"({"spec":{"nodeName":"n1"}})").code, 422);
    EXPECT_EQ(merge_patch(pods + "/p", R"({"spec":{"activeDeadlineSeconds":9}})").code, 200);
    EXPECT_EQ(merge_patch(pods + "/p", R"({"metadata":{"labels":{"a":"b"}}})").code, 200);
    EXPECT_EQ(text(merge_patch(pods + "/p/status", R"({"status":{"phase":"Running"}})"), "/status/phase"), "Running");
    EXPECT_EQ(post(pods, parse(R"({"metadata":{"name":"q"},"spec":{}})")).code, 422);
}

TEST_F(BuiltinTest, K04_ClaimsGetTheNewestDefaultClass) {
    EXPECT_EQ(text(claim("early"), "/spec/storageClassName"), "") << "no default yet";
    storage_class("b-old", true);
    storage_class("not-default", false);
    EXPECT_EQ(text(claim("c1"), "/spec/storageClassName"), "b-old");
    clock.advance(std::chrono::seconds(1));
    storage_class("c-new", true);
    storage_class("a-new", true);
    const auto made = claim("c2");
    EXPECT_EQ(text(made, "/spec/storageClassName"), "a-new") << "the newest, then by name";
    EXPECT_EQ(text(made, "/spec/volumeMode"), "Filesystem");
    EXPECT_EQ(text(made, "/status/phase"), "Pending");
    EXPECT_EQ(text(made, "/metadata/finalizers"), R"(["kubernetes.io/pvc-protection"])");
    const auto none = claim("c3", R"(,"storageClassName":"")");
    EXPECT_EQ(none.code, 201);
    EXPECT_EQ(text(none, "/spec/storageClassName"), "") << "asked for none";
    EXPECT_NE(json::find(*none.document, "/spec/storageClassName"), nullptr);
}

TEST_F(BuiltinTest, K01_StorageClassesHaveDefaultsAndAreFixed) {
    storage_class("s", false);
    const std::string at = "/apis/storage.k8s.io/v1/storageclasses/s";
    EXPECT_EQ(text(get(at), "/volumeBindingMode"), "Immediate");
    EXPECT_EQ(text(get(at), "/reclaimPolicy"), "Delete");
    EXPECT_EQ(merge_patch(at, R"({"reclaimPolicy":"Retain"})").code, 422);
    EXPECT_EQ(merge_patch(at, R"({"parameters":{"a":"b"}})").code, 422);
    EXPECT_EQ(merge_patch(at, R"({"allowVolumeExpansion":true})").code, 200);
}

TEST_F(BuiltinTest, ClaimsGrowOnceTheyAreBound) {
    const std::string at = "/api/v1/namespaces/t/persistentvolumeclaims/c";
    claim("c");
    EXPECT_EQ(merge_patch(at, R"({"spec":{"resources":{"requests":{"storage":"2Gi"}}}})").code, 422) << "not bound";
    EXPECT_EQ(merge_patch(at, R"({"spec":{"volumeName":"v"}})").code, 200) << "a volume is given once";
    EXPECT_EQ(merge_patch(at, R"({"spec":{"volumeName":"w"}})").code, 422);
    merge_patch(at + "/status", R"({"status":{"phase":"Bound"}})");
    EXPECT_EQ(merge_patch(at, R"({"spec":{"resources":{"requests":{"storage":"2Gi"}}}})").code, 200);
    EXPECT_EQ(merge_patch(at, R"({"spec":{"resources":{"requests":{"storage":"1Gi"}}}})").code, 422);
    EXPECT_EQ(merge_patch(at, R"({"spec":{"volumeMode":"Block"}})").code, 422);
    const std::string claims = "/api/v1/namespaces/t/persistentvolumeclaims";
    EXPECT_EQ(post(claims, parse(R"({"metadata":{"name":"x"},"spec":{}})")).code, 422);
}

TEST_F(BuiltinTest, VolumesKeepTheirSource) {
    const std::string volumes = "/api/v1/persistentvolumes";
    const auto made = post(volumes, parse(R"({"metadata":{"name":"v"},"spec":{"capacity":{"storage":"1Gi"},
        "accessModes":["ReadWriteOnce"],"local":{"path":"/a"}}})"));
    ASSERT_EQ(made.code, 201) << message(made);
    EXPECT_EQ(text(made, "/spec/persistentVolumeReclaimPolicy"), "Retain");
    EXPECT_EQ(text(made, "/metadata/finalizers/0"), "kubernetes.io/pv-protection");
    EXPECT_EQ(merge_patch(volumes + "/v", R"({"spec":{"local":{"path":"/b"}}})").code, 422);
    EXPECT_EQ(merge_patch(volumes + "/v", R"({"spec":{"claimRef":{"name":"c","namespace":"t"}}})").code, 200);
}

TEST_F(BuiltinTest, SecretsAndConfigMaps) {
    const std::string secrets = "/api/v1/namespaces/t/secrets";
    const auto made = post(secrets, parse(R"({"metadata":{"name":"s"},"stringData":{"a":"b","c":"dd"}})"));
    EXPECT_EQ(text(made, "/data"), R"({"a":"Yg==","c":"ZGQ="})");
    EXPECT_EQ(text(made, "/stringData"), "");
    EXPECT_EQ(text(made, "/type"), "Opaque");
    EXPECT_EQ(merge_patch(secrets + "/s", R"({"type":"other"})").code, 422);
    const std::string maps = "/api/v1/namespaces/t/configmaps";
    post(maps, parse(R"({"metadata":{"name":"m"},"immutable":true,"data":{"a":"1"}})"));
    const auto refused = merge_patch(maps + "/m", R"({"data":{"a":"2"}})");
    EXPECT_NE(message(refused).find("data: Forbidden: field is immutable when `immutable` is set"), std::string::npos);
    EXPECT_EQ(merge_patch(maps + "/m", R"({"metadata":{"labels":{"a":"b"}}})").code, 200);
}

TEST_F(BuiltinTest, BindingsKeepTheirRole) {
    const std::string bindings = "/apis/rbac.authorization.k8s.io/v1/namespaces/t/rolebindings";
    post(bindings, parse(R"({"metadata":{"name":"b"},"roleRef":{"apiGroup":"g","kind":"Role","name":"r"}})"));
    EXPECT_EQ(merge_patch(bindings + "/b", R"({"roleRef":{"name":"other"}})").code, 422);
}

}  // namespace
}  // namespace berth::apiserver
