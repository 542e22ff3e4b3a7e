// Tables: columns, cells, the words for pods, and the metadata-only form.
#include "apiserver/table.hpp"

#include "apiserver/json_path.hpp"
#include "apiserver/pod_text.hpp"

namespace berth::apiserver {
namespace {

using std::chrono::seconds;

const Timestamp kNow = from_rfc3339("2026-01-02T03:04:05Z").value();

json::Value doc(std::string_view text) { return json::parse(text).value(); }
std::shared_ptr<const json::Value> shared(std::string_view text) {
    return std::make_shared<const json::Value>(doc(text));
}

std::string headers(const json::Value& table, std::int64_t most_priority) {
    std::string out;
    for (const json::Value& column : table.at("columnDefinitions").as_array()) {
        if (column.at("priority").as_int64() <= most_priority)
            out += (out.empty() ? "" : "|") + std::string(column.at("name").as_string());
    }
    return out;
}

std::string cells(const json::Value& table) {
    std::string out;
    for (const json::Value& cell : table.at("rows").at(0).at("cells").as_array()) {
        out += (out.empty() ? "" : "|") + (cell.is_string() ? std::string(cell.as_string()) : json::print(cell));
    }
    return out;
}

TEST(Table, A24_HeadersOfEveryKind) {
    const struct {
        const char* group;
        const char* plural;
        const char* narrow;
        const char* wide;
    } rows[] = {
        {"",
         "pods",                                         "Name|Ready|Status|Restarts|Age",
         "Name|Ready|Status|Restarts|Age|IP|Node|Nominated Node|Readiness Gates"                                                                                        },
        {"",
         "persistentvolumeclaims",                       "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age",
         "Name|Status|Volume|Capacity|Access Modes|StorageClass|VolumeAttributesClass|Age|VolumeMode"                                                                   },
        {"",
         "persistentvolumes",                            "Name|Capacity|Access Modes|Reclaim Policy|Status|Claim|StorageClass|VolumeAttributesClass|Reason|Age",
         nullptr                                                                                                                                                        },
        {"storage.k8s.io",
         "storageclasses",                               "Name|Provisioner|ReclaimPolicy|VolumeBindingMode|AllowVolumeExpansion|Age",
         nullptr                                                                                                                                                        },
        {"",
         "nodes",                                        "Name|Status|Roles|Age|Version",
         "Name|Status|Roles|Age|Version|Internal-IP|External-IP|OS-Image|Kernel-Version|Container-Runtime"                                                              },
        {"",
         "events",                                       "Last Seen|Type|Reason|Object|Message",
         "Last Seen|Type|Reason|Object|Subobject|Source|Message|First Seen|Count|Name"                                                                                  },
        {"kubevirt.io",               "virtualmachines", "Name|Age|Status|Ready",                                                                                nullptr},
        {"kubevirt.io",
         "virtualmachineinstances",                      "Name|Age|Phase|IP|NodeName|Ready",
         "Name|Age|Phase|IP|NodeName|Ready|Live-Migratable|Paused"                                                                                                      },
        {"cdi.kubevirt.io",           "datavolumes",     "Name|Phase|Progress|Restarts|Age",                                                                     nullptr},
        {"cdi.kubevirt.io",           "storageprofiles", "Name|Age",                                                                                             nullptr},
        {"rbac.authorization.k8s.io", "roles",           "Name|Created At",                                                                                      nullptr},
    };
    for (const auto& row : rows) {
        const json::Value table = make_table(
            *api::find_kind(row.group, row.plural), {}, {.resource_version = "7"}, IncludeObject::metadata, kNow
        );
        EXPECT_EQ(headers(table, 0), row.narrow);
        if (row.wide != nullptr) EXPECT_EQ(headers(table, 9), row.wide);
    }
    for (const api::Kind* kind : api::kinds()) {  // A-72: as many cells as columns, whatever the object lacks
        const json::Value table = make_row_table(*kind, doc("{}"), IncludeObject::none, kNow, Header::with_columns);
        EXPECT_EQ(table.at("rows").at(0).at("cells").as_array().size(), table.at("columnDefinitions").as_array().size())
            << kind->plural;
    }
}

TEST(Table, A24_Cells) {
    const struct {
        const char* group;
        const char* plural;
        const char* object;
        const char* wanted;
    } rows[] = {
        {"",
         "persistentvolumeclaims",        R"({"metadata":{"name":"c","creationTimestamp":"2026-01-02T03:00:05Z"},"spec":{"volumeName":"pv","storageClassName":"local","volumeMode":"Block"},
             "status":{"phase":"Bound","accessModes":["ReadWriteMany","ReadWriteOnce"],"capacity":{"storage":"1Gi"}}})",
         "c|Bound|pv|1Gi|RWO,RWX|local|<unset>|4m|Block"                                                                                                                                                                                                  },
        {"",
         "persistentvolumeclaims",        R"({"metadata":{"name":"c","deletionTimestamp":"2026-01-02T03:00:05Z"},"status":{"phase":"Pending"}})",
         "c|Terminating|||||<unset>|<unknown>|<unset>"                                                                                                                                                                                                    },
        {"",
         "persistentvolumes",             R"({"metadata":{"name":"v"},"spec":{"capacity":{"storage":"2Gi"},"accessModes":["ReadWriteOncePod"],"claimRef":{"namespace":"t","name":"c"},
             "persistentVolumeReclaimPolicy":"Delete","storageClassName":"local"},"status":{"phase":"Bound"}})",
         "v|2Gi|RWOP|Delete|Bound|t/c|local|<unset>||<unknown>|<unset>"                                                                                                                                                                                   },
        {"",
         "nodes",                         R"({"metadata":{"name":"n1","labels":{"node-role.kubernetes.io/worker":"","node-role.kubernetes.io/control-plane":""}},"spec":{"unschedulable":true},
             "status":{"conditions":[{"type":"Ready","status":"True"}],"addresses":[{"type":"InternalIP","address":"10.0.0.1"}],"nodeInfo":{"kubeletVersion":"v1"}}})",
         "n1|Ready,SchedulingDisabled|control-plane,worker|<unknown>|v1|10.0.0.1|<none>|<unknown>|<unknown>|<unknown>"                                                                                                                                    },
        {"storage.k8s.io",
         "storageclasses",                R"({"metadata":{"name":"local","annotations":{"storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"p","volumeBindingMode":"WaitForFirstConsumer"})",
         "local (default)|p|Delete|WaitForFirstConsumer|false|<unknown>"                                                                                                                                                                                  },
        {"",
         "services",                      R"({"metadata":{"name":"s"},"spec":{"clusterIP":"10.0.0.1","ports":[{"port":80},{"port":443,"nodePort":30443,"protocol":"UDP"}],"selector":{"b":"2","a":"1"}}})",
         "s|ClusterIP|10.0.0.1|<none>|80/TCP,443:30443/UDP|<unknown>|a=1,b=2"                                                                                                                                                                             },
        {"",
         "events",                        R"({"metadata":{"name":"e"},"lastTimestamp":"2026-01-02T03:04:00Z","firstTimestamp":"2026-01-02T03:03:05Z","count":3,"type":"Normal","reason":"R",
             "involvedObject":{"kind":"Pod","name":"p"},"source":{"component":"kubelet","host":"n1"},"message":"hi\n"})",
         "5s|Normal|R|pod/p||kubelet, n1|hi|60s|3|e"                                                                                                                                                                                                      },
        {"kubevirt.io",
         "virtualmachines",               R"({"metadata":{"name":"vm","creationTimestamp":"2026-01-02T03:04:00Z"},"status":{"printableStatus":"Running","conditions":[{"type":"X","status":"False"},{"type":"Ready","status":"True"}]}})",
         "vm|5s|Running|True"                                                                                                                                                                                                                             },
        {"cdi.kubevirt.io",
         "datavolumes",                   R"({"metadata":{"name":"d"},"status":{"phase":"Succeeded","progress":"100.0%","restartCount":"x"}})",
         "d|Succeeded|100.0%|null|null"                                                                                                                                                                                                                   },
        {"",                "configmaps", R"({"metadata":{"name":"c"},"data":{"a":"1"},"binaryData":{"b":"AA=="}})",                                                                                                                       "c|2|<unknown>"},
        {"apps",
         "deployments",                   R"({"metadata":{"name":"d"},"spec":{"replicas":2,"selector":{"matchLabels":{"a":"b"}}},"status":{"readyReplicas":1}})",
         "d|1/2|0|0|<unknown>|||a=b"                                                                                                                                                                                                                      },
    };
    for (const auto& row : rows) {
        const auto& kind = *api::find_kind(row.group, row.plural);
        EXPECT_EQ(
            cells(make_row_table(kind, doc(row.object), IncludeObject::metadata, kNow, Header::with_columns)),
            row.wanted
        );
    }
}

