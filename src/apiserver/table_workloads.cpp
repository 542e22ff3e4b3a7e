// Columns of services, events, controllers and access rules.
#include "apiserver/table_cells.hpp"
#include "base/ascii.hpp"

namespace berth::apiserver {
namespace cells {
namespace {

// --- Services
// -------------------------------------------------------------------------------------------------------------

Value service_address(const Value& service, Timestamp) {
    std::vector<std::string> out;
    for (const Value& ip : list_at(service, "/spec/externalIPs"))
        out.emplace_back(ip.is_string() ? ip.get_string().c_str() : "");
    const std::string_view type = json::text_at(service, "/spec/type");
    if (type == "ExternalName") return Value(json::text_at(service, "/spec/externalName"));
    if (type != "LoadBalancer") return Value(joined(out));
    for (const Value& ingress : list_at(service, "/status/loadBalancer/ingress")) {
        const std::string_view ip = json::text_at(ingress, "/ip");
        out.emplace_back(ip.empty() ? json::text_at(ingress, "/hostname") : ip);
    }
    return Value(joined(out, "<pending>"));
}

Value service_ports(const Value& service, Timestamp) {
    std::vector<std::string> out;
    for (const Value& port : list_at(service, "/spec/ports")) {
        std::string text = std::to_string(json::integer_at(port, "/port").value_or(0));
        const auto node_port = json::integer_at(port, "/nodePort").value_or(0);
        if (node_port > 0) text += ":" + std::to_string(node_port);
        const std::string_view protocol = json::text_at(port, "/protocol");
        out.push_back(text + "/" + std::string(protocol.empty() ? "TCP" : protocol));
    }
    return Value(joined(out));
}

Value service_type(const Value& service, Timestamp) {
    const std::string_view type = json::text_at(service, "/spec/type");
    return Value(type.empty() ? std::string_view("ClusterIP") : type);
}

constexpr Column kService[] = {
    {"Type", "string", service_type},
    {"Cluster-IP", "string", text_or_none<"/spec/clusterIP">},
    {"External-IP", "string", service_address},
    {"Port(s)", "string", service_ports},
    kAge,
    {"Selector", "string", pairs<"/spec/selector">, 1},
};

Value endpoint_addresses(const Value& endpoints, Timestamp) {
    std::vector<std::string> out;
    for (const Value& subset : list_at(endpoints, "/subsets")) {
        const json::Array& ports = list_at(subset, "/ports");
        for (const Value& address : list_at(subset, "/addresses")) {
            const std::string ip(json::text_at(address, "/ip"));
            if (ports.empty()) out.push_back(ip);
            for (const Value& port : ports)
                out.push_back(ip + ":" + std::to_string(json::integer_at(port, "/port").value_or(0)));
        }
    }
    const std::size_t more = out.size() > 3 ? out.size() - 3 : 0;
    out.resize(out.size() - more);
    return Value(joined(out) + (more > 0 ? " + " + std::to_string(more) + " more..." : ""));
}

constexpr Column kEndpoints[] = {
    {"Endpoints", "string", endpoint_addresses},
    kAge
};

// --- Events: two views of one stored object, with other names for the same
// ------------------------------------------------

std::string_view either(const Value& object, std::string_view one, std::string_view other) {
    const std::string_view found = json::text_at(object, one);
    return found.empty() ? json::text_at(object, other) : found;
}

std::string first_seen_text(const Value& event, Timestamp now) {
    for (const char* pointer : {"/firstTimestamp", "/deprecatedFirstTimestamp", "/eventTime"}) {
        if (!json::text_at(event, pointer).empty()) return age_at(event, pointer, now);
    }
    return "<unknown>";
}

Value first_seen(const Value& event, Timestamp now) { return Value(first_seen_text(event, now)); }

Value last_seen(const Value& event, Timestamp now) {
    for (const char* pointer : {"/series/lastObservedTime", "/lastTimestamp", "/deprecatedLastTimestamp"}) {
        if (!json::text_at(event, pointer).empty()) return Value(age_at(event, pointer, now));
    }
    return Value(first_seen_text(event, now));
}

Value event_object(const Value& event, Timestamp) {
    const std::string kind = lower(either(event, "/involvedObject/kind", "/regarding/kind"));
    const std::string_view name = either(event, "/involvedObject/name", "/regarding/name");
    return Value(name.empty() ? kind : kind + "/" + std::string(name));
}

Value event_part(const Value& event, Timestamp) {
    return Value(either(event, "/involvedObject/fieldPath", "/regarding/fieldPath"));
}

Value event_source(const Value& event, Timestamp) {
    std::string source(either(event, "/source/component", "/deprecatedSource/component"));
    if (source.empty()) source = either(event, "/reportingComponent", "/reportingController");
    const std::string_view host = either(event, "/source/host", "/deprecatedSource/host");
    return Value(host.empty() ? source : source + ", " + std::string(host));
}

Value event_message(const Value& event, Timestamp) {
    std::string_view message = either(event, "/message", "/note");
    while (!message.empty() && std::isspace(static_cast<unsigned char>(message.back())) != 0) message.remove_suffix(1);
    return Value(message);
}

Value event_count(const Value& event, Timestamp) {
    for (const char* pointer : {"/series/count", "/count", "/deprecatedCount"}) {
        if (const auto found = json::integer_at(event, pointer); found && *found > 0) return Value(*found);
    }
    return Value(1);
}

constexpr Column kEvent[] = {
    {"Last Seen", "string", last_seen},
    {"Type", "string", text<"/type">},
    {"Reason", "string", text<"/reason">},
    {"Object", "string", event_object},
    {"Subobject", "string", event_part, 1},
    {"Source", "string", event_source, 1},
    {"Message", "string", event_message},
    {"First Seen", "string", first_seen, 1},
    {"Count", "integer", event_count, 1},
};

// --- Controllers
// ----------------------------------------------------------------------------------------------------------

Value container_names(const Value& object, Timestamp) {
    return Value(joined(texts_in(object, "/spec/template/spec/containers", "/name"), ""));
}
Value container_images(const Value& object, Timestamp) {
    return Value(joined(texts_in(object, "/spec/template/spec/containers", "/image"), ""));
}

constexpr Column kContainers{"Containers", "string", container_names, 1};
constexpr Column kImages{"Images", "string", container_images, 1};
constexpr Column kSelector{"Selector", "string", pairs<"/spec/selector/matchLabels">, 1};

constexpr Column kDeployment[] = {
    {"Ready", "string", share<"/status/readyReplicas", "/spec/replicas">},
    {"Up-to-date", "string", number<"/status/updatedReplicas">},
    {"Available", "string", number<"/status/availableReplicas">},
    kAge,
    kContainers,
    kImages,
    kSelector,
};

constexpr Column kReplicaSet[] = {
    {"Desired", "integer", number<"/spec/replicas">},
    {"Current", "integer", number<"/status/replicas">},
    {"Ready", "integer", number<"/status/readyReplicas">},
    kAge,
    kContainers,
    kImages,
    {"Selector", "string", pairs<"/spec/selector/matchLabels">, 1},
};

constexpr Column kStatefulSet[] = {
    {"Ready", "string", share<"/status/readyReplicas", "/spec/replicas">},
    kAge, kContainers, kImages
};

constexpr Column kDaemonSet[] = {
    {"Desired",       "integer", number<"/status/desiredNumberScheduled"> },
    {"Current",       "integer", number<"/status/currentNumberScheduled"> },
    {"Ready",         "integer", number<"/status/numberReady">            },
    {"Up-to-date",    "integer", number<"/status/updatedNumberScheduled"> },
    {"Available",     "integer", number<"/status/numberAvailable">        },
    {"Node Selector", "string",  pairs<"/spec/template/spec/nodeSelector">},
    kAge,
    kContainers,
    kImages,
    kSelector,
};

Value job_status(const Value& job, Timestamp) {
    for (const Value& condition : list_at(job, "/status/conditions")) {
        const std::string_view type = json::text_at(condition, "/type");
        const bool says = type == "Complete" || type == "Failed" || type == "Suspended";
        if (says && json::text_at(condition, "/status") == "True") return Value(type);
    }
    return Value(json::text_at(job, "/metadata/deletionTimestamp").empty() ? "Running" : "Terminating");
}

Value job_completions(const Value& job, Timestamp) {
    return Value(
        std::to_string(json::integer_at(job, "/status/succeeded").value_or(0)) + "/" +
        std::to_string(json::integer_at(job, "/spec/completions").value_or(1))
    );
}

Value job_duration(const Value& job, Timestamp now) {
    const auto start = from_rfc3339(json::text_at(job, "/status/startTime"));
    if (!start) return Value("");
    return Value(human_duration(from_rfc3339(json::text_at(job, "/status/completionTime")).value_or(now) - *start));
}

constexpr Column kJob[] = {
    {"Status",      "string", job_status     },
    {"Completions", "string", job_completions},
    {"Duration",    "string", job_duration   },
    kAge,
    kContainers,
    kImages,
    kSelector,
};

Value last_schedule(const Value& job, Timestamp now) {
    if (json::text_at(job, "/status/lastScheduleTime").empty()) return Value("<none>");
    return Value(age_at(job, "/status/lastScheduleTime", now));
}

constexpr Column kCronJob[] = {
    {"Schedule",      "string",  text<"/spec/schedule">        },
    {"Timezone",      "string",  text_or_none<"/spec/timeZone">},
    {"Suspend",       "boolean", flag<"/spec/suspend">         },
    {"Active",        "integer", count<"/status/active">       },
    {"Last Schedule", "string",  last_schedule                 },
    kAge,
};

Value revision_owner(const Value& revision, Timestamp) {
    for (const Value& owner : list_at(revision, "/metadata/ownerReferences")) {
        if (!json::bool_at(owner, "/controller")) continue;
        const std::string version(json::text_at(owner, "/apiVersion"));
        const std::size_t slash = version.find('/');
        const std::string group = slash == std::string::npos ? "" : "." + version.substr(0, slash);
        return Value(lower(json::text_at(owner, "/kind")) + group + "/" + std::string(json::text_at(owner, "/name")));
    }
    return Value("<none>");
}

constexpr Column kControllerRevision[] = {
    {"Controller", "string", revision_owner     },
    {"Revision",   "string", number<"/revision">},
    kAge
};

template <Pointer pointer>
Value number_or_percent(const Value& object, Timestamp) {
    const Value* found = json::find(object, pointer.view());
    if (found == nullptr || found->is_null()) return Value("N/A");
    return Value(found->is_string() ? std::string(found->get_string()) : json::print(*found));
}

constexpr Column kPodDisruptionBudget[] = {
    {"Min Available",       "string",  number_or_percent<"/spec/minAvailable">  },
    {"Max Unavailable",     "string",  number_or_percent<"/spec/maxUnavailable">},
    {"Allowed Disruptions", "integer", number<"/status/disruptionsAllowed">     },
    kAge,
};

// --- Access, quotas, registrations
// ----------------------------------------------------------------------------------------

template <Pointer kind>
Value subjects(const Value& binding, Timestamp) {
    std::vector<std::string> out;
    for (const Value& subject : list_at(binding, "/subjects")) {
        if (json::text_at(subject, "/kind") != kind.view()) continue;
        const std::string ns(json::text_at(subject, "/namespace"));
        out.push_back((ns.empty() ? "" : ns + "/") + std::string(json::text_at(subject, "/name")));
    }
    return Value(joined(out, ""));
}

Value bound_role(const Value& binding, Timestamp) {
    return Value(
        std::string(json::text_at(binding, "/roleRef/kind")) + "/" +
        std::string(json::text_at(binding, "/roleRef/name"))
    );
}

constexpr Column kRoleBinding[] = {
    {"Role", "string", bound_role},
    kAge,
    {"Users", "string", subjects<"User">, 1},
    {"Groups", "string", subjects<"Group">, 1},
    {"ServiceAccounts", "string", subjects<"ServiceAccount">, 1},
};

// "pods: 1/10, requests.cpu: 1/4", of the limits or of all the others.
Value quota_use(const Value& quota, bool of_limits) {
    std::vector<std::string> out;
    const Value* hard = json::find(quota, "/status/hard");
    if (hard != nullptr && hard->is_object()) {
        for (const auto& [key, most] : hard->get_object()) {
            const std::string name(key);
            if (name.starts_with("limits.") != of_limits || !most.is_string()) continue;
            const std::string used(json::text_at(quota, "/status/used/" + json::escape_key(name)));
            out.push_back(name + ": " + used + "/" + std::string(most.get_string()));
        }
    }
    std::ranges::sort(out);
    std::string text;
    for (const std::string& one : out) text += (text.empty() ? "" : ", ") + one;
    return Value(text);
}

constexpr Column kResourceQuota[] = {
    {"Request", "string", [](const Value& quota, Timestamp) { return quota_use(quota, false); }},
    {"Limit",   "string", [](const Value& quota, Timestamp) { return quota_use(quota, true); } },
    kAge,
};

Value api_service(const Value& service, Timestamp) {
    const std::string_view name = json::text_at(service, "/spec/service/name");
    if (name.empty()) return Value("Local");
    return Value(std::string(json::text_at(service, "/spec/service/namespace")) + "/" + std::string(name));
}

Value api_service_available(const Value& service, Timestamp) {
    for (const Value& condition : list_at(service, "/status/conditions")) {
        if (json::text_at(condition, "/type") != "Available") continue;
        const std::string status(json::text_at(condition, "/status"));
        return Value(
            status == "True" ? status : status + " (" + std::string(json::text_at(condition, "/reason")) + ")"
        );
    }
    return Value("Unknown");
}

constexpr Column kApiService[] = {
    {"Service",   "string", api_service          },
    {"Available", "string", api_service_available},
    kAge
};

struct Listed {
    std::string_view group;
    std::string_view plural;
    std::span<const Column> columns;
};

constexpr Listed kListed[] = {
    {"",                          "services",               kService            },
    {"",                          "endpoints",              kEndpoints          },
    {"",                          "events",                 kEvent              },
    {"events.k8s.io",             "events",                 kEvent              },
    {"",                          "resourcequotas",         kResourceQuota      },
    {"",                          "replicationcontrollers", kReplicaSet         },
    {"apps",                      "deployments",            kDeployment         },
    {"apps",                      "replicasets",            kReplicaSet         },
    {"apps",                      "statefulsets",           kStatefulSet        },
    {"apps",                      "daemonsets",             kDaemonSet          },
    {"apps",                      "controllerrevisions",    kControllerRevision },
    {"batch",                     "jobs",                   kJob                },
    {"batch",                     "cronjobs",               kCronJob            },
    {"policy",                    "poddisruptionbudgets",   kPodDisruptionBudget},
    {"rbac.authorization.k8s.io", "rolebindings",           kRoleBinding        },
    {"rbac.authorization.k8s.io", "clusterrolebindings",    kRoleBinding        },
    {"apiregistration.k8s.io",    "apiservices",            kApiService         },
};

}  // namespace
}  // namespace cells

std::span<const Column> workload_columns(const api::Kind& kind) {
    for (const cells::Listed& row : cells::kListed) {
        if (row.group == kind.group && row.plural == kind.plural) return row.columns;
    }
    return {};
}

}  // namespace berth::apiserver
