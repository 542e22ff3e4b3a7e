// The built-in kinds as rules see them: only the fields a decision looks at. Whole documents are kept elsewhere.
// Source: https://kubernetes.io/docs/reference/kubernetes-api/
#pragma once

#include "api/meta.hpp"

namespace berth::api {

// --- Pod -------------------------------------------------------------------------------------------------------------

struct ResourceRequirements {
    std::map<std::string, Quantity> requests;
    std::map<std::string, Quantity> limits;
    json::Value claims;
    bool operator==(const ResourceRequirements&) const = default;
};

struct VolumeMount {
    std::string name;
    std::string mount_path;
    std::string sub_path;
    std::string mount_propagation;  ///< None, HostToContainer, Bidirectional
    bool read_only = false;
    bool operator==(const VolumeMount&) const = default;
};

struct VolumeDevice {
    std::string name;
    std::string device_path;
    bool operator==(const VolumeDevice&) const = default;
};

struct ContainerPort {
    std::string name;
    std::int64_t container_port = 0;
    std::int64_t host_port = 0;
    std::string host_ip;
    std::string protocol;
    bool operator==(const ContainerPort&) const = default;
};

struct EnvVar {
    std::string name;
    std::string value;
    json::Value value_from;
    bool operator==(const EnvVar&) const = default;
};

struct Container {
    std::string name;
    std::string image;
    std::string image_pull_policy;
    std::vector<std::string> command;
    std::vector<std::string> args;
    std::string working_dir;
    std::vector<EnvVar> env;
    std::vector<ContainerPort> ports;
    ResourceRequirements resources;
    std::vector<VolumeMount> volume_mounts;
    std::vector<VolumeDevice> volume_devices;
    std::string restart_policy;  ///< "Always" on an init container: a native sidecar
    std::string termination_message_path;
    std::string termination_message_policy;
    json::Value security_context;
    json::Value readiness_probe;
    json::Value liveness_probe;
    json::Value startup_probe;
    bool operator==(const Container&) const = default;
};

struct ClaimVolumeSource {
    std::string claim_name;
    bool read_only = false;
    bool operator==(const ClaimVolumeSource&) const = default;
};

struct HostPathSource {
    std::string path;
    std::string type;
    bool operator==(const HostPathSource&) const = default;
};

struct KeyToPath {
    std::string key;
    std::string path;
    std::optional<std::int64_t> mode;
    bool operator==(const KeyToPath&) const = default;
};

struct ConfigMapVolumeSource {
    std::string name;
    std::vector<KeyToPath> items;
    std::optional<std::int64_t> default_mode;
    bool optional = false;
    bool operator==(const ConfigMapVolumeSource&) const = default;
};

struct SecretVolumeSource {
    std::string secret_name;
    std::vector<KeyToPath> items;
    std::optional<std::int64_t> default_mode;
    bool optional = false;
    bool operator==(const SecretVolumeSource&) const = default;
};

struct EmptyDirSource {
    std::string medium;
    Quantity size_limit;
    bool operator==(const EmptyDirSource&) const = default;
};

struct PodVolume {
    std::string name;
    std::optional<ClaimVolumeSource> persistent_volume_claim;
    std::optional<EmptyDirSource> empty_dir;
    std::optional<HostPathSource> host_path;
    std::optional<ConfigMapVolumeSource> config_map;
    std::optional<SecretVolumeSource> secret;
    json::Value downward_api;
    json::Value projected;
    bool operator==(const PodVolume&) const = default;
};

struct Toleration {
    std::string key;
    std::string op;  ///< Equal (default) or Exists
    std::string value;
    std::string effect;
    std::optional<std::int64_t> toleration_seconds;
    bool operator==(const Toleration&) const = default;
};

struct NodeSelectorTerm {
    std::vector<SelectorRequirement> match_expressions;
    std::vector<SelectorRequirement> match_fields;
    bool operator==(const NodeSelectorTerm&) const = default;
};

struct NodeSelector {
    std::vector<NodeSelectorTerm> node_selector_terms;  ///< ORed
    bool operator==(const NodeSelector&) const = default;
};

struct PreferredNodeTerm {
    std::int64_t weight = 0;
    NodeSelectorTerm preference;
    bool operator==(const PreferredNodeTerm&) const = default;
};

struct NodeAffinity {
    std::optional<NodeSelector> required;
    std::vector<PreferredNodeTerm> preferred;
    bool operator==(const NodeAffinity&) const = default;
};

struct PodAffinityTerm {
    std::optional<LabelSelector> label_selector;  ///< absent: matches no pod
    std::vector<std::string> namespaces;
    std::optional<LabelSelector> namespace_selector;
    std::string topology_key;
    std::vector<std::string> match_label_keys;
    std::vector<std::string> mismatch_label_keys;
    bool operator==(const PodAffinityTerm&) const = default;
};

struct WeightedPodAffinityTerm {
    std::int64_t weight = 0;
    PodAffinityTerm pod_affinity_term;
    bool operator==(const WeightedPodAffinityTerm&) const = default;
};

struct PodAffinity {
    std::vector<PodAffinityTerm> required;
    std::vector<WeightedPodAffinityTerm> preferred;
    bool operator==(const PodAffinity&) const = default;
};

struct Affinity {
    std::optional<NodeAffinity> node_affinity;
    std::optional<PodAffinity> pod_affinity;
    std::optional<PodAffinity> pod_anti_affinity;
    bool operator==(const Affinity&) const = default;
};

struct TopologySpreadConstraint {
    std::int64_t max_skew = 1;
    std::string topology_key;
    std::string when_unsatisfiable;
    std::optional<LabelSelector> label_selector;
    std::optional<std::int64_t> min_domains;
    std::string node_affinity_policy;
    std::string node_taints_policy;
    std::vector<std::string> match_label_keys;
    bool operator==(const TopologySpreadConstraint&) const = default;
};

struct PodSpec {
    std::string node_name;
    std::string scheduler_name;
    std::map<std::string, std::string> node_selector;
    std::optional<Affinity> affinity;
    std::vector<Toleration> tolerations;
    std::vector<TopologySpreadConstraint> topology_spread_constraints;
    std::string priority_class_name;
    std::optional<std::int64_t> priority;
    std::vector<Container> containers;
    std::vector<Container> init_containers;
    std::vector<PodVolume> volumes;
    std::string restart_policy;
    std::optional<std::int64_t> termination_grace_period_seconds;
    std::optional<std::int64_t> active_deadline_seconds;
    std::string hostname;
    std::string subdomain;
    std::string service_account_name;
    std::string runtime_class_name;
    bool host_network = false;
    std::optional<bool> automount_service_account_token;
    std::optional<bool> enable_service_links;
    std::string dns_policy;
    json::Value dns_config;
    json::Value security_context;
    json::Value readiness_gates;
    json::Value image_pull_secrets;
    json::Value scheduling_gates;
    json::Value resource_claims;
    bool operator==(const PodSpec&) const = default;
};

struct ContainerState {
    std::string waiting_reason;  ///< set while waiting
    std::string waiting_message;
    std::optional<Timestamp> running_since;
    std::optional<std::int64_t> exit_code;  ///< set when terminated
    std::string terminated_reason;
    std::string terminated_message;
    std::optional<Timestamp> started_at;
    std::optional<Timestamp> finished_at;
    bool operator==(const ContainerState&) const = default;
};

struct ContainerStatus {
    std::string name;
    std::string image;
    std::string image_id;
    std::string container_id;
    bool ready = false;
    std::optional<bool> started;
    std::int64_t restart_count = 0;
    json::Value state;  ///< read with container_state()
    json::Value last_state;
    bool operator==(const ContainerStatus&) const = default;
};

/// The typed form of a status' `state` or `lastState`.
ContainerState container_state(const json::Value& state);
json::Value to_json(const ContainerState& state);

struct PodStatus {
    std::string phase;
    std::string reason;
    std::string message;
    std::string host_ip;
    std::string pod_ip;
    std::string qos_class;
    std::string nominated_node_name;
    std::optional<Timestamp> start_time;
    std::vector<Condition> conditions;
    std::vector<ContainerStatus> container_statuses;
    std::vector<ContainerStatus> init_container_statuses;
    bool operator==(const PodStatus&) const = default;
};

struct Pod {
    ObjectMeta metadata;
    PodSpec spec;
    PodStatus status;
    bool operator==(const Pod&) const = default;
    [[nodiscard]] bool is_terminal() const { return status.phase == "Succeeded" || status.phase == "Failed"; }
};

// --- Storage
// -----------------------------------------------------------------------------------------------------------

struct TypedReference {
    std::string api_group;
    std::string kind;
    std::string name;
    std::string ns;
    bool operator==(const TypedReference&) const = default;
};

struct ClaimSpec {
    std::vector<std::string> access_modes;
    std::string volume_mode;  ///< "" = Filesystem
    std::optional<std::string> storage_class_name;
    std::string volume_name;
    ResourceRequirements resources;
    std::optional<LabelSelector> selector;
    std::optional<TypedReference> data_source;
    std::optional<TypedReference> data_source_ref;
    std::string volume_attributes_class_name;
    bool operator==(const ClaimSpec&) const = default;
    [[nodiscard]] Bytes request() const;
    [[nodiscard]] bool is_block() const { return volume_mode == "Block"; }
};

struct ClaimStatus {
    std::string phase;  ///< Pending, Bound, Lost
    std::vector<std::string> access_modes;
    std::map<std::string, Quantity> capacity;
    std::vector<Condition> conditions;
    bool operator==(const ClaimStatus&) const = default;
};

struct PersistentVolumeClaim {
    ObjectMeta metadata;
    ClaimSpec spec;
    ClaimStatus status;
    bool operator==(const PersistentVolumeClaim&) const = default;
};

struct ObjectReference {
    std::string api_version;
    std::string kind;
    std::string ns;
    std::string name;
    Uid uid;
    std::string resource_version;
    std::string field_path;
    bool operator==(const ObjectReference&) const = default;
};

struct LocalVolumeSource {
    std::string path;
    std::string fs_type;
    bool operator==(const LocalVolumeSource&) const = default;
};

struct VolumeNodeAffinity {
    std::optional<NodeSelector> required;
    bool operator==(const VolumeNodeAffinity&) const = default;
};

struct VolumeSpec {
    std::map<std::string, Quantity> capacity;
    std::vector<std::string> access_modes;
    std::string volume_mode;
    std::string storage_class_name;
    std::string reclaim_policy;
    std::optional<ObjectReference> claim_ref;
    std::optional<LocalVolumeSource> local;
    std::optional<HostPathSource> host_path;
    json::Value csi;
    std::optional<VolumeNodeAffinity> node_affinity;
    std::vector<std::string> mount_options;
    std::string volume_attributes_class_name;
    bool operator==(const VolumeSpec&) const = default;
};

struct VolumeStatus {
    std::string phase;  ///< Pending, Available, Bound, Released, Failed
    std::string reason;
    std::string message;
    bool operator==(const VolumeStatus&) const = default;
};

struct PersistentVolume {
    ObjectMeta metadata;
    VolumeSpec spec;
    VolumeStatus status;
    bool operator==(const PersistentVolume&) const = default;
};

struct TopologyTerm {
    std::vector<SelectorRequirement> match_label_expressions;  ///< op is empty: In
    bool operator==(const TopologyTerm&) const = default;
};

struct StorageClass {
    ObjectMeta metadata;
    std::string provisioner;
    std::map<std::string, std::string> parameters;
    std::string reclaim_policy;
    std::string volume_binding_mode;  ///< "" = Immediate
    bool allow_volume_expansion = false;
    std::vector<std::string> mount_options;
    std::vector<TopologyTerm> allowed_topologies;
    bool operator==(const StorageClass&) const = default;
    [[nodiscard]] bool waits_for_consumer() const { return volume_binding_mode == "WaitForFirstConsumer"; }
};

struct CsiDriver {
    ObjectMeta metadata;
    json::Value spec;
    bool operator==(const CsiDriver&) const = default;
};

struct CsiStorageCapacity {
    ObjectMeta metadata;
    std::string storage_class_name;
    Quantity capacity;
    Quantity maximum_volume_size;
    std::optional<LabelSelector> node_topology;
    bool operator==(const CsiStorageCapacity&) const = default;
};

// --- Node and the rest
// ---------------------------------------------------------------------------------------------------

struct Taint {
    std::string key;
    std::string value;
    std::string effect;
    bool operator==(const Taint&) const = default;
};

struct NodeSpec {
    bool unschedulable = false;
    std::vector<Taint> taints;
    bool operator==(const NodeSpec&) const = default;
};

struct NodeStatus {
    std::map<std::string, Quantity> capacity;
    std::map<std::string, Quantity> allocatable;
    std::vector<Condition> conditions;
    json::Value addresses;
    json::Value node_info;
    bool operator==(const NodeStatus&) const = default;
};

struct Node {
    ObjectMeta metadata;
    NodeSpec spec;
    NodeStatus status;
    bool operator==(const Node&) const = default;
};

struct Namespace {
    ObjectMeta metadata;
    json::Value spec;
    json::Value status;
    bool operator==(const Namespace&) const = default;
};

struct ConfigMap {
    ObjectMeta metadata;
    std::map<std::string, std::string> data;
    std::map<std::string, std::string> binary_data;  ///< base64
    bool operator==(const ConfigMap&) const = default;
};

struct Secret {
    ObjectMeta metadata;
    std::string type;
    std::map<std::string, std::string> data;  ///< base64
    bool operator==(const Secret&) const = default;
};

struct PriorityClass {
    ObjectMeta metadata;
    std::int64_t value = 0;
    bool global_default = false;
    bool operator==(const PriorityClass&) const = default;
};

}  // namespace berth::api
