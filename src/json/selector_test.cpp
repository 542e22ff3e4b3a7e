#include "json/selector.hpp"

namespace berth::json {
namespace {

TEST(LabelSelector, A22_Matching) {
    const Value labels = parse(R"({"x":"a","n":"5","ex.io/k":"v","e":""})").value();
    const struct {
        const char* selector;
        bool matches;
    } rows[] = {
        {"",              true },
        {"x=a",           true },
        {"x==a",          true },
        {"x!=a",          false},
        {"y!=a",          true },
        {"x in (a,b)",    true },
        {"x in (b)",      false},
        {"x notin (a)",   false},
        {"y notin (a)",   true },
        {"x",             true },
        {"!x",            false},
        {"!y",            true },
        {"n>4",           true },
        {"n<4",           false},
        {"x>1",           false},
        {"y>1",           false},
        {"x in (a,b),!y", true },
        {" x = a , n ",   true },
        {"ex.io/k=v",     true },
        {"e=",            true },
        {"e",             true },
        {"e in (,b)",     true },
        {"in=a",          false},
        {"x in ( a )",    true },
    };
    for (const auto& row : rows) {
        const auto selector = parse_label_selector(row.selector);
        ASSERT_TRUE(selector) << row.selector << ": " << selector.error().message;
        EXPECT_EQ(matches(*selector, &labels.get_object()), row.matches) << row.selector;
    }
    EXPECT_TRUE(matches(*parse_label_selector("!x,y!=1"), nullptr));
}

TEST(LabelSelector, A22_ErrorTexts) {
    const struct {
        const char* selector;
        const char* message;
    } rows[] = {
        {"x>",
         R"(unable to parse requirement: values[0]: Invalid value: "": for 'Gt', 'Lt' operators, the value must be an integer)"
        },
        {"x in a",  "unable to parse requirement: found 'a' expected: '('"                                                     },
        {"x in (a", "unable to parse requirement: found '', expected: ',' or ')'"                                              },
        {"x y",     "unable to parse requirement: found 'y', expected: in, notin, =, ==, !=, gt, lt"                           },
        {"=a",      "found '=', expected: !, identifier, or 'end of string'"                                                   },
        {"a,",      "found '', expected: identifier after ','"                                                                 },
        {"a=b c",   "found 'c', expected: ',' or 'end of string'"                                                              },
        {"!",       "unable to parse requirement: found '', expected: identifier"                                              },
        {"x in ()",
         "unable to parse requirement: values: Invalid value: []: for 'in', 'notin' operators, values set can't be "
         "empty"                                                                                                               },
    };
    for (const auto& row : rows) {
        const auto selector = parse_label_selector(row.selector);
        ASSERT_FALSE(selector) << row.selector;
        EXPECT_EQ(selector.error().message, row.message) << row.selector;
    }
    EXPECT_FALSE(parse_label_selector("a b/c=1"));
    EXPECT_FALSE(parse_label_selector("-a=1"));
    EXPECT_FALSE(parse_label_selector("a=-"));
    std::string many = "k";
    for (int i = 0; i < 100; ++i) many += ",k";
    EXPECT_FALSE(parse_label_selector(many));
}

TEST(FieldSelector, A23_ParsesAndMatches) {
    const Value pod =
        parse(R"({"metadata":{"name":"p,1"},"spec":{"nodeName":"n1","hostNetwork":true},"status":{"n":3}})").value();
    const struct {
        const char* selector;
        bool matches;
    } rows[] = {
        {"",                                       true },
        {"spec.nodeName=n1",                       true },
        {"spec.nodeName==n1",                      true },
        {"spec.nodeName!=n1",                      false},
        {"spec.none=",                             true },
        {R"(metadata.name=p\,1,spec.nodeName=n1)", true },
        {"spec.unschedulable=false",               true },
        {"spec.hostNetwork=true",                  true },
        {"status.n=3",                             true },
        {"spec.nodeName=n1,status.n!=3",           false},
        {",",                                      true },
    };
    for (const auto& row : rows) {
        const auto selector = parse_field_selector(row.selector);
        ASSERT_TRUE(selector) << row.selector << ": " << selector.error().message;
        EXPECT_EQ(matches(*selector, pod), row.matches) << row.selector;
    }
    EXPECT_EQ(*parse_field_selector("metadata.name=a")->required("metadata.name"), "a");
    EXPECT_EQ(parse_field_selector("metadata.name!=a")->required("metadata.name"), nullptr);
}

TEST(FieldSelector, A23_ErrorTexts) {
    const struct {
        const char* selector;
        const char* message;
    } rows[] = {
        {"bad",      "invalid selector: 'bad'; can't understand 'bad'"         },
        {"a=b=c",    "invalid field selector: unescaped character in value: 61"},
        {R"(a=b\x)", R"(invalid field selector: invalid escape sequence: \x)"  },
        {R"(a=b\)",  R"(invalid field selector: invalid escape sequence: \)"   },
    };
    for (const auto& row : rows) {
        const auto selector = parse_field_selector(row.selector);
        ASSERT_FALSE(selector) << row.selector;
        EXPECT_EQ(selector.error().message, row.message);
    }
}

}  // namespace
}  // namespace berth::json