TEST(Table, PodStatusPrecedence) {
    const struct {
        const char* pod;
        const char* ready;
        const char* status;
        const char* restarts;
    } rows[] = {
        {R"({"status":{"phase":"Pending"},"spec":{"containers":[{"name":"c"}]}})",                                                                                                                                                      "0/1", "Pending",               "0"},
        {R"({"metadata":{"deletionTimestamp":"2026-01-02T03:04:05Z"},"status":{"phase":"Running"},"spec":{"containers":[{}]}})",
         "0/1",                                                                                                                                                                                                                                "Terminating",
         "0"                                                                                                                                                                                                                                                               },
        {R"({"metadata":{"deletionTimestamp":"2026-01-02T03:04:05Z"},"status":{"phase":"Running","reason":"NodeLost"},"spec":{"containers":[{}]}})",
         "0/1",                                                                                                                                                                                                                                "Unknown",
         "0"                                                                                                                                                                                                                                                               },
        {R"({"status":{"phase":"Failed","reason":"Evicted"},"spec":{"containers":[{}]}})",                                                                                                                                              "0/1", "Evicted",               "0"},
        {R"({"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"running":{}}}]},"spec":{"initContainers":[{"name":"i"},{"name":"j"}],"containers":[{}]}})",
         "0/1",                                                                                                                                                                                                                                "Init:0/2",
         "0"                                                                                                                                                                                                                                                               },
        {R"({"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","restartCount":2,"state":{"terminated":{"exitCode":3}}}]},"spec":{"initContainers":[{"name":"i"}],"containers":[{}]}})",
         "0/1",                                                                                                                                                                                                                                "Init:ExitCode:3",
         "2"                                                                                                                                                                                                                                                               },
        {R"({"status":{"phase":"Pending","initContainerStatuses":[{"name":"i","state":{"waiting":{"reason":"CrashLoopBackOff"}}}]},"spec":{"initContainers":[{"name":"i"}],"containers":[{}]}})",
         "0/1",                                                                                                                                                                                                                                "Init:CrashLoopBackOff",
         "0"                                                                                                                                                                                                                                                               },
        {R"({"status":{"phase":"Running","containerStatuses":[{"ready":true,"state":{"running":{}}},{"ready":false,"restartCount":4,
             "state":{"waiting":{"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"finishedAt":"2026-01-02T02:59:05Z"}}}]},"spec":{"containers":[{},{}]}})",
         "1/2",                                                                                                                                                                                                                                "CrashLoopBackOff",
         "4 (5m ago)"                                                                                                                                                                                                                                                      },
        {R"({"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"state":{"terminated":{"reason":"Completed"}}},{"ready":true,"state":{"running":{}}}]},"spec":{"containers":[{},{}]}})",
         "1/2",                                                                                                                                                                                                                                "Running",
         "0"                                                                                                                                                                                                                                                               },
        {R"({"status":{"phase":"Running","containerStatuses":[{"state":{"terminated":{"reason":"Completed"}}},{"ready":true,"state":{"running":{}}}]},"spec":{"containers":[{},{}]}})",
         "1/2",                                                                                                                                                                                                                                "NotReady",
         "0"                                                                                                                                                                                                                                                               },
        {R"({"status":{"phase":"Failed","containerStatuses":[{"state":{"terminated":{"signal":9}}}]},"spec":{"containers":[{}]}})",
         "0/1",                                                                                                                                                                                                                                "Signal:9",
         "0"                                                                                                                                                                                                                                                               },
        {R"({"status":{"phase":"Running","initContainerStatuses":[{"name":"s","started":true,"ready":true,"restartCount":1,"state":{"running":{}}}],"containerStatuses":[{"ready":true,"state":{"running":{}}}]},
             "spec":{"initContainers":[{"name":"s","restartPolicy":"Always"}],"containers":[{}]}})",
         "2/2",                                                                                                                                                                                                                                "Running",
         "1"                                                                                                                                                                                                                                                               },
    };
    for (const auto& row : rows) {
        const PodText got = pod_text(doc(row.pod), kNow);
        EXPECT_EQ(
            got.ready + " " + got.status + " " + got.restarts,
            std::string(row.ready) + " " + row.status + " " + row.restarts
        ) << row.pod;
    }
}

