// The schema engine, and the schemas and definitions of the kinds that are served from one.
#include "apiserver/schema.hpp"

#include "apiserver/crds.hpp"
#include "apiserver/type_check.hpp"

namespace berth::apiserver {
namespace {

json::Value doc(std::string_view text) { return json::parse(text).value(); }

// crd.yaml of the acceptance scenarios: foos.ex.io
const json::Value& foo() {
    static const json::Value schema = doc(R"({"type":"object","properties":{
        "spec":{"type":"object","required":["w"],"properties":{
            "replicas":{"type":"integer","minimum":1,"default":2},
            "w":{"type":"string","enum":["a","b"]},
            "q":{"x-kubernetes-int-or-string":true},
            "when":{"type":"string","format":"date-time"},
            "maybe":{"type":"string","nullable":true},
            "l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
                 "items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"integer","default":7}}}},
            "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"n":{"type":"object","properties":{"a":{"type":"string"}}}}},
            "tags":{"type":"object","additionalProperties":{"type":"object","properties":{"t":{"type":"string"}}}}}},
        "status":{"type":"object"}}})");
    return schema;
}

std::string print(const std::vector<api::Cause>& causes) {
    std::string out;
    for (const api::Cause& cause : causes) out += cause.reason + "@" + cause.field + ": " + cause.message + "\n";
    return out;
}

TEST(Schema, A32_Causes) {
    const struct {
        const char* document;
        const char* wanted;
    } rows[] = {
        {R"({"spec":{"w":"a","replicas":1,"q":"5%","maybe":null,"when":"2026-01-02T03:04:05Z"}})", ""                                           },
        {R"({"spec":{"replicas":0,"w":"zz","l":[{"k":"x"},{"k":"x"}]}})",
         "FieldValueInvalid@spec.replicas: Invalid value: 0: spec.replicas in body should be greater than or equal to "
         "1\n"
         "FieldValueNotSupported@spec.w: Unsupported value: \"zz\": supported values: \"a\", \"b\"\n"
         "FieldValueDuplicate@spec.l[1]: Duplicate value: {\"k\":\"x\"}\n"                                                                      },
        {R"({"spec":{}})",                                                                         "FieldValueRequired@spec.w: Required value\n"},
        {R"({"spec":{"w":"a","replicas":"3"}})",
         "FieldValueTypeInvalid@spec.replicas: Invalid value: \"string\": spec.replicas in body must be of type "
         "integer: \"string\"\n"                                                                                                                },
        {R"({"spec":[]})",
         "FieldValueTypeInvalid@spec: Invalid value: \"array\": spec in body must be of type object: \"array\"\n"                               },
        {R"({"spec":{"w":"a","q":true}})",
         "FieldValueTypeInvalid@spec.q: Invalid value: \"boolean\": spec.q in body must be of type integer,string: "
         "\"boolean\"\n"                                                                                                                        },
        {R"({"spec":{"w":"a","when":"soon"}})",
         "FieldValueInvalid@spec.when: Invalid value: \"soon\": spec.when in body must be of type date-time: \"soon\"\n"
        },
    };
    for (const auto& row : rows) EXPECT_EQ(print(validate(doc(row.document), foo())), row.wanted) << row.document;
}

TEST(Schema, A07_UnknownFieldsAndPruning) {
    const json::Value document =
        doc(R"({"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"f","labels":{"a":"b"},"nam":1},"extra":1,
        "spec":{"w":"a","ww":1,"l":[{"k":"x"},{"k":"y","z":1}],"free":{"any":{"thing":1},"n":{"a":"1","b":2}},"tags":{"one":{"t":"1","u":2}}},"status":{"s":1}})"
        );
    std::vector<std::string> unknown;
    find_unknown_fields(document, foo(), unknown);
    const std::vector<std::string> wanted{
        "metadata.nam", "extra", "spec.ww", "spec.l[1].z", "spec.free.n.b", "spec.tags.one.u", "status.s"
    };
    EXPECT_EQ(unknown, wanted);
    json::Value pruned = document;
    prune(pruned, foo());
    EXPECT_EQ(
        pruned,
        doc(R"({"apiVersion":"ex.io/v1","kind":"Foo","metadata":{"name":"f","labels":{"a":"b"}},
        "spec":{"w":"a","l":[{"k":"x"},{"k":"y"}],"free":{"any":{"thing":1},"n":{"a":"1"}},"tags":{"one":{"t":"1"}}},"status":{}})"
        )
    );
}

