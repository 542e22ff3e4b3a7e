#include <gtest/gtest.h>

#include "api/codec.hpp"
#include "datavolume/admission/validate.hpp"

namespace berth::datavolume {
namespace {

json::Value parsed(std::string_view text) {
    Result<json::Value> value = json::parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? *std::move(value) : json::Value();
}

json::Value volume(std::string_view spec) {
    json::Value out = parsed(R"({"metadata":{"name":"disk","namespace":"t","uid":"u1"}})");
    json::set(out, "/spec", parsed(spec));
    return out;
}

std::string print(const std::vector<api::Cause>& causes) {
    std::string text;
    for (const api::Cause& cause : causes)
        text += (text.empty() ? "" : "\n") + cause.reason + " " + cause.field + ": " + cause.message;
    return text;
}

const std::string kPvc = R"("pvc":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}})";
const std::string kStorage = R"("storage":{"resources":{"requests":{"storage":"1Gi"}}})";
const std::string kBlank = R"("source":{"blank":{}})";
const std::string kDigits(64, 'a');

std::string source(const std::string& text) { return "{" + kPvc + R"(,"source":)" + text + "}"; }
std::string http(const std::string& url, const std::string& more = "") {
    return source(R"({"http":{"url":")" + url + "\"" + more + "}}");
}
std::string pvc(const std::string& text) { return "{" + kBlank + R"(,"pvc":)" + text + "}"; }
std::string storage(const std::string& text) { return "{" + kBlank + R"(,"storage":)" + text + "}"; }
std::string sized(const std::string& size) {
    return R"({"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":")" + size + "\"}}}";
}
// A claim that another populator fills.
std::string external(const std::string& reference) {
    return R"({"storage":{"resources":{"requests":{"storage":"1Gi"}},)" + reference + "}}";
}

struct Row {
    const char* id;
    std::string spec;
    std::string message;  // "" = accepted
};

void expect_all(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        SCOPED_TRACE(std::string(row.id) + " " + row.spec);
        const std::string got = print(validate(volume(row.spec), nullptr));
        if (row.message.empty()) {
            EXPECT_EQ(got, "");
        } else {
            EXPECT_NE(got.find(row.message), std::string::npos) << got;
        }
    }
}

TEST(DataVolumeAdmission, D54_Claims) {
    const std::string size_at = "FieldValueInvalid spec.pvc.resources.requests.storage: ";
    expect_all({
        {"V2", "{" + kBlank + "}", "FieldValueInvalid spec.pvc: Missing Data volume PVC"},
        {"V3",
         "{" + kBlank + "," + kPvc + "," + kStorage + "}",
         "Duplicate storage definition, both target storage and target pvc defined"},
        {"V4", pvc(sized("0")), size_at + "PVC size can't be equal or less than zero"},
        {"V4", pvc(sized("-1Gi")), size_at + "PVC size can't be equal or less than zero"},
        {"V4",
         storage(sized("0")),
         "spec.storage.resources.requests.storage: Storage size can't be equal or less than zero"},
        {"V5", pvc(sized("1048575")), size_at + "PVC size should be at least 1MiB"},
        {"V5", storage(sized("1k")), "Storage size should be at least 1MiB"},
        {"V5", pvc(sized("1Mi")), ""},
        {"V5", pvc(sized("ten")), "spec.pvc.resources.requests.storage: \"ten\" is not a quantity: write a number with"
        },
        {"V6", pvc(R"({"accessModes":["ReadWriteOnce"]})"), size_at + "PVC size is missing"},
        {"V7", storage("{}"), "Storage size is missing"},
        {"V7", R"({"storage":{},"source":{"pvc":{"namespace":"a","name":"b"}}})", ""},
        {"V7", R"({"storage":{},"source":{"snapshot":{"namespace":"a","name":"b"}}})", ""},
        {"V7", R"({"storage":{},"sourceRef":{"kind":"DataSource","name":"b"}})", ""},
        {"V8",
         storage(
             R"({"storageClassName":")" + std::string(254, 'a') + R"(","resources":{"requests":{"storage":"1Gi"}}})"
         ), "FieldValueInvalid spec.storage.storageClassName: Name cannot be longer than 253 characters"},
        {"V9",
         pvc(R"({"resources":{"requests":{"storage":"1Gi"}}})"),
         "FieldValueRequired spec.pvc.accessModes: Required value: at least 1 access mode is required"},
        {"V9",
         pvc(R"({"accessModes":["ReadWriteOnce","ReadOnlyMany"],"resources":{"requests":{"storage":"1Gi"}}})"),
         "PVC multiple accessModes"},
        {"V9",
         storage(R"({"accessModes":["ReadWriteOnce","ReadOnlyMany"],"resources":{"requests":{"storage":"1Gi"}}})"),
         ""},
        {"V11",
         R"({"source":{"blank":{}},"storage":{"resources":{"requests":{"storage":"1Gi"}},)"
         R"("dataSource":{"kind":"PersistentVolumeClaim","name":"a"}}})", "External population is incompatible with Source and SourceRef"},
        {"V12",
         external(R"("dataSource":{"kind":"PersistentVolumeClaim","name":"a"},)"
                  R"("dataSourceRef":{"kind":"PersistentVolumeClaim","name":"b"})"),
         "DataSourceRef and DataSource must match"},
        {"V13",
         external(R"("dataSourceRef":{"kind":"PersistentVolumeClaim","name":"a","namespace":"b"})"),
         "Invalid value: DataSourceRef namespace not supported"},
        {"V14",
         external(R"("dataSource":{"kind":"PersistentVolumeClaim"})"),
         "spec.storage.dataSource.name: Required value"},
        {"V14", external(R"("dataSourceRef":{"name":"a"})"), "spec.storage.dataSourceRef.kind: Required value"},
        {"V14",
         external(R"("dataSourceRef":{"kind":"Other","name":"a"})"),
         "spec.storage.dataSourceRef.apiGroup: Required value"},
        {"V14", external(R"("dataSourceRef":{"kind":"PersistentVolumeClaim","name":"a"})"), ""},
        {"V36",
         R"({"contentType":"archive","source":{"http":{"url":"http://a/b"}},"pvc":{"volumeMode":"Block",)"
         R"("accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})", ""},
    });
}

