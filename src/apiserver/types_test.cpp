// The type table and documents held against it.
#include "apiserver/types.hpp"

#include "apiserver/type_check.hpp"

namespace berth::apiserver {
namespace {

json::Value doc(std::string_view text) { return json::parse(text).value(); }

TEST(Types, EveryBuiltInKindHasItsTypeAndItsList) {
    for (const api::Kind* kind : api::kinds()) {
        if (kind->serving != api::Serving::built_in) continue;
        const Type* type = type_of(*kind);
        ASSERT_NE(type, nullptr) << kind->qualified();
        EXPECT_NE(type->field("metadata"), nullptr) << kind->qualified();
        EXPECT_EQ(type->is_cluster, !kind->is_namespaced()) << kind->qualified();
        EXPECT_NE(find_type(kind->api_version(), std::string(kind->kind) + "List"), nullptr) << kind->qualified();
    }
    EXPECT_EQ(type_of(api::kVirtualMachine), nullptr);
    EXPECT_EQ(all_types().size(), 559U);
}

TEST(Types, OptionsAreFoundUnderEveryVersion) {
    const Type* options = find_type("rbac.authorization.k8s.io/v1", "DeleteOptions");
    ASSERT_NE(options, nullptr);
    EXPECT_NE(options->field("propagationPolicy"), nullptr);
    EXPECT_EQ(find_type("v1", "Nope"), nullptr);
}

TEST(Types, InlinedStructsStandInTheirParent) {
    const Type* volume = find_type_named("core/v1.Volume");
    ASSERT_NE(volume, nullptr);
    EXPECT_NE(volume->field("persistentVolumeClaim"), nullptr);
    EXPECT_EQ(volume->field("~VolumeSource"), nullptr);
    EXPECT_EQ(find_type_named("core/v1.PodSpec")->field("containers")->merge_key, "name");
}

TEST(Types, A55_MergeSchemaOfADeployment) {
    json::Value live = doc(
        R"({"spec":{"template":{"spec":{"containers":[{"name":"a","ports":[{"containerPort":80}]},{"name":"b"}]}}}})"
    );
    const auto patch = doc(R"({"metadata":{"finalizers":["x/y"]},"spec":{"template":{"spec":{
        "containers":[{"name":"new","image":"n"},{"name":"a","ports":[{"containerPort":81}],"args":["1"]}]}}}})");
    ASSERT_TRUE(json::apply_strategic_patch(live, patch, merge_schema(*type_of(*api::find_kind("apps", "deployments"))))
    );
    const json::Array& containers = json::find(live, "/spec/template/spec/containers")->as_array();
    ASSERT_EQ(containers.size(), 3U);
    EXPECT_EQ(json::text_at(containers[0], "/name"), "new");
    EXPECT_EQ(json::text_at(containers[1], "/name"), "a");
    EXPECT_EQ(containers[1].at("ports").as_array().size(), 2U);
}

// What `kubectl apply` made of a deployment that lost one container and changed another; "side" is not its own.
TEST(Types, A08_PatchOfClientSideApply) {
    json::Value live = doc(
        R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"w"},{"name":"old","image":"o"},{"name":"side","image":"s"}]}}}})"
    );
    const auto patch = doc(R"({"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"c"}],
        "containers":[{"image":"x","name":"c","ports":[{"containerPort":80}]},{"$patch":"delete","name":"old"}]}}}})");
    ASSERT_TRUE(json::apply_strategic_patch(live, patch, merge_schema(*type_of(*api::find_kind("apps", "deployments"))))
    );
    EXPECT_EQ(
        live,
        doc(R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"x","ports":[{"containerPort":80}]},{"name":"side","image":"s"}]}}}})"
        )
    );
}

