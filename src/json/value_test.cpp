#include "json/value.hpp"
#include "json/diff.hpp"

namespace berth::json {
namespace {

Value doc(std::string_view text) { return parse(text).value(); }

TEST(Json, PointersFindAndSet) {
    Value v = doc(R"({"a":{"b/c":[1,{"d":"x"}]}})");
    EXPECT_EQ(text_at(v, "/a/b~1c/1/d"), "x");
    EXPECT_EQ(integer_at(v, "/a/b~1c/0"), 1);
    EXPECT_EQ(find(v, "/a/b~1c/2"), nullptr);
    set(v, "/a/new/deep", "y");
    EXPECT_EQ(text_at(v, "/a/new/deep"), "y");
    erase(v, "/a/new");
    EXPECT_EQ(find(v, "/a/new"), nullptr);
}

TEST(Json, MergePatchTurnsOneIntoTheOther) {
    const struct {
        const char* from;
        const char* to;
        const char* patch;
    } rows[] = {
        {R"({"a":1,"b":2})",       R"({"a":1,"c":3})", R"({"c":3,"b":null})"},
        {R"({"a":{"x":1,"y":2}})", R"({"a":{"x":1}})", R"({"a":{"y":null}})"},
        {R"({"a":[1,2]})",         R"({"a":[2]})",     R"({"a":[2]})"       },
    };
    for (const auto& row : rows) {
        const auto patch = merge_patch_between(doc(row.from), doc(row.to));
        ASSERT_TRUE(patch);
        EXPECT_EQ(*patch, doc(row.patch));
        Value target = doc(row.from);
        apply_merge_patch(target, *patch);
        EXPECT_EQ(target, doc(row.to));
    }
    EXPECT_FALSE(merge_patch_between(doc("{}"), doc("{}")));
}

TEST(Json, ListAt) {
    const Value value = doc(R"({"a":[1,2],"b":{"c":3},"d":[]})");
    EXPECT_EQ(list_at(value, "/a").size(), 2U);
    for (const char* pointer : {"/b", "/b/c", "/d", "/none", "/a/0"})
        EXPECT_TRUE(list_at(value, pointer).empty()) << pointer;
}

TEST(Json, RefusesBrokenText) {
    EXPECT_FALSE(parse("{"));
    EXPECT_FALSE(parse(std::string(2000, '[')));
    EXPECT_FALSE(parse(R"({"a":[63E266266]})")) << "found by fuzzing: it printed as 1e99999 and did not read back";
}

}  // namespace
}  // namespace berth::json
