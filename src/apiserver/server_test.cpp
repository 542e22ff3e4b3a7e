#include "apiserver/testing.hpp"

namespace berth::apiserver {
namespace {

json::Value config_map(const std::string& name, const std::string& a = "1") {
    json::Value out;
    json::set(out, "/metadata/name", json::Value(name));
    json::set(out, "/data/a", json::Value(a));
    return out;
}

constexpr const char* kMaps = "/api/v1/namespaces/t/configmaps";

class ServerTest : public Bench {};

TEST_F(ServerTest, A49_CreateSaysWhatTheObjectIs) {
    const auto made = post(kMaps, config_map("c1"));
    EXPECT_EQ(made.code, 201);
    EXPECT_EQ(text(made, "/kind"), "ConfigMap");
    EXPECT_EQ(text(made, "/apiVersion"), "v1");
    EXPECT_EQ(text(made, "/metadata/namespace"), "t");
    EXPECT_EQ(text(made, "/metadata/uid").size(), 36u);
    EXPECT_EQ(text(made, "/metadata/uid")[14], '4');
    EXPECT_FALSE(text(made, "/metadata/creationTimestamp").empty());
    EXPECT_EQ(text(made, "/metadata/resourceVersion"), std::to_string(store->revision()));
    EXPECT_EQ(post(kMaps, config_map("c1")).code, 409);
    EXPECT_EQ(message(post(kMaps, config_map("c1"))), "configmaps \"c1\" already exists");
}

TEST_F(ServerTest, A50_GeneratedNamesAreDistinct) {
    std::set<std::string> names;
    json::Value object = config_map("");
    json::set(object, "/metadata/generateName", json::Value("g-"));
    for (int i = 0; i < 1000; ++i) {
        const std::string name = text(post(kMaps, object), "/metadata/name");
        EXPECT_EQ(name.size(), 7u);
        EXPECT_TRUE(name.starts_with("g-"));
        EXPECT_EQ(name.substr(2).find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos) << name;
        names.insert(name);
    }
    EXPECT_EQ(names.size(), 1000u);
}

TEST_F(ServerTest, A51_NamespaceAndNameAreChecked) {
    json::Value elsewhere = config_map("c1");
    json::set(elsewhere, "/metadata/namespace", json::Value("other"));
    const auto refused = post(kMaps, elsewhere);
    EXPECT_EQ(refused.code, 400);
    EXPECT_EQ(
        message(refused), "the namespace of the provided object does not match the namespace sent on the request"
    );

    const auto bad = post(kMaps, config_map("Bad_Name"));
    EXPECT_EQ(bad.code, 422);
    EXPECT_EQ(text(bad, "/reason"), "Invalid");
    EXPECT_EQ(text(bad, "/details/kind"), "ConfigMap");
    EXPECT_EQ(text(bad, "/details/causes/0/field"), "metadata.name");
    EXPECT_EQ(text(bad, "/details/causes/0/reason"), "FieldValueInvalid");
    EXPECT_TRUE(message(bad).starts_with(
        "ConfigMap \"Bad_Name\" is invalid: metadata.name: Invalid value: \"Bad_Name\": a lowercase RFC 1123"
    ));

    const auto nameless = post(kMaps, config_map(""));
    EXPECT_EQ(
        message(nameless), "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required"
    );

    json::Value based = config_map("c2");
    json::set(based, "/metadata/resourceVersion", json::Value("5"));
    EXPECT_EQ(message(post(kMaps, based)), "resourceVersion should not be set on objects to be created");

    const auto lost = post("/api/v1/namespaces/nowhere/configmaps", config_map("c1"));
    EXPECT_EQ(lost.code, 404);
    EXPECT_EQ(message(lost), "namespaces \"nowhere\" not found");
    EXPECT_EQ(text(lost, "/details/kind"), "namespaces");
}

TEST_F(ServerTest, A07_UnknownFieldsAreToldAsAsked) {
    json::Value object = config_map("c1");
    json::set(object, "/dat", json::Value("x"));
    const auto strict = post(std::string(kMaps) + "?fieldValidation=Strict", object);
    EXPECT_EQ(strict.code, 400);
    EXPECT_TRUE(message(strict).ends_with("strict decoding error: unknown field \"dat\"")) << message(strict);
    const auto warned = post(std::string(kMaps) + "?fieldValidation=Warn", object);
    EXPECT_EQ(warned.code, 201);
    EXPECT_EQ(warned.warnings, std::vector<std::string>{"unknown field \"dat\""});
    EXPECT_EQ(text(warned, "/dat"), "");
    json::set(object, "/metadata/name", json::Value("c2"));
    EXPECT_TRUE(post(std::string(kMaps) + "?fieldValidation=Ignore", object).warnings.empty());
}

TEST_F(ServerTest, A52_BodiesAndAnswersOfOtherTypes) {
    const auto raw = [&](const std::string& type, const std::string& body, const std::string& accept = "") {
        kube::Request request;
        request.method = "POST";
        request.path = kMaps;
        request.body = body;
        if (!type.empty()) request.headers["content-type"] = type;
        if (!accept.empty()) request.headers["accept"] = accept;
        request.user = user;
        return send(std::move(request));
    };
    const auto plain = raw("text/plain", "x");
    EXPECT_EQ(plain.code, 415);
    EXPECT_EQ(
        message(plain),
        "the body of the request was in an unknown format - accepted media types include: application/json, "
        "application/yaml, "
        "application/vnd.kubernetes.protobuf"
    );
    EXPECT_EQ(raw("application/json", std::string(3 * 1024 * 1024 + 1, ' ')).code, 413);
    EXPECT_EQ(raw("application/json", "{").code, 400);
    EXPECT_EQ(raw("application/json", "").code, 400);
    EXPECT_EQ(raw("application/json", R"({"metadata":{"name":"d"},"data":{"a":1}})").code, 400);
    EXPECT_EQ(raw("application/json", "{}", "text/csv").code, 406);
    EXPECT_EQ(raw("", R"({"metadata":{"name":"no-type"}})").code, 201);
    const auto yaml =
        raw("application/yaml", "metadata:\n  name: y\ndata:\n  on: \"yes\"\n  n: \"1\"\n", "application/yaml");
    EXPECT_EQ(yaml.code, 201);
    EXPECT_NE(yaml.body.find("kind: ConfigMap\n"), std::string::npos) << yaml.body;
    EXPECT_NE(yaml.body.find("n: \"1\"\n"), std::string::npos) << yaml.body;
    const auto wrong_kind = raw("application/json", R"({"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"}})");
    EXPECT_EQ(wrong_kind.code, 400);
    EXPECT_TRUE(message(wrong_kind).starts_with("Secret in version \"v1\" cannot be handled as a ConfigMap:"));
    const auto wrong_version =
        raw("application/json", R"({"kind":"ConfigMap","apiVersion":"v2","metadata":{"name":"s"}})");
    EXPECT_EQ(message(wrong_version), "the API version in the data (v2) does not match the expected API version (v1)");
}

TEST_F(ServerTest, A53_PutIsBasedOnAVersion) {
    const std::string at = std::string(kMaps) + "/c1";
    const auto made = post(kMaps, config_map("c1"));
    json::Value object = *made.document;
    merge_patch(at, R"({"data":{"a":"2"}})");
    const auto stale = put(at, object);
    EXPECT_EQ(stale.code, 409);
    EXPECT_EQ(
        message(stale),
        "Operation cannot be fulfilled on configmaps \"c1\": the object has been modified; please apply your changes "
        "to the latest "
        "version and try again"
    );
    EXPECT_EQ(put(at, config_map("c1", "3")).code, 200) << "without a version";
    const auto same = get(at);
    const store::Revision before = store->revision();
    const auto again = put(at, *same.document);
    EXPECT_EQ(again.code, 200);
    EXPECT_EQ(store->revision(), before) << "nothing to write";
    EXPECT_EQ(text(again, "/metadata/resourceVersion"), text(same, "/metadata/resourceVersion"));

    EXPECT_EQ(put(std::string(kMaps) + "/nope", config_map("nope")).code, 404);
    const auto renamed = put(at, config_map("c2"));
    EXPECT_EQ(message(renamed), "the name of the object (c2) does not match the name on the URL (c1)");

    const std::string leases = "/apis/coordination.k8s.io/v1/namespaces/t/leases/l1";
    const json::Value lease = parse(R"({"metadata":{"name":"l1"},"spec":{"holderIdentity":"x"}})");
    EXPECT_EQ(put(leases, lease).code, 201) << "created on update";
    const auto unbased = put(leases, lease);
    EXPECT_EQ(unbased.code, 422);
    EXPECT_TRUE(
        message(unbased).ends_with("metadata.resourceVersion: Invalid value: 0x0: must be specified for an update")
    );
    const json::Value other_uid = parse(R"({"metadata":{"name":"c1","uid":"11111111-1111-4111-8111-111111111111"}})");
    EXPECT_EQ(put(at, other_uid).code, 409);
}

TEST_F(ServerTest, A54_StatusIsASubresourceOrNot) {
    const std::string vms = "/apis/kubevirt.io/v1/namespaces/t/virtualmachines";
    const std::string vmis = "/apis/kubevirt.io/v1/namespaces/t/virtualmachineinstances";
    post(
        vms,
        parse(
            R"({"metadata":{"name":"a"},"spec":{"template":{"spec":{"domain":{"devices":{}}}}},"status":{"printableStatus":"x"}})"
        )
    );
    EXPECT_EQ(text(get(vms + "/a"), "/status"), "") << "dropped on create";
    merge_patch(vms + "/a", R"({"status":{"printableStatus":"Running"}})");
    EXPECT_EQ(text(get(vms + "/a"), "/status"), "");
    const auto patched = merge_patch(
        vms + "/a/status",
        R"({"spec":{"runStrategy":"Always"},"metadata":{"labels":{"l":"1"}},"status":{"printableStatus":"Running"}})"
    );
    EXPECT_EQ(patched.code, 200) << message(patched);
    EXPECT_EQ(text(patched, "/status/printableStatus"), "Running");
    EXPECT_EQ(text(patched, "/spec/runStrategy"), "");
    EXPECT_EQ(text(patched, "/metadata/labels"), "");
    EXPECT_EQ(text(patched, "/metadata/generation"), "1");
    EXPECT_EQ(text(merge_patch(vms + "/a", R"({"spec":{"runStrategy":"Always"}})"), "/metadata/generation"), "2");

    post(vmis, parse(R"({"metadata":{"name":"a"},"spec":{"domain":{"devices":{}}}})"));
    const auto written = merge_patch(vmis + "/a", R"({"status":{"phase":"Running"}})");
    EXPECT_EQ(written.code, 200) << message(written);
    EXPECT_EQ(text(written, "/status/phase"), "Running");
    EXPECT_EQ(text(written, "/metadata/generation"), "2");
    EXPECT_EQ(merge_patch(vmis + "/a/status", "{}").code, 404);
    EXPECT_EQ(post(vms + "/a/status", parse("{}")).code, 404);
}

TEST_F(ServerTest, A46_AnOlderVersionIsServedWithAWarning) {
    const std::string vms = "/apis/kubevirt.io/v1/namespaces/t/virtualmachines";
    post(vms, parse(R"({"metadata":{"name":"a"},"spec":{"template":{"spec":{"domain":{"devices":{}}}}}})"));
    const auto old = get("/apis/kubevirt.io/v1alpha3/namespaces/t/virtualmachines/a");
    EXPECT_EQ(text(old, "/apiVersion"), "kubevirt.io/v1alpha3");
    ASSERT_EQ(old.warnings.size(), 1u);
    EXPECT_TRUE(old.warnings[0].starts_with("kubevirt.io/v1alpha3 is now deprecated"));
    EXPECT_EQ(text(get(vms + "/a"), "/apiVersion"), "kubevirt.io/v1");
}

TEST_F(ServerTest, A56_PatchesThatDoNotFitChangeNothing) {
    const std::string at = std::string(kMaps) + "/c1";
    post(kMaps, config_map("c1"));
    const store::Revision before = store->revision();
    const auto failed =
        json_patch(at, R"([{"op":"replace","path":"/data/a","value":"2"},{"op":"test","path":"/data/a","value":"9"}])");
    EXPECT_EQ(failed.code, 422);
    EXPECT_EQ(message(failed), "the server rejected our request due to an error in our request");
    EXPECT_EQ(json_patch(at, R"([{"op":"remove","path":"/data/zz"}])").code, 422);
    std::string many = "[";
    for (int i = 0; i < 10001; ++i)
        many += std::string(i == 0 ? "" : ",") + R"({"op":"test","path":"/data/a","value":"1"})";
    EXPECT_EQ(json_patch(at, many + "]").code, 413);
    EXPECT_EQ(merge_patch(at, R"({"metadata":{"name":"c2"}})").code, 400);
    EXPECT_EQ(merge_patch(at, R"({"metadata":{"uid":"11111111-1111-4111-8111-111111111111"}})").code, 409);
    EXPECT_EQ(merge_patch(at, R"([])").code, 400);
    EXPECT_EQ(merge_patch(at, R"({"data":{"a":7}})").code, 422) << "a wrong type after the patch";
    EXPECT_EQ(merge_patch(at, R"({"metadata":{"resourceVersion":"1"},"data":{"b":"2"}})").code, 409);
    EXPECT_EQ(merge_patch(at, R"({"kind":"Secret"})").code, 400);
    EXPECT_EQ(store->revision(), before);

    EXPECT_EQ(text(merge_patch(at, R"({"data":{"b":"2"}})"), "/data/b"), "2");
    EXPECT_EQ(text(merge_patch(at, R"({"data":{"b":null}})"), "/data/b"), "");
    EXPECT_EQ(merge_patch(at, R"({"data":{"b":null}})").code, 200) << "A-13: no change";
    EXPECT_EQ(store->revision(), before + 2);
    const auto unknown = call("PATCH", at, parse("{}"), "application/x");
    EXPECT_EQ(unknown.code, 415);
    EXPECT_EQ(merge_patch(std::string(kMaps) + "/none", "{}").code, 404);
}

TEST_F(ServerTest, A55_StrategicMergeForBuiltInKindsOnly) {
    const std::string pods = "/api/v1/namespaces/t/pods";
    post(
        pods,
        parse(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"i"},{"name":"b","image":"i"}]}})")
    );
    const auto patched = call(
        "PATCH",
        pods + "/p",
        parse(R"({"spec":{"containers":[{"name":"b","image":"j"}]}})"),
        "application/strategic-merge-patch+json"
    );
    EXPECT_EQ(patched.code, 200) << message(patched);
    EXPECT_EQ(text(patched, "/spec/containers/1/image"), "j");
    EXPECT_EQ(text(patched, "/spec/containers/0/image"), "i");
    const std::string vms = "/apis/kubevirt.io/v1/namespaces/t/virtualmachines/a";
    EXPECT_EQ(call("PATCH", vms, parse("{}"), "application/strategic-merge-patch+json").code, 415);
}

