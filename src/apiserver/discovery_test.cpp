#include "apiserver/discovery.hpp"

#include <set>

#include "apiserver/resources.hpp"

namespace berth::apiserver {
namespace {

constexpr std::string_view kKubectl =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

TEST(Discovery, A73_FormFollowsAccept) {
    const struct {
        const char* accept;
        const char* content_type;
        const char* kind;
    } rows[] = {
        {kKubectl.data(),
         "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",                                      "APIGroupDiscoveryList"},
        {"application/json; g=apidiscovery.k8s.io; v=v2beta1; as=APIGroupDiscoveryList",
         "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",                                 "APIGroupDiscoveryList"},
        {"application/json",                                                                      "application/json", "APIGroupList"         },
        {"",                                                                                      "application/json", "APIGroupList"         },
        {"*/*",                                                                                   "application/json", "APIGroupList"         },
        {"application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList,application/json",
         "application/json",                                                                                          "APIGroupList"         },
    };
    for (const auto& row : rows) {
        const auto answer = discover("/apis", row.accept);
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->content_type, row.content_type);
        EXPECT_EQ(json::text_at(answer->body, "/kind"), row.kind);
        EXPECT_EQ(answer->etag.empty(), std::string_view(row.kind) == "APIGroupList");
    }
    EXPECT_EQ(discover("/apis", kKubectl)->etag, discover("/apis/", kKubectl)->etag);
    EXPECT_NE(discover("/apis", kKubectl)->etag, discover("/api", kKubectl)->etag);
    EXPECT_EQ(json::text_at(discover("/api", "")->body, "/versions/0"), "v1");
}

TEST(Discovery, A73_UnknownPathsAreNotThere) {
    for (const char* path : {"/apis/nope", "/apis/apps/v9", "/api/v2", "/nope", "/apis/apps/v1/x"})
        EXPECT_FALSE(discover(path, "")) << path;
    EXPECT_EQ(
        json::text_at(discover("/apis/subresources.kubevirt.io", "")->body, "/preferredVersion/groupVersion"),
        "subresources.kubevirt.io/v1"
    );
}

// resource → verbs, of both forms
std::set<std::string> listed(const json::Value& resources, const std::string& prefix) {
    std::set<std::string> out;
    for (const json::Value& r : resources.as_array()) {
        const std::string name(json::text_at(r, json::find(r, "/name") ? "/name" : "/resource"));
        for (const json::Value& verb : r.at("verbs").as_array())
            out.insert(prefix + name + " " + std::string(verb.as_string()));
        if (const json::Value* parts = json::find(r, "/subresources")) {
            for (const json::Value& part : parts->as_array()) {
                for (const json::Value& verb : part.at("verbs").as_array()) {
                    out.insert(
                        prefix + name + "/" + std::string(json::text_at(part, "/subresource")) + " " +
                        std::string(verb.as_string())
                    );
                }
            }
        }
    }
    return out;
}

TEST(Discovery, A73_LegacyAndAggregatedAgree) {
    std::set<std::string> aggregated;
    for (const char* root : {"/api", "/apis"}) {
        const auto answer = discover(root, kKubectl);
        for (const json::Value& item : answer->body.at("items").as_array()) {
            const std::string group(json::text_at(item, "/metadata/name"));
            for (const json::Value& version : item.at("versions").as_array()) {
                const std::string prefix = group_version(group, json::text_at(version, "/version")) + " ";
                aggregated.merge(listed(version.at("resources"), prefix));
            }
        }
    }
    std::set<std::string> legacy;
    for (const ServedGroup& group : served_groups()) {
        for (const std::string_view version : group.versions) {
            const std::string gv = group_version(group.name, version);
            const auto answer = discover((group.name.empty() ? "/api/" : "/apis/") + gv, "");
            ASSERT_TRUE(answer) << gv;
            legacy.merge(listed(answer->body.at("resources"), gv + " "));
        }
    }
    EXPECT_EQ(legacy, aggregated);
    EXPECT_TRUE(legacy.contains("v1 pods/eviction create"));
    EXPECT_TRUE(legacy.contains("kubevirt.io/v1alpha3 virtualmachines list"));
    EXPECT_TRUE(legacy.contains("authorization.k8s.io/v1 selfsubjectaccessreviews create"));
    for (const std::string& line : legacy) {
        EXPECT_EQ(line.find("pods/exec"), std::string::npos);
        EXPECT_EQ(line.find("subresources.kubevirt.io"), std::string::npos) << "its verbs are empty";
    }
}

TEST(Discovery, A03_WhatKubectlMapsNamesBy) {
    const auto answer = discover("/apis/kubevirt.io/v1", "");
    const json::Value& vm = answer->body.at("resources").at(0);
    EXPECT_EQ(
        json::print(vm),
        R"({"name":"virtualmachines","singularName":"virtualmachine","namespaced":true,"kind":"VirtualMachine",)"
        R"("verbs":["create","delete","deletecollection","get","list","patch","update","watch"],)"
        R"("shortNames":["vm","vms"],"categories":["all"]})"
    );
    std::size_t listed_count = 0;
    for (const ServedGroup& group : served_groups()) {
        for (const ServedResource& r : served_resources(group.name, group.versions.front())) {
            if (r.name.find('/') == std::string::npos) ++listed_count;
        }
    }
    EXPECT_GE(listed_count, 45U);
    EXPECT_EQ(served_groups().front().name, "");
}

}  // namespace
}  // namespace berth::apiserver
