#include "apiserver/openapi.hpp"

#include "apiserver/resources.hpp"

namespace berth::apiserver {
namespace {

const Timestamp kNow = from_rfc3339("2026-01-02T03:04:05Z").value();

json::Value body_of(const OpenApiAnswer& answer) { return json::parse(answer.body).value(); }

TEST(OpenApi, A74_EveryGroupVersionIsInTheIndex) {
    OpenApi api("v1.32.0");
    const json::Value index = body_of(api.answer("v3", "", kNow));
    for (const ServedGroup& group : served_groups()) {
        for (const std::string_view version : group.versions) {
            const std::string path = (group.name.empty() ? "api/" : "apis/") + group_version(group.name, version);
            const auto url = json::text_at(index, "/paths/" + json::escape_key(path) + "/serverRelativeURL");
            ASSERT_TRUE(url.starts_with("/openapi/v3/" + path + "?hash=")) << path;
            const OpenApiAnswer answer = api.answer("v3/" + path, url.substr(url.find('=') + 1), kNow);
            EXPECT_EQ(answer.code, 200);
            EXPECT_EQ(answer.headers.at("cache-control"), "public, immutable");
            EXPECT_EQ(answer.headers.at("etag"), "\"" + std::string(url.substr(url.find('=') + 1)) + "\"");
            EXPECT_EQ(answer.headers.at("expires"), "Sat, 02 Jan 2027 03:04:05 GMT");
        }
    }
}

TEST(OpenApi, A74_EveryStoredKindHasAPatchWithFieldValidation) {
    const OpenApi api("v1.32.0");
    for (const ServedGroup& group : served_groups()) {
        for (const std::string_view version : group.versions) {
            const json::Value document = api.document(group.name, version);
            for (const ServedResource& resource : served_resources(group.name, version)) {
                if (resource.stored == nullptr || resource.name.find('/') != std::string::npos) continue;
                SCOPED_TRACE(group_version(group.name, version) + " " + resource.name);
                const std::string scope = resource.is_namespaced ? "/namespaces/{namespace}/" : "/";
                const std::string path = (group.name.empty() ? "/api/" : "/apis/") +
                                         group_version(group.name, version) + scope + resource.name + "/{name}";
                const json::Value* patch = json::find(document, "/paths/" + json::escape_key(path) + "/patch");
                ASSERT_NE(patch, nullptr);
                EXPECT_EQ(json::text_at(*patch, "/x-kubernetes-group-version-kind/kind"), resource.kind);
                const auto& query = patch->at("parameters").as_array();
                EXPECT_TRUE(std::ranges::any_of(query, [](const json::Value& p) {
                    return p.at("name") == "fieldValidation";
                }));
                bool has_schema = false;
                for (const auto& [name, schema] : document.at("components").at("schemas").as_object()) {
                    has_schema |= json::text_at(schema, "/x-kubernetes-group-version-kind/0/kind") == resource.kind;
                }
                EXPECT_TRUE(has_schema);
            }
        }
    }
}

TEST(OpenApi, H01_VerbsOfMachinesAreListed) {
    const OpenApi api("v1.32.0");
    for (const char* version : {"v1", "v1alpha3"}) {
        const json::Value document = api.document("subresources.kubevirt.io", version);
        for (const char* resource : {"virtualmachines", "virtualmachineinstances"}) {
            for (const char* verb : {"addvolume", "removevolume"}) {
                const std::string path = "/apis/subresources.kubevirt.io/" + std::string(version) +
                                         "/namespaces/{namespace}/" + resource + "/{name}/" + verb;
                const json::Value* put = json::find(document, "/paths/" + json::escape_key(path) + "/put");
                ASSERT_NE(put, nullptr) << path;
                EXPECT_NE(json::find(*put, "/responses/202"), nullptr);
            }
        }
    }
}

// Every reference leads somewhere.
void check_references(const json::Value& value, const json::Value& document) {
    if (const json::Object* object = value.if_object()) {
        for (const auto& [key, inner] : *object) {
            if (key == "$ref" && inner.is_string()) {
                const std::string_view target = inner.get_string();
                EXPECT_NE(json::find(document, target.substr(1)), nullptr) << target;
            }
            check_references(inner, document);
        }
    } else if (const json::Array* array = value.if_array()) {
        for (const json::Value& inner : *array) check_references(inner, document);
    }
}

TEST(OpenApi, A27_SchemasAreWhole) {
    const OpenApi api("v1.32.0");
    for (const ServedGroup& group : served_groups()) {
        for (const std::string_view version : group.versions) {
            const json::Value document = api.document(group.name, version);
            check_references(document, document);
        }
    }
    const json::Value core = api.document("", "v1");
    const json::Value* spec = json::find(core, "/components/schemas/io.k8s.api.core.v1.PodSpec");
    ASSERT_NE(spec, nullptr);
    EXPECT_EQ(
        json::print(*json::find(*spec, "/properties/containers")),
        R"({"type":"array","items":{"$ref":"#/components/schemas/io.k8s.api.core.v1.Container"},"x-kubernetes-patch-strategy":"merge",)"
        R"("x-kubernetes-patch-merge-key":"name","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"]})"
    );
    EXPECT_EQ(json::text_at(*spec, "/properties/volumes/x-kubernetes-patch-strategy"), "merge,retainKeys");
    EXPECT_EQ(json::text_at(*spec, "/required/0"), "containers");
    const json::Value kubevirt = api.document("kubevirt.io", "v1");
    const json::Value* vm = json::find(kubevirt, "/components/schemas/io.kubevirt.v1.VirtualMachine");
    ASSERT_NE(vm, nullptr);
    EXPECT_NE(json::text_at(*vm, "/properties/spec/properties/runStrategy/description"), "");
    EXPECT_EQ(
        json::text_at(*vm, "/properties/metadata/$ref"),
        "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
    );
}

TEST(OpenApi, A74_AnOldHashIsSentToTheNewOne) {
    OpenApi api("v1.32.0");
    const OpenApiAnswer answer = api.answer("v3/apis/apps/v1", "00", kNow);
    EXPECT_EQ(answer.code, 301);
    EXPECT_TRUE(answer.headers.at("location").starts_with("/openapi/v3/apis/apps/v1?hash="));
    const OpenApiAnswer plain = api.answer("v3/apis/apps/v1", "", kNow);
    EXPECT_EQ(plain.code, 200);
    EXPECT_FALSE(plain.headers.contains("cache-control"));
    EXPECT_EQ(api.answer("v3/apis/nope/v1", "", kNow).code, 404);
}

}  // namespace
}  // namespace berth::apiserver
