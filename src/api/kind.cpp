#include "api/kind.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <ranges>

namespace berth::api {
namespace {
constexpr Scope kC = Scope::cluster;
constexpr Scope kN = Scope::namespaced;
constexpr Serving kB = Serving::built_in;
constexpr Serving kS = Serving::schema;
constexpr std::string_view kStorage = "storage.k8s.io";
constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr std::string_view kCdiGroup = "cdi.kubevirt.io";
}  // namespace

// clang-format off
//                                group, version, kind, plural, singular, short names, scope, serving, status, all, generation, other versions
constexpr Kind kNamespace        {"", "v1", "Namespace", "namespaces", "namespace", "ns", kC, kB, true, false, false, ""};
constexpr Kind kNode             {"", "v1", "Node", "nodes", "node", "no", kC, kB, true, false, false, ""};
constexpr Kind kPod              {"", "v1", "Pod", "pods", "pod", "po", kN, kB, true, true, true, ""};
constexpr Kind kClaim            {"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "persistentvolumeclaim", "pvc", kN, kB, true, false, false, ""};
constexpr Kind kVolume           {"", "v1", "PersistentVolume", "persistentvolumes", "persistentvolume", "pv", kC, kB, true, false, false, ""};
constexpr Kind kSecret           {"", "v1", "Secret", "secrets", "secret", "", kN, kB, false, false, false, ""};
constexpr Kind kConfigMap        {"", "v1", "ConfigMap", "configmaps", "configmap", "cm", kN, kB, false, false, false, ""};
constexpr Kind kEvent            {"", "v1", "Event", "events", "event", "ev", kN, kB, false, false, false, ""};
constexpr Kind kServiceAccount   {"", "v1", "ServiceAccount", "serviceaccounts", "serviceaccount", "sa", kN, kB, false, false, false, ""};
constexpr Kind kService          {"", "v1", "Service", "services", "service", "svc", kN, kB, true, true, false, ""};
constexpr Kind kEndpoints        {"", "v1", "Endpoints", "endpoints", "endpoints", "ep", kN, kB, false, false, false, ""};
constexpr Kind kResourceQuota    {"", "v1", "ResourceQuota", "resourcequotas", "resourcequota", "quota", kN, kB, true, false, false, ""};
constexpr Kind kLimitRange       {"", "v1", "LimitRange", "limitranges", "limitrange", "limits", kN, kB, false, false, false, ""};
constexpr Kind kReplicationController{"", "v1", "ReplicationController", "replicationcontrollers", "replicationcontroller", "rc", kN, kB, true, true, true, ""};
constexpr Kind kDeployment       {"apps", "v1", "Deployment", "deployments", "deployment", "deploy", kN, kB, true, true, true, ""};
constexpr Kind kReplicaSet       {"apps", "v1", "ReplicaSet", "replicasets", "replicaset", "rs", kN, kB, true, true, true, ""};
constexpr Kind kStatefulSet      {"apps", "v1", "StatefulSet", "statefulsets", "statefulset", "sts", kN, kB, true, true, true, ""};
constexpr Kind kDaemonSet        {"apps", "v1", "DaemonSet", "daemonsets", "daemonset", "ds", kN, kB, true, true, true, ""};
constexpr Kind kControllerRevision{"apps", "v1", "ControllerRevision", "controllerrevisions", "controllerrevision", "", kN, kB, false, false, false, ""};
constexpr Kind kJob              {"batch", "v1", "Job", "jobs", "job", "", kN, kB, true, true, true, ""};
constexpr Kind kCronJob          {"batch", "v1", "CronJob", "cronjobs", "cronjob", "cj", kN, kB, true, true, true, ""};
constexpr Kind kStorageClass     {kStorage, "v1", "StorageClass", "storageclasses", "storageclass", "sc", kC, kB, false, false, false, ""};
constexpr Kind kVolumeAttachment {kStorage, "v1", "VolumeAttachment", "volumeattachments", "volumeattachment", "", kC, kB, true, false, false, ""};
constexpr Kind kCsiDriver        {kStorage, "v1", "CSIDriver", "csidrivers", "csidriver", "", kC, kB, false, false, false, ""};
constexpr Kind kCsiNode          {kStorage, "v1", "CSINode", "csinodes", "csinode", "", kC, kB, false, false, false, ""};
constexpr Kind kCsiStorageCapacity{kStorage, "v1", "CSIStorageCapacity", "csistoragecapacities", "csistoragecapacity", "", kN, kB, false, false, false, ""};
constexpr Kind kLease            {"coordination.k8s.io", "v1", "Lease", "leases", "lease", "", kN, kB, false, false, false, ""};
constexpr Kind kEventsEvent      {"events.k8s.io", "v1", "Event", "events", "event", "ev", kN, kB, false, false, false, ""};
constexpr Kind kCustomResourceDefinition{"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", "customresourcedefinition", "crd crds", kC, kB, true, false, true, ""};
constexpr Kind kApiService       {"apiregistration.k8s.io", "v1", "APIService", "apiservices", "apiservice", "", kC, kB, true, false, false, ""};
constexpr Kind kRole             {kRbac, "v1", "Role", "roles", "role", "", kN, kB, false, false, false, ""};
constexpr Kind kRoleBinding      {kRbac, "v1", "RoleBinding", "rolebindings", "rolebinding", "", kN, kB, false, false, false, ""};
constexpr Kind kClusterRole      {kRbac, "v1", "ClusterRole", "clusterroles", "clusterrole", "", kC, kB, false, false, false, ""};
constexpr Kind kClusterRoleBinding{kRbac, "v1", "ClusterRoleBinding", "clusterrolebindings", "clusterrolebinding", "", kC, kB, false, false, false, ""};
constexpr Kind kPodDisruptionBudget{"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", "poddisruptionbudget", "pdb", kN, kB, true, false, true, ""};
constexpr Kind kPriorityClass    {"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", "priorityclass", "pc", kC, kB, false, false, false, ""};
constexpr Kind kVirtualMachine   {"kubevirt.io", "v1", "VirtualMachine", "virtualmachines", "virtualmachine", "vm vms", kN, kS, true, true, true, "v1alpha3"};
constexpr Kind kVmi              {"kubevirt.io", "v1", "VirtualMachineInstance", "virtualmachineinstances", "virtualmachineinstance", "vmi vmis", kN, kS, false, true, true, "v1alpha3"};
constexpr Kind kKubeVirt         {"kubevirt.io", "v1", "KubeVirt", "kubevirts", "kubevirt", "kv kvs", kN, kS, true, true, true, "v1alpha3"};
constexpr Kind kDataVolume       {kCdiGroup, "v1beta1", "DataVolume", "datavolumes", "datavolume", "dv dvs", kN, kS, true, true, true, ""};
constexpr Kind kStorageProfile   {kCdiGroup, "v1beta1", "StorageProfile", "storageprofiles", "storageprofile", "", kC, kS, true, false, true, ""};
constexpr Kind kCdi              {kCdiGroup, "v1beta1", "CDI", "cdis", "cdi", "cdi cdis", kC, kS, false, false, true, ""};
constexpr Kind kCdiConfig        {kCdiGroup, "v1beta1", "CDIConfig", "cdiconfigs", "cdiconfig", "", kC, kS, false, false, true, ""};
// clang-format on

namespace {

constexpr const Kind* kAll[] = {
    &kNamespace,
    &kNode,
    &kPod,
    &kClaim,
    &kVolume,
    &kSecret,
    &kConfigMap,
    &kEvent,
    &kServiceAccount,
    &kService,
    &kEndpoints,
    &kResourceQuota,
    &kLimitRange,
    &kReplicationController,
    &kDeployment,
    &kReplicaSet,
    &kStatefulSet,
    &kDaemonSet,
    &kControllerRevision,
    &kJob,
    &kCronJob,
    &kStorageClass,
    &kVolumeAttachment,
    &kCsiDriver,
    &kCsiNode,
    &kCsiStorageCapacity,
    &kLease,
    &kEventsEvent,
    &kCustomResourceDefinition,
    &kApiService,
    &kRole,
    &kRoleBinding,
    &kClusterRole,
    &kClusterRoleBinding,
    &kPodDisruptionBudget,
    &kPriorityClass,
    &kVirtualMachine,
    &kVmi,
    &kKubeVirt,
    &kDataVolume,
    &kStorageProfile,
    &kCdi,
    &kCdiConfig,
};

bool has_word(std::string_view list, std::string_view word) {
    return std::ranges::any_of(std::views::split(list, ' '), [&](const auto& w) {
        return std::string_view(w) == word;
    });
}

}  // namespace

std::string Kind::api_version() const {
    return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

std::string Kind::qualified() const {
    return group.empty() ? std::string(plural) : std::string(plural) + "." + std::string(group);
}

std::span<const Kind* const> kinds() { return kAll; }

const Kind* find_kind(std::string_view group, std::string_view plural) {
    const auto it = std::ranges::find_if(kAll, [&](const Kind* k) { return k->group == group && k->plural == plural; });
    return it == std::end(kAll) ? nullptr : *it;
}

const Kind* find_kind_of(std::string_view api_version, std::string_view kind) {
    const auto slash = api_version.find('/');
    const auto group = slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
    const auto version = slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
    const auto it = std::ranges::find_if(kAll, [&](const Kind* k) {
        return k->group == group && k->kind == kind && (k->version == version || has_word(k->other_versions, version));
    });
    return it == std::end(kAll) ? nullptr : *it;
}

bool Key::operator<(const Key& other) const {
    const auto rank = [](const Key& k) {
        return std::tuple(k.kind ? k.kind->plural : "", k.kind ? k.kind->group : "", k.ns, k.name);
    };
    return rank(*this) < rank(other);
}

std::string print(const Key& key) {
    std::string text(key.kind != nullptr ? key.kind->singular : "?");
    if (!key.ns.empty()) text += "/" + key.ns;
    return text + "/" + key.name;
}

Key key_of(const json::Value& document) {
    return {
        find_kind_of(json::text_at(document, "/apiVersion"), json::text_at(document, "/kind")),
        std::string(json::text_at(document, "/metadata/namespace")),
        std::string(json::text_at(document, "/metadata/name")),
    };
}

}  // namespace berth::api
