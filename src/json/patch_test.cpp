// JSON patch and strategic merge patch.
#include "json/json_patch.hpp"
#include "json/strategic.hpp"

namespace berth::json {
namespace {

Value doc(std::string_view text) { return parse(text).value(); }

TEST(JsonPatch, A56_Rows) {
    const struct {
        const char* target;
        const char* patch;
        const char* wanted;
    } rows[] = {
        {R"({"a":1})",
         R"([{"op":"add","path":"/b","value":{"c":[]}},{"op":"add","path":"/b/c/-","value":2}])",                  R"({"a":1,"b":{"c":[2]}})"},
        {R"({"a":[1,2]})",       R"([{"op":"add","path":"/a/1","value":9}])",                                      R"({"a":[1,9,2]})"        },
        {R"({"a":[1,2]})",       R"([{"op":"remove","path":"/a/0"}])",                                             R"({"a":[2]})"            },
        {R"({"a/b":1,"c~d":2})",
         R"([{"op":"replace","path":"/a~1b","value":3},{"op":"remove","path":"/c~0d"}])",                          R"({"a/b":3})"            },
        {R"({"a":{"b":1}})",
         R"([{"op":"move","from":"/a/b","path":"/c"},{"op":"copy","from":"/c","path":"/d"}])",                     R"({"a":{},"c":1,"d":1})" },
        {R"({"a":1})",           R"([{"op":"test","path":"/a","value":1},{"op":"add","path":"/a","value":null}])", R"({"a":null})"
        },
        {R"({"a":1})",           R"([{"op":"test","path":"/gone","value":null}])",                                 R"({"a":1})"              },
        {R"({"a":1})",           R"([{"op":"replace","path":"","value":[1]}])",                                    R"([1])"                  },
    };
    for (const auto& row : rows) {
        Value target = doc(row.target);
        const auto done = apply_json_patch(target, doc(row.patch));
        EXPECT_TRUE(done) << row.patch << done.error().message;
        EXPECT_EQ(target, doc(row.wanted)) << row.patch;
    }
}

TEST(JsonPatch, A13_A56_Refusals) {
    const char* rows[] = {
        R"([{"op":"test","path":"/a","value":"9"}])",
        R"([{"op":"remove","path":"/nope"}])",
        R"([{"op":"replace","path":"/nope","value":1}])",
        R"([{"op":"add","path":"/x/y","value":1}])",
        R"([{"op":"add","path":"/l/3","value":1}])",
        R"([{"op":"add","path":"/l/01","value":1}])",
        R"([{"op":"remove","path":"/l/-"}])",
        R"([{"op":"frob","path":"/a"}])",
        R"([{"op":"add","path":"/a"}])",
        R"([{"op":"move","from":"/l","path":"/l/0"}])",
        R"([{"op":"add","path":"a","value":1}])",
        R"([{"path":"/a"}])",
        R"([{"op":"remove","path":""}])",
        R"([{"op":"add","path":"/a~2","value":1}])",
    };
    for (const char* row : rows) {
        Value target = doc(R"({"a":1,"l":[1,2]})");
        const auto done = apply_json_patch(target, doc(row));
        ASSERT_FALSE(done) << row;
        EXPECT_EQ(done.error().kind, ErrorKind::invalid);
    }
}

TEST(JsonPatch, A56_DefectsAreToldApart) {
    EXPECT_EQ(find_defect(doc("{}")), PatchDefect::undecodable);
    EXPECT_EQ(find_defect(doc("[1]")), PatchDefect::undecodable);
    const Array many(kMaxPatchOperations + 1, doc(R"({"op":"test","path":"/a","value":1})"));
    EXPECT_EQ(find_defect(Value(many)), PatchDefect::too_many_operations);
    EXPECT_FALSE(find_defect(doc("[]")));
}

TEST(JsonPatch, GrowthHasAnEnd) {
    Array doubling(100, doc(R"({"op":"copy","from":"/a","path":"/a/-"})"));
    Value target = doc(R"({"a":["0123456789"]})");
    EXPECT_FALSE(apply_json_patch(target, Value(doubling)));
    Array deeper;
    std::string path = "/a";
    for (int i = 0; i < 600; ++i) {
        deeper.push_back(Object{
            {"op",    "add"   },
            {"path",  path    },
            {"value", Object()}
        });
        path += "/a";
    }
    target = doc("{}");
    EXPECT_FALSE(apply_json_patch(target, Value(deeper)));
}

// A pod-like schema: containers merge by name, conditions by type, finalizers are a set, strategy keeps keys.
class Schema final : public MergeSchema {
public:
    MergeField field(std::string_view name) const override {
        if (name == "containers" || name == "items") return {.merges = true, .merge_key = "name", .inner = this};
        if (name == "conditions") return {.merges = true, .merge_key = "type", .inner = this};
        if (name == "finalizers") return {.merges = true};
        if (name == "whole") return {.replaces = true};
        return {.inner = this};
    }
};

TEST(StrategicPatch, A55_OrderVectors) {
    const struct {
        const char* live;
        const char* patch;
        const char* wanted;
    } rows[] = {
        {"abcd",  R"({"items":[{"name":"x"}]})",                                                          "xabcd" },
        {"xabcd", R"({"items":[{"name":"c"},{"name":"y"}]})",                                             "xabcyd"},
        {"abcd",  R"({"$setElementOrder/items":[{"name":"d"},{"name":"a"}],"items":[{"name":"d"}]})",     "bcda"  },
        {"bcda",
         R"({"$setElementOrder/items":[{"name":"b"},{"name":"n"},{"name":"a"}],"items":[{"name":"n"}]})", "bncda" },
        {"bncda", R"({"$setElementOrder/items":[{"name":"a"},{"name":"b"},{"name":"c"}]})",               "ndabc" },
        {"A",     R"({"items":[{"name":"B"}]})",                                                          "BA"    },
        {"ab",    R"({"items":[{"name":"n","image":"n"}]})",                                              "nab"   },
        {"abc",   R"({"items":[{"name":"b","$patch":"delete"}]})",                                        "ac"    },
        {"abc",   R"({"items":[{"$patch":"replace"},{"name":"z"}]})",                                     "z"     },
        {"",      R"({"items":[{"name":"a"},{"name":"q","$patch":"delete"},{"name":"a","x":null}]})",     "a"     },
    };
    for (const auto& row : rows) {
        Value target = Object();
        Array& items = target.get_object()["items"].emplace_array();
        for (const char c : std::string_view(row.live))
            items.push_back(Object{
                {"name", std::string(1, c)}
            });
        const auto done = apply_strategic_patch(target, doc(row.patch), Schema());
        ASSERT_TRUE(done) << row.patch << done.error().message;
        std::string names;
        for (const Value& item : target.at("items").as_array()) names += std::string(item.at("name").as_string());
        EXPECT_EQ(names, row.wanted) << row.patch;
        EXPECT_EQ(print(target).find('$'), std::string::npos) << print(target);
    }
}

TEST(StrategicPatch, A55_Directives) {
    const struct {
        const char* live;
        const char* patch;
        const char* wanted;
    } rows[] = {
        {R"({"a":{"x":1,"y":2}})",                                      R"({"a":{"x":null,"z":3}})",                                R"({"a":{"y":2,"z":3}})"                      },
        {R"({"annotations":{"a":"1"}})",                                R"({"annotations":{"$patch":"delete"}})",                   R"({"annotations":{}})"                       },
        {R"({"annotations":{"a":"1"}})",
         R"({"annotations":{"$patch":"replace","r":"1"}})",                                                                         R"({"annotations":{"r":"1"}})"                },
        {R"({})",                                                       R"({"annotations":{"$patch":"replace","r":"1","n":null}})", R"({"annotations":{"r":"1"}})"                },
        {R"({"whole":{"a":1}})",                                        R"({"whole":{"b":2}})",                                     R"({"whole":{"b":2}})"                        },
        {R"({"finalizers":["a","b"]})",                                 R"({"finalizers":["c","a"]})",                              R"({"finalizers":["c","a","b"]})"             },
        {R"({"finalizers":["a","b"]})",                                 R"({"$deleteFromPrimitiveList/finalizers":["a"]})",         R"({"finalizers":["b"]})"                     },
        {R"({"args":["a","b"]})",                                       R"({"args":["c"]})",                                        R"({"args":["c"]})"                           },
        {R"({"strategy":{"type":"RollingUpdate","rollingUpdate":{}}})",
         R"({"strategy":{"$retainKeys":["type"],"type":"Recreate"}})",                                                              R"({"strategy":{"type":"Recreate"}})"         },
        {R"({"containers":[{"name":"c","image":"1","env":1}]})",
         R"({"containers":[{"name":"c","image":"2","env":null}]})",                                                                 R"({"containers":[{"name":"c","image":"2"}]})"},
        {R"({"containers":[{"name":"c","image":"1"}]})",                R"({"containers":null})",                                   R"({})"                                       },
        {R"({"a":"text"})",                                             R"({"a":{"b":{"c":null}}})",                                R"({"a":{"b":{}}})"                           },
    };
    for (const auto& row : rows) {
        Value target = doc(row.live);
        const auto done = apply_strategic_patch(target, doc(row.patch), Schema());
        ASSERT_TRUE(done) << row.patch << done.error().message;
        EXPECT_EQ(target, doc(row.wanted)) << row.patch << " gave " << print(target);
    }
}

TEST(StrategicPatch, A55_ErrorTexts) {
    const struct {
        const char* patch;
        const char* message;
    } rows[] = {
        {R"({"containers":[{"image":"nokey"}]})",                                                                   "map: map[image:nokey] does not contain declared merge key: name"},
        {R"({"a":{"$patch":"bogus"}})",                                                                             "unknown patch type: bogus in map: map[$patch:bogus]"            },
        {R"({"containers":[{"name":"b"},{"name":"a"}],"$setElementOrder/containers":[{"name":"a"},{"name":"b"}]})",
         "The order in patch list:\n[map[name:b] map[name:a]]\n doesn't match $setElementOrder list:\n[map[name:a] "
         "map[name:b]]\n"                                                                                                                                                            },
        {R"({"strategy":{"$retainKeys":["type"],"other":1}})",                                                      "invalid patch format of retainKeys"                             },
    };
    for (const auto& row : rows) {
        Value target = doc(R"({"a":{},"strategy":{}})");
        const auto done = apply_strategic_patch(target, doc(row.patch), Schema());
        ASSERT_FALSE(done) << row.patch;
        EXPECT_EQ(done.error().message, row.message);
    }
}

}  // namespace
}  // namespace berth::json