TEST_F(ServerTest, A11_DryRunStoresNothing) {
    const store::Revision before = store->revision();
    const auto made = post(std::string(kMaps) + "?dryRun=All", config_map("c1"));
    EXPECT_EQ(made.code, 201);
    EXPECT_EQ(text(made, "/metadata/resourceVersion"), "");
    EXPECT_EQ(get(std::string(kMaps) + "/c1").code, 404);
    EXPECT_EQ(store->revision(), before);
    EXPECT_EQ(post(std::string(kMaps) + "?dryRun=Some", config_map("c1")).code, 422);
    post(kMaps, config_map("c1"));
    EXPECT_EQ(
        text(
            call(
                "PATCH",
                std::string(kMaps) + "/c1?dryRun=All",
                parse(R"({"data":{"a":"9"}})"),
                "application/merge-patch+json"
            ),
            "/data/a"
        ),
        "9"
    );
    EXPECT_EQ(text(get(std::string(kMaps) + "/c1"), "/data/a"), "1");
    EXPECT_EQ(post(std::string(kMaps) + "?dryRun=All", config_map("c1")).code, 409);
}

TEST_F(ServerTest, A75_AnonymousSeesOnlyPublicPaths) {
    user = {"system:anonymous", {"system:unauthenticated"}};
    EXPECT_EQ(get("/version").code, 200);
    EXPECT_EQ(text(get("/version"), "/minor"), "32") << "A-01";
    EXPECT_EQ(get("/readyz").body, "ok") << "A-02";
    const auto refused = get(kMaps);
    EXPECT_EQ(refused.code, 403);
    EXPECT_EQ(
        message(refused),
        "configmaps is forbidden: User \"system:anonymous\" cannot list resource \"configmaps\" in API group \"\" in "
        "the namespace \"t\""
    );
    EXPECT_EQ(
        message(remove("/apis/kubevirt.io/v1/namespaces/t/virtualmachines/a")),
        "virtualmachines.kubevirt.io \"a\" is forbidden: User \"system:anonymous\" cannot delete resource "
        "\"virtualmachines\" in API group "
        "\"kubevirt.io\" in the namespace \"t\""
    );
    EXPECT_EQ(message(get("/nores")), "forbidden: User \"system:anonymous\" cannot get path \"/nores\"");
    user = {"", {}};
    EXPECT_EQ(get("/api/v1/nodes").code, 403);
}

