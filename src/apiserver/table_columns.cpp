#include "apiserver/table_columns.hpp"

#include "apiserver/pod_text.hpp"
#include "apiserver/table_cells.hpp"

namespace berth::apiserver {
namespace cells {
namespace {

// --- Nodes and pods
// -------------------------------------------------------------------------------------------------------

Value node_status(const Value& node, Timestamp) {
    std::string status = "Unknown";
    for (const Value& condition : list_at(node, "/status/conditions")) {
        if (json::text_at(condition, "/type") == "Ready")
            status = json::text_at(condition, "/status") == "True" ? "Ready" : "NotReady";
    }
    if (json::bool_at(node, "/spec/unschedulable")) status += ",SchedulingDisabled";
    return Value(status);
}

Value node_roles(const Value& node, Timestamp) {
    constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
    std::vector<std::string> roles;
    const Value* labels = json::find(node, "/metadata/labels");
    if (labels != nullptr && labels->is_object()) {
        for (const auto& [key, value] : labels->get_object()) {
            const std::string_view name = key;
            if (name.starts_with(kPrefix) && name.size() > kPrefix.size())
                roles.emplace_back(name.substr(kPrefix.size()));
            if (name == "kubernetes.io/role" && value.is_string()) roles.emplace_back(value.get_string());
        }
    }
    std::ranges::sort(roles);
    return Value(joined(roles));
}

template <Pointer type>
Value node_address(const Value& node, Timestamp) {
    for (const Value& address : list_at(node, "/status/addresses")) {
        if (json::text_at(address, "/type") == type.view()) return Value(json::text_at(address, "/address"));
    }
    return Value("<none>");
}

template <Pointer pointer>
Value text_or_unknown(const Value& object, Timestamp) {
    const std::string_view found = json::text_at(object, pointer.view());
    return Value(found.empty() ? std::string_view("<unknown>") : found);
}

constexpr Column kNode[] = {
    {"Status", "string", node_status},
    {"Roles", "string", node_roles},
    kAge,
    {"Version", "string", text<"/status/nodeInfo/kubeletVersion">},
    {"Internal-IP", "string", node_address<"InternalIP">, 1},
    {"External-IP", "string", node_address<"ExternalIP">, 1},
    {"OS-Image", "string", text_or_unknown<"/status/nodeInfo/osImage">, 1},
    {"Kernel-Version", "string", text_or_unknown<"/status/nodeInfo/kernelVersion">, 1},
    {"Container-Runtime", "string", text_or_unknown<"/status/nodeInfo/containerRuntimeVersion">, 1},
};

Value pod_ip(const Value& pod, Timestamp) {
    std::string_view ip = json::text_at(pod, "/status/podIPs/0/ip");
    if (ip.empty()) ip = json::text_at(pod, "/status/podIP");
    return Value(ip.empty() ? std::string_view("<none>") : ip);
}

Value readiness_gates(const Value& pod, Timestamp) {
    const json::Array& gates = list_at(pod, "/spec/readinessGates");
    if (gates.empty()) return Value("<none>");
    std::size_t open = 0;
    for (const Value& gate : gates) {
        for (const Value& condition : list_at(pod, "/status/conditions")) {
            const bool is_its = json::text_at(condition, "/type") == json::text_at(gate, "/conditionType");
            if (is_its && json::text_at(condition, "/status") == "True") ++open;
        }
    }
    return Value(std::to_string(open) + "/" + std::to_string(gates.size()));
}

constexpr Column kPod[] = {
    {"Ready",           "string", [](const Value& pod,                       Timestamp now) { return Value(pod_text(pod, now).ready); }   },
    {"Status",          "string", [](const Value& pod,                       Timestamp now) { return Value(pod_text(pod, now).status); }  },
    {"Restarts",        "string", [](const Value& pod,                       Timestamp now) { return Value(pod_text(pod, now).restarts); }},
    kAge,
    {"IP",              "string", pod_ip,                                    1                                                            },
    {"Node",            "string", text_or_none<"/spec/nodeName">,            1                                                            },
    {"Nominated Node",  "string", text_or_none<"/status/nominatedNodeName">, 1                                                            },
    {"Readiness Gates", "string", readiness_gates,                           1                                                            },
};

// --- Storage
// --------------------------------------------------------------------------------------------------------------

template <Pointer pointer>
Value phase_or_terminating(const Value& object, Timestamp) {
    if (!json::text_at(object, "/metadata/deletionTimestamp").empty()) return Value("Terminating");
    return Value(json::text_at(object, pointer.view()));
}

std::string access_modes_at(const Value& object, std::string_view pointer) {
    constexpr struct {
        std::string_view mode, letters;
    } kLetters[] = {
        {"ReadWriteOnce",    "RWO" },
        {"ReadOnlyMany",     "ROX" },
        {"ReadWriteMany",    "RWX" },
        {"ReadWriteOncePod", "RWOP"}
    };
    std::string out;
    for (const auto& row : kLetters) {
        const bool has = std::ranges::any_of(list_at(object, pointer), [&](const Value& mode) {
            return mode.is_string() && std::string_view(mode.get_string()) == row.mode;
        });
        if (has) out += (out.empty() ? "" : ",") + std::string(row.letters);
    }
    return out;
}

bool is_bound(const Value& claim) { return !json::text_at(claim, "/spec/volumeName").empty(); }

Value claim_capacity(const Value& claim, Timestamp) {
    return Value(is_bound(claim) ? json::text_at(claim, "/status/capacity/storage") : std::string_view());
}
Value claim_modes(const Value& claim, Timestamp) {
    return Value(is_bound(claim) ? access_modes_at(claim, "/status/accessModes") : std::string());
}
Value volume_claim(const Value& volume, Timestamp) {
    const std::string_view name = json::text_at(volume, "/spec/claimRef/name");
    if (name.empty()) return Value("");
    return Value(std::string(json::text_at(volume, "/spec/claimRef/namespace")) + "/" + std::string(name));
}
Value volume_modes(const Value& volume, Timestamp) { return Value(access_modes_at(volume, "/spec/accessModes")); }

constexpr Column kClaim[] = {
    {"Status", "string", phase_or_terminating<"/status/phase">},
    {"Volume", "string", text<"/spec/volumeName">},
    {"Capacity", "string", claim_capacity},
    {"Access Modes", "string", claim_modes},
    {"StorageClass", "string", text<"/spec/storageClassName">},
    {"VolumeAttributesClass", "string", text_or_unset<"/spec/volumeAttributesClassName">},
    kAge,
    {"VolumeMode", "string", text_or_unset<"/spec/volumeMode">, 1},
};

constexpr Column kVolume[] = {
    {"Capacity", "string", text<"/spec/capacity/storage">},
    {"Access Modes", "string", volume_modes},
    {"Reclaim Policy", "string", text<"/spec/persistentVolumeReclaimPolicy">},
    {"Status", "string", phase_or_terminating<"/status/phase">},
    {"Claim", "string", volume_claim},
    {"StorageClass", "string", text<"/spec/storageClassName">},
    {"VolumeAttributesClass", "string", text_or_unset<"/spec/volumeAttributesClassName">},
    {"Reason", "string", text<"/status/reason">},
    kAge,
    {"VolumeMode", "string", text_or_unset<"/spec/volumeMode">, 1},
};

template <Pointer pointer, Pointer otherwise>
Value text_or(const Value& object, Timestamp) {
    const std::string_view found = json::text_at(object, pointer.view());
    return Value(found.empty() ? otherwise.view() : found);
}

constexpr Column kStorageClass[] = {
    {"Provisioner", "string", text<"/provisioner">},
    {"ReclaimPolicy", "string", text_or<"/reclaimPolicy", "Delete">},
    {"VolumeBindingMode", "string", text_or<"/volumeBindingMode", "Immediate">},
    {"AllowVolumeExpansion", "string", flag<"/allowVolumeExpansion">},
    kAge,
};

Value csi_modes(const Value& driver, Timestamp) {
    std::vector<std::string> modes;
    for (const Value& mode : list_at(driver, "/spec/volumeLifecycleModes")) {
        if (mode.is_string()) modes.emplace_back(mode.get_string());
    }
    return Value(joined(modes));
}
Value csi_token_audiences(const Value& driver, Timestamp) {
    return Value(joined(texts_in(driver, "/spec/tokenRequests", "/audience"), "<unset>"));
}
Value csi_attach_required(const Value& driver, Timestamp) {
    return Value(json::bool_at(driver, "/spec/attachRequired", true));
}

constexpr Column kCsiDriver[] = {
    {"AttachRequired",    "boolean", csi_attach_required            },
    {"PodInfoOnMount",    "boolean", flag<"/spec/podInfoOnMount">   },
    {"StorageCapacity",   "boolean", flag<"/spec/storageCapacity">  },
    {"TokenRequests",     "string",  csi_token_audiences            },
    {"RequiresRepublish", "boolean", flag<"/spec/requiresRepublish">},
    {"Modes",             "string",  csi_modes                      },
    kAge,
};

constexpr Column kCsiNode[] = {
    {"Drivers", "integer", count<"/spec/drivers">},
    kAge
};

constexpr Column kVolumeAttachment[] = {
    {"Attacher", "string",  text<"/spec/attacher">                   },
    {"PV",       "string",  text<"/spec/source/persistentVolumeName">},
    {"Node",     "string",  text<"/spec/nodeName">                   },
    {"Attached", "boolean", flag<"/status/attached">                 },
    kAge,
};

// --- Everything else in the core group
// ------------------------------------------------------------------------------------

Value secret_size(const Value& secret, Timestamp) { return Value(static_cast<std::int64_t>(size_at(secret, "/data"))); }
Value map_size(const Value& map, Timestamp) {
    return Value(static_cast<std::int64_t>(size_at(map, "/data") + size_at(map, "/binaryData")));
}

constexpr Column kNamespace[] = {
    {"Status", "string", text<"/status/phase">},
    kAge
};
constexpr Column kSecret[] = {
    {"Type", "string", text<"/type">},
    {"Data", "string", secret_size  },
    kAge
};
constexpr Column kConfigMap[] = {
    {"Data", "string", map_size},
    kAge
};
constexpr Column kServiceAccount[] = {
    {"Secrets", "string", count<"/secrets">},
    kAge
};
constexpr Column kCreated[] = {kCreatedAt};
constexpr Column kLease[] = {
    {"Holder", "string", text<"/spec/holderIdentity">},
    kAge
};
constexpr Column kPriorityClass[] = {
    {"Value", "integer", number<"/value">},
    {"Global-Default", "boolean", flag<"/globalDefault">},
    kAge,
    {"PreemptionPolicy", "string", text_or<"/preemptionPolicy", "PreemptLowerPriority">},
};

struct Listed {
    std::string_view group;
    std::string_view plural;
    std::span<const Column> columns;
};

constexpr Listed kListed[] = {
    {"",                          "namespaces",                kNamespace       },
    {"",                          "nodes",                     kNode            },
    {"",                          "pods",                      kPod             },
    {"",                          "persistentvolumeclaims",    kClaim           },
    {"",                          "persistentvolumes",         kVolume          },
    {"",                          "secrets",                   kSecret          },
    {"",                          "configmaps",                kConfigMap       },
    {"",                          "serviceaccounts",           kServiceAccount  },
    {"",                          "limitranges",               kCreated         },
    {"storage.k8s.io",            "storageclasses",            kStorageClass    },
    {"storage.k8s.io",            "csidrivers",                kCsiDriver       },
    {"storage.k8s.io",            "csinodes",                  kCsiNode         },
    {"storage.k8s.io",            "volumeattachments",         kVolumeAttachment},
    {"coordination.k8s.io",       "leases",                    kLease           },
    {"scheduling.k8s.io",         "priorityclasses",           kPriorityClass   },
    {"apiextensions.k8s.io",      "customresourcedefinitions", kCreated         },
    {"rbac.authorization.k8s.io", "roles",                     kCreated         },
    {"rbac.authorization.k8s.io", "clusterroles",              kCreated         },
};

}  // namespace
}  // namespace cells

std::span<const Column> workload_columns(const api::Kind& kind);  // table_workloads.cpp

std::span<const Column> built_in_columns(const api::Kind& kind) {
    for (const cells::Listed& row : cells::kListed) {
        if (row.group == kind.group && row.plural == kind.plural) return row.columns;
    }
    return workload_columns(kind);
}

bool shows_name_first(const api::Kind& kind) { return kind.plural != "events"; }

std::string age_at(const json::Value& object, std::string_view pointer, Timestamp now) {
    const std::string_view written = json::text_at(object, pointer);
    if (written.empty()) return "<unknown>";
    const auto at = from_rfc3339(written);
    return at ? human_duration(now - *at) : "<invalid>";
}

}  // namespace berth::apiserver
