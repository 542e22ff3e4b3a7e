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

TEST_F(ServerTest, A16_DeleteThenGet) {
    post(kMaps, config_map("c1"));
    const auto removed = remove(std::string(kMaps) + "/c1");
    EXPECT_EQ(removed.code, 200);
    EXPECT_EQ(text(removed, "/status"), "Success");
    EXPECT_EQ(text(removed, "/details/kind"), "configmaps");
    const auto got = get(std::string(kMaps) + "/c1");
    EXPECT_EQ(got.code, 404);
    EXPECT_EQ(message(got), "configmaps \"c1\" not found");
}

TEST_F(ServerTest, A19_WatchSeesAddedModifiedDeleted) {
    auto stream = watch(kMaps, {{"resourceVersion", std::to_string(store->revision())}});
    ASSERT_TRUE(stream);
    post(kMaps, config_map("c1"));
    merge_patch(std::string(kMaps) + "/c1", R"({"metadata":{"labels":{"x":"y"}}})");
    remove(std::string(kMaps) + "/c1");
    EXPECT_EQ(next(*stream), "ADDED c1");
    EXPECT_EQ(next(*stream), "MODIFIED c1");
    EXPECT_EQ(next(*stream), "DELETED c1");
}

}  // namespace
}  // namespace berth::apiserver