TEST(DataVolumeAdmission, D54_Sources) {
    expect_all({
        {"V15", "{" + kPvc + "}",                                                                "spec: Data volume should have either Source or SourceRef, or be externally populated"
        },
        {"V15",
         "{" + kPvc + R"(,"source":{"blank":{}},"sourceRef":{"kind":"DataSource","name":"a"}})",
         "Data volume should have either Source or SourceRef, or be externally populated"                                                                                              },
        {"V16",
         "{" + kStorage + R"(,"sourceRef":{"kind":"Other","name":"a"}})",
         "spec.sourceRef.kind: Unsupported sourceRef kind Other"                                                                                                                       },
        {"V16", "{" + kStorage + R"(,"sourceRef":{"kind":"","name":"a"}})",                      "Missing sourceRef kind"                                                              },
        {"V16", "{" + kStorage + R"(,"sourceRef":{"kind":"DataSource","name":""}})",             "Missing sourceRef name"                                                              },
        {"V17", source("{}"),                                                                    "spec.source: Missing Data volume source"                                             },
        {"V17", source(R"({"blank":{},"upload":{}})"),                                           "spec.source: Multiple Data volume sources"                                           },
        {"V18",
         "{" + kPvc + "," + kBlank + R"(,"contentType":"iso"})",
         "spec.contentType: ContentType not one of: kubevirt, archive"                                                                                                                 },
        {"V18", "{" + kPvc + "," + kBlank + R"(,"contentType":"kubevirt"})",                     ""                                                                                    },
        {"V21",
         "{" + kPvc + "," + kBlank + R"(,"contentType":"archive"})",
         "SourceType cannot be blank and the contentType be archive"                                                                                                                   },
        {"V22",
         "{" + kPvc + R"(,"contentType":"archive","source":{"registry":{"url":"docker://a"}}})",
         "ContentType must be kubevirt when Source is Registry"                                                                                                                        },
        {"V23", source(R"({"registry":{}})"),                                                    "Source registry should have either URL or ImageStream"                               },
        {"V23",
         source(R"({"registry":{"url":"docker://a","imageStream":"b"}})"),
         "Source registry should have either URL or ImageStream"                                                                                                                       },
        {"V24", source(R"({"registry":{"url":"https://a"}})"),                                   "Illegal registry source URL scheme https"                                            },
        {"V24", source(R"({"registry":{"url":"oci-archive:/a"}})"),                              ""                                                                                    },
        {"V25",
         source(R"({"registry":{"url":"docker://a","pullMethod":"x"}})"),
         "ImportMethod x is neither pod, node or \"\""                                                                                                                                 },
        {"V26", source(R"({"registry":{"imageStream":"","pullMethod":"node"}})"),                "ImageStream is not valid"                                                            },
        {"V26", source(R"({"registry":{"imageStream":"a"}})"),                                   "supported only with node pull import method"                                         },
        {"V27", source(R"({"imageio":{"url":"http://a/b"}})"),                                   "source Imageio is not valid"                                                         },
        {"V27",
         source(R"({"imageio":{"url":"http://a/b","secretRef":"s","diskId":"d"}})"),
         "requires CertConfigMap or InsecureSkipVerify"                                                                                                                                },
        {"V28", source(R"({"vddk":{"url":"http://a/b","uuid":"u"}})"),                           "source VDDK is not valid"                                                            },
        {"V29", source(R"({"pvc":{"namespace":"","name":"a"}})"),                                "source PVC is not valid"                                                             },
        {"V29", source(R"({"snapshot":{"namespace":"a","name":""}})"),                           "source snapshot is not valid"                                                        },
        {"V30", source(R"({"pvc":{"namespace":"a","name":"absent"}})"),                          ""                                                                                    },
        {"9",   source(R"({"upload":{}})"),                                                      ""                                                                                    },
        {"9",   source(R"({"registry":{"url":"docker://a"}})"),                                  ""                                                                                    },
        {"9",   source(R"({"s3":{"url":"http://s3.a.amazonaws.com/b/c"}})"),                     ""                                                                                    },
        {"V19",
         source(R"({"s3":{"url":"ftp://a/b"}})"),
         "spec.source.s3.url: spec.source Invalid source URL scheme: ftp://a/b"                                                                                                        },
        {"V19", source(R"({"gcs":{"url":""}})"),                                                 "spec.source.gcs.url: spec.source source URL is empty"                                },
    });
}

TEST(DataVolumeAdmission, D54_Http) {
    const std::string at = "FieldValueInvalid spec.source.http.url: spec.source ";
    expect_all({
        {"V19", http(""), at + "source URL is empty"},
        {"V19", http("images/a"), at + "Invalid source URL: images/a"},
        {"V19", http("http://a b/c"), at + "Invalid source URL: http://a b/c"},
        {"V19", http("http://"), at + "Invalid source URL: http://"},
        {"V19", http("http://:80/a"), at + "Invalid source URL: http://:80/a"},
        {"V19", http("http://a:port/b"), at + "Invalid source URL: http://a:port/b"},
        {"V19", http("http://a/%zz"), at + "Invalid source URL: http://a/%zz"},
        {"V19", http("http://[::1/a"), at + "Invalid source URL: http://[::1/a"},
        {"V19", http("/images/a"), at + "Invalid source URL scheme: /images/a"},
        {"V19", http("file:///etc/passwd"), at + "Invalid source URL scheme: file:///etc/passwd"},
        {"V19", http("ftp://a/b"), at + "Invalid source URL scheme: ftp://a/b"},
        {"V19", http("http://a"), ""},
        {"V19", http("HTTPS://user@a.b:8443/c%20d?e=f#g"), ""},
        {"V19", http("http://[fd00::1]:8080/a"), ""},
        {"V20", http("http://a/b", R"(,"checksum":"sha256:)" + kDigits + "\""), ""},
        {"V20", http("http://a/b", R"(,"checksum":"SHA256:)" + kDigits + "\""), ""},
        {"V20",
         http("http://a/b", R"(,"checksum":"crc32:)" + kDigits + "\""),
         "spec.source.http.checksum: Invalid checksum format: crc32:"},
        {"V20",
         http("http://a/b", R"(,"checksum":"sha256:abc")"),
         "Invalid checksum format: sha256:abc: a sha256 has 64 hex digits"},
        {"V20", http("http://a/b", R"(,"checksum":"md5:zz)" + std::string(30, 'a') + "\""), "Invalid checksum format"},
        {"V20", http("http://a/b", R"(,"checksum":")" + kDigits + "\""), "Invalid checksum format"},
        {"1.2",
         http("http://a/b", R"(,"secretRef":"My_Secret")"),
         "spec.source.http.secretRef: \"My_Secret\" is not a name"},
        {"1.2", http("http://a/b", R"(,"certConfigMap":"a/b")"), "spec.source.http.certConfigMap: \"a/b\" is not a name"
        },
        {"1.2",
         http("http://a/b", R"(,"secretExtraHeaders":["ok","No"])"),
         "spec.source.http.secretExtraHeaders[1]: \"No\" is not a name"},
        {"1.2",
         http("http://a/b", R"(,"extraHeaders":["X-A: 1","nothing"])"),
         "spec.source.http.extraHeaders[1]: Invalid header \"nothing\""},
        {"1.2", http("http://a/b", R"(,"extraHeaders":["X-A: 1\r\nHost: b"])"), "spec.source.http.extraHeaders[0]"},
    });
}

TEST(DataVolumeAdmission, D54_V1_Name) {
    json::Value dv = volume("{" + kPvc + "," + kBlank + "}");
    json::set(dv, "/metadata/name", json::Value(std::string(253, 'a')));
    EXPECT_EQ(print(validate(dv, nullptr)), "");
    json::set(dv, "/metadata/name", json::Value(std::string(254, 'a')));
    EXPECT_EQ(
        print(validate(dv, nullptr)), "FieldValueInvalid metadata.name: Name cannot be longer than 253 characters"
    );
}

TEST(DataVolumeAdmission, D52_D54_Updates) {
    const std::string fixed = "FieldValueDuplicate DataVolume.Spec: Cannot update DataVolume Spec";
    const std::string vddk = R"("source":{"vddk":{"url":"https://a/b","uuid":"u","backingFile":"f","thumbprint":"t",)"
                             R"("secretRef":"s"}})";
    const std::string stages = R"(,"checkpoints":[{"previous":"","current":"c1"}],"finalCheckpoint":)";
    const struct {
        const char* id;
        std::string before, after, message;
    } rows[] = {
        {"V31", "{" + kPvc + "," + kBlank + "}",             http("http://a/b"),                           fixed},
        {"V31", pvc(sized("1Gi")),                           pvc(sized("2Gi")),                            fixed},
        {"V31", pvc(sized("1Gi")),                           pvc(sized("1024Mi")),                         ""   },
        {"V31", storage(sized("1Gi")),                       storage(sized("1073741824")),                 ""   },
        {"V31", "{" + kPvc + "," + kBlank + "}",             "{" + kPvc + "," + kBlank + stages + "true}", fixed},
        {"V32", "{" + kPvc + "," + vddk + stages + "false}", "{" + kPvc + "," + vddk + stages + "true}",   ""   },
        {"V32", "{" + kPvc + "," + vddk + stages + "false}", "{" + kPvc + "," + vddk + "}",                fixed},
        {"V33", "{}",                                        "{}",                                         ""   },
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(std::string(row.id) + " " + row.after);
        const json::Value old = volume(row.before);
        json::Value dv = volume(row.after);
        json::set(dv, "/metadata/labels", parsed(R"({"a":"b"})"));
        const std::string got = print(validate(dv, &old));
        EXPECT_EQ(got.substr(0, row.message.empty() ? got.size() : row.message.size()), row.message);
        json::set(dv, "/metadata/deletionTimestamp", json::Value("2026-01-02T00:00:00Z"));
        EXPECT_EQ(print(validate(dv, &old)), "") << "V33: on its way out";
    }
}

TEST(DataVolumeAdmission, D38_D39_D54_ClaimOfTheSameName) {
    const std::string exists = "FieldValueDuplicate metadata.name: Destination PVC t/disk already exists";
    const struct {
        const char* about;
        const char* dv_annotations;
        const char* claim;  // its metadata
        bool adopts_claims;
        std::string message;
    } rows[] = {
        {"V34 foreign",                    "{}",                                                "{}",                                                                                                                                false, exists},
        {"V34 for another name",
         "{}",                                                                                  R"({"annotations":{"cdi.kubevirt.io/storage.populatedFor":"other"}})",
         false,                                                                                                                                                                                                                             exists},
        {"V34 adoption refused",           R"({"cdi.kubevirt.io/allowClaimAdoption":"false"})", "{}",                                                                                                                                true,  exists},
        {"V34 another's half filled disk",
         R"({"cdi.kubevirt.io/allowClaimAdoption":"true"})",                                    R"({"annotations":{"cdi.kubevirt.io/storage.pod.phase":"Running"}})",
         false,                                                                                                                                                                                                                             exists},
        {"V35 populated for it",           "{}",                                                R"({"annotations":{"cdi.kubevirt.io/storage.populatedFor":"disk"}})",                                                                false, ""    },
        {"V35 adoptable",                  R"({"cdi.kubevirt.io/allowClaimAdoption":"true"})",  "{}",                                                                                                                                false, ""    },
        {"V35 adoptable by the gate",      "{}",                                                "{}",                                                                                                                                true,  ""    },
        {"V35 of an earlier DataVolume",
         "{}",                                                                                  R"({"ownerReferences":[{"apiVersion":"cdi.kubevirt.io/v1beta1","kind":"DataVolume","name":"disk","uid":"old","controller":true}]})",
         false,                                                                                                                                                                                                                             ""    },
        {"V34 of another controller",
         "{}",                                                                                  R"({"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"s","uid":"x","controller":true}]})",
         false,                                                                                                                                                                                                                             exists},
    };
    for (const auto& row : rows) {
        json::Value dv = volume("{" + kPvc + "," + kBlank + "}");
        json::set(dv, "/metadata/annotations", parsed(row.dv_annotations));
        json::Value claim = parsed("{}");
        json::set(claim, "/metadata", parsed(row.claim));
        const auto read = api::decode<api::PersistentVolumeClaim>(claim);
        ASSERT_TRUE(read.has_value()) << row.about;
        const std::string got = print(validate_beside(dv, *read, row.adopts_claims));
        EXPECT_EQ(got.substr(0, row.message.empty() ? got.size() : row.message.size()), row.message) << row.about;
    }
}

}  // namespace
}  // namespace berth::datavolume