TEST(Table, A72_FormsOfAList) {
    const std::vector items{
        shared(R"({"kind":"ConfigMap","metadata":{"name":"a","namespace":"t","labels":{"x":"y"}},"data":{"k":"v"}})")
    };
    const ListMeta meta{.resource_version = "12", .continue_token = "next", .remaining_count = 3};
    const api::Kind& kind = api::kConfigMap;
    const json::Value table = make_table(kind, items, meta, IncludeObject::metadata, kNow);
    EXPECT_EQ(json::text_at(table, "/kind"), "Table");
    EXPECT_EQ(json::text_at(table, "/apiVersion"), "meta.k8s.io/v1");
    EXPECT_EQ(
        json::print(table.at("metadata")), R"({"resourceVersion":"12","continue":"next","remainingItemCount":3})"
    );
    EXPECT_EQ(json::text_at(table, "/columnDefinitions/0/format"), "name");
    EXPECT_EQ(
        json::print(table.at("rows").at(0).at("object")),
        R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","namespace":"t","labels":{"x":"y"}}})"
    );
    EXPECT_EQ(make_table(kind, items, meta, IncludeObject::object, kNow).at("rows").at(0).at("object"), *items[0]);
    EXPECT_TRUE(make_table(kind, items, meta, IncludeObject::none, kNow).at("rows").at(0).at("object").is_null());
    const json::Value partial = partial_metadata_list(items, meta);
    EXPECT_EQ(json::text_at(partial, "/kind"), "PartialObjectMetadataList");
    EXPECT_EQ(json::text_at(partial, "/items/0/metadata/name"), "a");
    const json::Value event = make_row_table(kind, *items[0], IncludeObject::metadata, kNow, Header::without_columns);
    EXPECT_TRUE(event.at("columnDefinitions").as_array().empty());
}

