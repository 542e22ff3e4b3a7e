// What clients see of kinds before they see objects: discovery, OpenAPI, definitions, tables, strict schemas, by
// request.
#include "apiserver/testing.hpp"

namespace berth::apiserver {
namespace {

constexpr std::string_view kVm =
    R"({"metadata":{"name":"vm1"},"spec":{"runStrategy":"Halted","template":{"spec":{"domain":{"devices":{}}}}}})";

class WireTest : public Bench {
protected:
    kube::Response ask(
        const std::string& path, const std::string& accept, std::map<std::string, std::string> headers = {}
    ) {
        kube::Request request;
        const std::size_t mark = path.find('?');
        request.path = path.substr(0, mark);
        if (mark != std::string::npos) {
            const std::size_t equal = path.find('=', mark);
            request.query.emplace_back(path.substr(mark + 1, equal - mark - 1), path.substr(equal + 1));
        }
        request.headers = std::move(headers);
        request.headers["accept"] = accept;
        request.user = {"admin", {"system:authenticated"}};
        return send(std::move(request));
    }
};

TEST_F(WireTest, A73_DiscoveryEchoesItsFormAndKnowsItsEtag) {
    const std::string accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json";
    const kube::Response first = ask("/apis", accept);
    ASSERT_EQ(first.code, 200);
    EXPECT_EQ(first.headers.at("content-type"), "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
    const kube::Response again =
        ask("/apis",
            accept,
            {
                {"if-none-match", first.headers.at("etag")}
    });
    EXPECT_EQ(again.code, 304);
    EXPECT_EQ(again.document, nullptr);
    EXPECT_EQ(json::text_at(*ask("/apis", "application/json").document, "/kind"), "APIGroupList");
    EXPECT_EQ(get("/apis/nope").code, 404);
}

TEST_F(WireTest, A73_EveryListedResourceIsCallable) {
    for (const json::Value& group : get("/apis").document->at("groups").as_array()) {
        for (const json::Value& version : group.at("versions").as_array()) {
            const std::string root = "/apis/" + std::string(json::text_at(version, "/groupVersion"));
            const json::Value list = *get(root).document;
            for (const json::Value& resource : list.at("resources").as_array()) {
                const std::string name(json::text_at(resource, "/name"));
                const auto& verbs = resource.at("verbs").as_array();
                if (!std::ranges::any_of(verbs, [](const json::Value& verb) { return verb == "list"; })) continue;
                EXPECT_EQ(get(root + "/" + name).code, 200) << root << "/" << name;
            }
        }
    }
}

TEST_F(WireTest, A74_OpenApiByRequest) {
    const kube::Response index = get("/openapi/v3");
    ASSERT_EQ(index.code, 200);
    const json::Value parsed = json::parse(index.body).value();
    const std::string url(json::text_at(parsed, "/paths/apis~1apps~1v1/serverRelativeURL"));
    const kube::Response document = get(url);
    EXPECT_EQ(document.code, 200);
    EXPECT_EQ(document.headers.at("cache-control"), "public, immutable");
    EXPECT_EQ(get("/openapi/v3/apis/apps/v1?hash=OLD").code, 301);
    const kube::Response v2 = ask("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
    EXPECT_EQ(v2.code, 200) << "kubectl reads it before it sends a List";
    EXPECT_EQ(
        v2.body,
        "\n\x03"
        "2.0\x12\x16\n\x05"
        "Berth\x12\x0d"
        "v1.32.0+berth"
    );
}

TEST_F(WireTest, ServedKindsHaveEstablishedDefinitions) {
    const kube::Response crd =
        get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/virtualmachines.kubevirt.io");
    ASSERT_EQ(crd.code, 200);
    EXPECT_EQ(json::text_at(*crd.document, "/status/conditions/1/type"), "Established");
    EXPECT_EQ(json::text_at(*crd.document, "/status/conditions/1/status"), "True");
    const std::string version(json::text_at(*crd.document, "/metadata/resourceVersion"));
    ASSERT_TRUE(run(server->seed()));
    const kube::Response again =
        get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/virtualmachines.kubevirt.io");
    EXPECT_EQ(json::text_at(*again.document, "/metadata/resourceVersion"), version) << "a second start writes nothing";
}

TEST_F(WireTest, A72_TablesByRequest) {
    ASSERT_EQ(post("/apis/kubevirt.io/v1/namespaces/t/virtualmachines", json::parse(kVm).value()).code, 201);
    const std::string accept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
    const kube::Response list = ask("/apis/kubevirt.io/v1/namespaces/t/virtualmachines", accept);
    EXPECT_EQ(list.headers.at("content-type"), "application/json");
    EXPECT_EQ(json::text_at(*list.document, "/kind"), "Table");
    EXPECT_EQ(json::text_at(*list.document, "/rows/0/cells/0"), "vm1");
    EXPECT_EQ(json::text_at(*list.document, "/rows/0/object/kind"), "PartialObjectMetadata");
    EXPECT_NE(json::text_at(*list.document, "/metadata/resourceVersion"), "");
    const kube::Response none = ask("/apis/kubevirt.io/v1/namespaces/t/virtualmachines/vm1?includeObject=None", accept);
    EXPECT_TRUE(json::find(*none.document, "/rows/0/object")->is_null());
    const kube::Response whole =
        ask("/apis/kubevirt.io/v1/namespaces/t/virtualmachines/vm1?includeObject=Object", accept);
    EXPECT_EQ(json::text_at(*whole.document, "/rows/0/object/spec/runStrategy"), "Halted");
}

TEST_F(WireTest, A07_A32_SchemasOfKubeVirtAreKept) {
    const std::string path = "/apis/kubevirt.io/v1/namespaces/t/virtualmachines";
    json::Value vm = json::parse(kVm).value();
    json::set(vm, "/spec/runStrategi", json::Value("Always"));
    const kube::Response strict = post(path + "?fieldValidation=Strict", vm);
    EXPECT_EQ(strict.code, 400);
    EXPECT_NE(
        json::text_at(*strict.document, "/message").find("strict decoding error: unknown field \"spec.runStrategi\""),
        std::string::npos
    );
    const kube::Response warned = post(path, vm);
    EXPECT_EQ(warned.code, 201);
    EXPECT_EQ(warned.warnings, std::vector<std::string>{"unknown field \"spec.runStrategi\""});
    EXPECT_EQ(json::find(*warned.document, "/spec/runStrategi"), nullptr) << "unknown fields are pruned";
    json::set(vm, "/metadata/name", json::Value("vm2"));
    json::set(vm, "/spec/runStrategy", json::Value("Sometimes"));
    const kube::Response wrong = post(path, vm);
    EXPECT_EQ(wrong.code, 422);
    EXPECT_EQ(json::text_at(*wrong.document, "/details/causes/0/field"), "spec.runStrategy");
}

}  // namespace
}  // namespace berth::apiserver