TEST(Schema, A31_Defaults) {
    json::Value document = doc(R"({"spec":{"w":null,"maybe":null,"l":[{"k":"x"},{"k":"y","v":1}]}})");
    apply_defaults(document, foo());
    EXPECT_EQ(document, doc(R"({"spec":{"maybe":null,"l":[{"k":"x","v":7},{"k":"y","v":1}],"replicas":2}})"));
    document = doc("{}");
    apply_defaults(document, foo());
    EXPECT_EQ(document, doc("{}"));
}

TEST(Crds, A07_TypingErrorsInKubeVirtAndCdiAreFound) {
    const struct {
        const api::Kind& kind;
        const char* document;
        std::vector<std::string> unknown;
    } rows[] = {
        {api::kVirtualMachine,
         R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":"vm","labels":{"a":"b"}},
             "spec":{"runStrategi":"Always","template":{"metadata":{"labels":{"x":"y"}},"spec":{"domain":{"cpu":{"cores":1,"core":2},
             "devices":{"disk":[],"disks":[{"name":"d","disk":{"bus":"virtio","buss":"x"}}],"interfaces":[{"name":"default","masquerade":{}}]},
             "resources":{"requests":{"memory":"1Gi"}}},"networks":[{"name":"default","pod":{}}],
             "volumes":[{"name":"d","dataVolume":{"name":"x","hotplugable":true}}],"terminationGracePeriod":3}},
             "dataVolumeTemplates":[{"metadata":{"name":"x"},"spec":{"sorce":{},"storage":{"resources":{"request":{}}}}}]},"status":{"anything":1}})",               {"spec.runStrategi",
          "spec.template.spec.domain.cpu.core",
          "spec.template.spec.domain.devices.disk",
          "spec.template.spec.domain.devices.disks[0].disk.buss",
          "spec.template.spec.volumes[0].dataVolume.hotplugable",
          "spec.template.spec.terminationGracePeriod",
          "spec.dataVolumeTemplates[0].spec.sorce",
          "spec.dataVolumeTemplates[0].spec.storage.resources.request"}},
        {api::kVmi,
         R"({"spec":{"domain":{"devices":{}},"affinity":{"nodeAffinity":{"required":{}}}}})",                                  {"spec.affinity.nodeAffinity.required"}                 },
        {api::kDataVolume,
         R"({"spec":{"source":{"http":{"url":"u","urll":"x"},"blank":{}},"pvc":{"accessMode":["ReadWriteOnce"]}},"stat":{}})",
         {"spec.source.http.urll", "spec.pvc.accessMode", "stat"}                                                                                                                      },
        {api::kStorageProfile,
         R"({"spec":{"claimPropertySets":[{"accessModes":[],"volumeMod":"Block"}]}})",                                         {"spec.claimPropertySets[0].volumeMod"}                 },
        {api::kCdiConfig,      R"({"spec":{"featureGates":["X"],"featureGate":[]}})",                                          {"spec.featureGate"}                                    },
        {api::kKubeVirt,
         R"({"spec":{"configuration":{"developerConfiguration":{"featureGates":["X"]}}},"extra":1})",                          {"extra"}                                               },
        {api::kCdi,            R"({"spec":{"config":{"anything":1}},"status":{"phase":"Deployed"}})",                          {}                                                      },
    };
    for (const auto& row : rows) {
        std::vector<std::string> got;
        find_unknown_fields(doc(row.document), served_schema(row.kind), got);
        EXPECT_EQ(got, row.unknown) << row.kind.kind;
    }
}