TEST(JsonPath, Rows) {
    const json::Value v = doc(R"({"a":{"b":[{"t":"x","v":1},{"t":"y","v":2},{"w":3}],"k.e":"dot"},"n":null})");
    const struct {
        const char* path;
        const char* wanted;
    } rows[] = {
        {".a.b[0].v",           "1"      },
        {".a.b[1].v",           "2"      },
        {".a.b[*].w",           "3"      },
        {".a['k.e']",           "\"dot\""},
        {".a.k\\.e",            "\"dot\""},
        {".a.b[?(@.t=='y')].v", "2"      },
        {".a.b[?(@.v==1)].t",   "\"x\""  },
        {"{.a.b[-1].w}",        "3"      },
        {".n",                  "null"   },
    };
    for (const auto& row : rows) {
        const json::Value* found = first_at(v, row.path);
        ASSERT_NE(found, nullptr) << row.path;
        EXPECT_EQ(json::print(*found), row.wanted) << row.path;
    }
    for (const char* bad :
         {".a.c", ".a.b[7]", ".a.b[x]", "a", ".a.b[", ".a.b[?(@.t=='z')]", ".n.x", ".a[*]", ".a.b[?x]"}) {
        EXPECT_EQ(first_at(v, bad), nullptr) << bad;
    }
}

}  // namespace
}  // namespace berth::apiserver