TEST_F(ServerTest, A36_ReviewsAnswerForThemselves) {
    const auto may = post(
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        parse(R"({"spec":{"resourceAttributes":{"verb":"create"}}})")
    );
    EXPECT_EQ(may.code, 201);
    EXPECT_EQ(text(may, "/status/allowed"), "true");
    EXPECT_EQ(text(may, "/kind"), "SelfSubjectAccessReview");
    const auto who = post("/apis/authentication.k8s.io/v1/selfsubjectreviews", parse("{}"));
    EXPECT_EQ(text(who, "/status/userInfo/username"), "admin");
    EXPECT_EQ(text(who, "/status/userInfo/groups"), R"(["system:masters","system:authenticated"])");
    const auto rules = post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", parse("{}"));
    EXPECT_EQ(text(rules, "/status/resourceRules/0/verbs/0"), "*");
    EXPECT_EQ(get("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").code, 405);
}

TEST_F(ServerTest, RoutesThatLeadNowhereSaySo) {
    EXPECT_EQ(message(get("/api/v1/nothings")), "the server could not find the requested resource");
    const auto nowhere = get("/apis/no.such/v1/things");
    EXPECT_EQ(nowhere.code, 404);
    EXPECT_EQ(nowhere.body, "404 page not found\n");
    EXPECT_EQ(get("/api/v1/namespaces/t/configmaps/c1/status").code, 404);
    EXPECT_EQ(call("HEAD", kMaps).code, 405);
    EXPECT_EQ(post("/api/v1/configmaps", config_map("c")).code, 405);
    EXPECT_EQ(call("DELETE", "/api/v1/configmaps").code, 405);
    EXPECT_EQ(get("/api/v1/namespaces/t/configmaps/a%2Fb").code, 400);
    EXPECT_EQ(get("/api/v1/namespaces/t/pods/p/exec").code, 501);
}

TEST_F(ServerTest, NamespacesComeFurnished) {
    const auto ns = get("/api/v1/namespaces/t");
    EXPECT_EQ(text(ns, "/metadata/labels/kubernetes.io~1metadata.name"), "t");
    EXPECT_EQ(text(ns, "/spec/finalizers/0"), "kubernetes");
    EXPECT_EQ(text(ns, "/status/phase"), "Active");
    for (const char* name : {"t", "default", "kube-system"}) {
        EXPECT_EQ(get(std::string("/api/v1/namespaces/") + name + "/serviceaccounts/default").code, 200) << name;
        EXPECT_EQ(get(std::string("/api/v1/namespaces/") + name + "/configmaps/kube-root-ca.crt").code, 200) << name;
    }
}

}  // namespace
}  // namespace berth::apiserver