TEST(TypeCheck, A07_UnknownFields) {
    const struct {
        const char* kind;
        const char* document;
        std::vector<std::string> unknown;
    } rows[] = {
        {"ConfigMap",
         R"({"apiVersion":"v1","kind":"ConfigMap","dat":{},"metadata":{"name":"x","labels":{"free":"1"}}})", {"dat"}                                                                   },
        {"Pod",
         R"({"spec":{"containers":[{"name":"c"},{"imag":"i","env":[{"value":"v","y":1}]}],"Volumes":[]}})",  {"spec.containers[1].imag", "spec.containers[1].env[0].y", "spec.Volumes"}},
        {"Pod",
         R"({"spec":{"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c","z":null}}]}})",        {"spec.volumes[0].persistentVolumeClaim.z"}                               },
        {"ConfigMap", R"({"metadata":{"managedFields":[{"fieldsV1":{"f:a":{}}}]}})",                         {}                                                                        },
    };
    for (const auto& row : rows) {
        std::vector<std::string> got;
        find_unknown_fields(doc(row.document), *find_type("v1", row.kind), got);
        EXPECT_EQ(got, row.unknown) << row.document;
    }
}

TEST(TypeCheck, TypeErrorsNameTheField) {
    const struct {
        const char* kind;
        const char* document;
        const char* message;
    } rows[] = {
        {"ConfigMap",
         R"({"data":{"a":1}})",                                                    "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"                           },
        {"ConfigMap",
         R"({"data":[]})",                                                         "json: cannot unmarshal array into Go struct field ConfigMap.data of type map[string]string"                 },
        {"Pod",
         R"({"spec":{"containers":{}}})",                                          "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container"          },
        {"Pod",
         R"({"spec":{"terminationGracePeriodSeconds":"x"}})",                      "json: cannot unmarshal string into Go struct field PodSpec.spec.terminationGracePeriodSeconds of type int64"},
        {"Pod",
         R"({"spec":{"containers":[{"ports":[{"containerPort":3000000000}]}]}})",  "json: cannot unmarshal number 3000000000 into Go struct field "
         "ContainerPort.spec.containers.ports.containerPort of type int32"                                     },
        {"Secret",    R"({"data":{"a":"###"}})",                                   "illegal base64 data in field data"                                                                          },
        {"Pod",
         R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"1 core"}}}]}})", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"                },
        {"Pod",       R"([])",                                                     "json: cannot unmarshal array into Go value of type v1.Pod"                                                  },
    };
    for (const auto& row : rows) {
        const auto done = check_types(doc(row.document), *find_type("v1", row.kind));
        ASSERT_FALSE(done) << row.document;
        EXPECT_EQ(done.error().message, row.message);
    }
    EXPECT_TRUE(check_types(
        doc(R"({"data":{"a":null},"binaryData":{"b":"AA=="},"immutable":false})"), *find_type("v1", "ConfigMap")
    ));
    EXPECT_TRUE(check_types(
        doc(R"({"spec":{"resources":{"requests":{"storage":1073741824}}}})"), *find_type("v1", "PersistentVolumeClaim")
    ));
}

TEST(TypeCheck, ConformedDropsWhatATypedDecodeDrops) {
    const auto got = conformed(
        doc(R"({"spec":{"containers":[{"image":"i","name":"c","args":[],"tty":false,"resources":{}}],"volumes":null,
            "securityContext":{},"terminationGracePeriodSeconds":0},"nope":1,"metadata":{"name":"p","labels":{},"creationTimestamp":null},"kind":"Pod"})"
        ),
        *find_type("v1", "Pod")
    );
    EXPECT_EQ(
        json::print(got),
        R"({"kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}],)"
        R"("terminationGracePeriodSeconds":0,"securityContext":{}}})"
    );
}

TEST(TypeCheck, DuplicateFields) {
    const struct {
        const char* text;
        std::vector<std::string> wanted;
    } rows[] = {
        {R"({"a":1,"b":{"c":1,"d":[{"e":1,"e":2},{"e":1}]},"a":2})", {"b.d[0].e", "a"}},
        {R"({"metadata":{"name":"x", "name" : "y","name":"z"}})",    {"metadata.name"}},
        {R"({"a":"}{\"","\u0061":2})",                               {"a"}            },
        {R"([])",                                                    {}               },
        {R"("x")",                                                   {}               },
        {R"({})",                                                    {}               },
        {R"({"a":[1,-2.5e3,true,null,"x"],"b":{}})",                 {}               },
    };
    for (const auto& row : rows) EXPECT_EQ(duplicate_fields(row.text), row.wanted) << row.text;
}

}  // namespace
}  // namespace berth::apiserver