TEST(Crds, ValidationNamesWhatIsWrong) {
    const struct {
        const api::Kind& kind;
        const char* document;
        const char* wanted;
    } rows[] = {
        {api::kVirtualMachine, R"({"spec":{}})",                                                                                             "FieldValueRequired@spec.template: Required value\n"          },
        {api::kVirtualMachine,
         R"({"spec":{"runStrategy":"Sometimes","template":{"spec":{"domain":{"devices":{"disks":[{"name":"a","disk":{"bus":"ide"}}]}}}}}})",
         "FieldValueNotSupported@spec.runStrategy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
         "\"Halted\", \"Manual\", \"RerunOnFailure\", \"Once\", \"WaitAsReceiver\"\n"
         "FieldValueNotSupported@spec.template.spec.domain.devices.disks[0].disk.bus: Unsupported value: \"ide\": "
         "supported values: \"virtio\", \"sata\", \"scsi\", \"usb\"\n"                                                                                                                                     },
        {api::kDataVolume,
         R"({"spec":{"pvc":{"accessModes":["ReadWriteTwice"],"resources":{"requests":{"storage":1073741824}}}}})",                           "FieldValueNotSupported@spec.pvc.accessModes[0]: Unsupported value: \"ReadWriteTwice\": supported values: "
         "\"ReadWriteOnce\", \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOncePod\"\n"},
        {api::kVmi,
         R"({"spec":{"domain":{"devices":{}},"volumes":[{"containerDisk":{}}]}})",                                                           "FieldValueRequired@spec.volumes[0].name: Required "
         "value\nFieldValueRequired@spec.volumes[0].containerDisk.image: Required value\n"                               },
        {api::kVmi,
         R"({"spec":{"domain":{"devices":{}},"volumes":{}}})",                                                                               "FieldValueTypeInvalid@spec.volumes: Invalid value: \"object\": spec.volumes in body must be of type array: "
         "\"object\"\n"                                                                                                                      },
    };
    for (const auto& row : rows)
        EXPECT_EQ(print(validate(doc(row.document), served_schema(row.kind))), row.wanted) << row.document;
}

TEST(Crds, EveryServedSchemaIsADefinitionOfItsKind) {
    const Timestamp at = from_rfc3339("2026-01-02T03:04:05Z").value();
    for (const api::Kind* kind : api::kinds()) {
        if (kind->serving != api::Serving::schema) continue;
        SCOPED_TRACE(std::string(kind->plural));
        const json::Value crd = crd_of(*kind, at);
        const Type& type = *type_of(api::kCustomResourceDefinition);
        const auto good = check_types(crd, type);
        EXPECT_TRUE(good) << good.error().message;
        std::vector<std::string> unknown;
        find_unknown_fields(crd, type, unknown);
        EXPECT_TRUE(unknown.empty()) << unknown.front();
        EXPECT_EQ(conformed(crd, type), crd);
        EXPECT_EQ(json::text_at(crd, "/metadata/name"), kind->qualified());
        EXPECT_EQ(json::text_at(crd, "/status/conditions/1/type"), "Established");
    }
    const json::Value vm = crd_of(api::kVirtualMachine, at);
    EXPECT_EQ(json::text_at(vm, "/spec/versions/1/name"), "v1alpha3");
    EXPECT_EQ(
        json::text_at(vm, "/spec/versions/1/deprecationWarning"),
        "kubevirt.io/v1alpha3 is now deprecated and will be removed in a future release; use kubevirt.io/v1"
    );
    EXPECT_EQ(json::find(crd_of(api::kVmi, at), "/spec/versions/0/subresources"), nullptr);
}

}  // namespace
}  // namespace berth::apiserver
