// cdi.kubevirt.io/v1beta1 as rules see it (docs/spec/datavolumes.md 1).
#pragma once

#include "api/core.hpp"

namespace berth::api {

struct HttpSource {
    std::string url;
    std::string secret_ref;
    std::string cert_config_map;
    std::vector<std::string> extra_headers;
    std::vector<std::string> secret_extra_headers;
    std::string checksum;
    bool insecure_skip_verify = false;
    bool operator==(const HttpSource&) const = default;
};

struct NamedSource {
    std::string ns;
    std::string name;
    bool operator==(const NamedSource&) const = default;
};

/// Exactly one member is set (admission sees to it).
struct DataVolumeSource {
    std::optional<HttpSource> http;
    json::Value blank;   ///< {} when set
    json::Value upload;  ///< {} when set
    json::Value s3;
    json::Value gcs;
    json::Value registry;
    json::Value imageio;
    json::Value vddk;
    std::optional<NamedSource> pvc;
    std::optional<NamedSource> snapshot;
    /// How many of them are set; one is right.
    [[nodiscard]] int member_count() const;
    bool operator==(const DataVolumeSource&) const = default;
};

struct SourceRef {
    std::string kind;
    std::string ns;
    std::string name;
    bool operator==(const SourceRef&) const = default;
};

struct DataVolumeSpec {
    std::optional<DataVolumeSource> source;
    std::optional<SourceRef> source_ref;
    std::optional<ClaimSpec> pvc;
    std::optional<ClaimSpec> storage;
    std::string content_type;
    std::optional<bool> preallocation;
    std::string priority_class_name;
    std::string service_account_name;
    json::Value checkpoints;
    bool final_checkpoint = false;
    bool operator==(const DataVolumeSpec&) const = default;
};

struct DataVolumeStatus {
    std::string claim_name;
    std::string phase;
    std::string progress;
    std::int64_t restart_count = 0;
    std::vector<Condition> conditions;
    bool operator==(const DataVolumeStatus&) const = default;
};

struct DataVolume {
    ObjectMeta metadata;
    DataVolumeSpec spec;
    DataVolumeStatus status;
    bool operator==(const DataVolume&) const = default;
};

struct ClaimPropertySet {
    std::vector<std::string> access_modes;
    std::string volume_mode;
    bool operator==(const ClaimPropertySet&) const = default;
};

struct StorageProfileSpec {
    std::vector<ClaimPropertySet> claim_property_sets;
    std::string clone_strategy;
    std::string data_import_cron_source_format;
    std::string snapshot_class;
    bool operator==(const StorageProfileSpec&) const = default;
};

struct StorageProfileStatus {
    std::string storage_class;
    std::string provisioner;
    std::vector<ClaimPropertySet> claim_property_sets;
    std::string clone_strategy;
    std::vector<Condition> conditions;
    bool operator==(const StorageProfileStatus&) const = default;
};

struct StorageProfile {
    ObjectMeta metadata;
    StorageProfileSpec spec;
    StorageProfileStatus status;
    bool operator==(const StorageProfile&) const = default;
};

struct FilesystemOverhead {
    std::string global;
    std::map<std::string, std::string> storage_class;
    bool operator==(const FilesystemOverhead&) const = default;
};

struct CdiConfigSpec {
    std::vector<std::string> feature_gates;
    std::optional<FilesystemOverhead> filesystem_overhead;
    std::optional<bool> preallocation;
    std::string scratch_space_storage_class;
    json::Value pod_resource_requirements;
    std::string upload_proxy_url_override;
    json::Value import_proxy;
    std::vector<std::string> insecure_registries;
    std::optional<std::int64_t> data_volume_ttl_seconds;
    json::Value tls_security_profile;
    json::Value image_pull_secrets;
    std::optional<std::int64_t> log_verbosity;
    bool operator==(const CdiConfigSpec&) const = default;
};

struct CdiConfigStatus {
    std::optional<FilesystemOverhead> filesystem_overhead;
    bool preallocation = false;
    std::string scratch_space_storage_class;
    json::Value default_pod_resource_requirements;
    bool operator==(const CdiConfigStatus&) const = default;
};

/// The singleton "config".
struct CdiConfig {
    ObjectMeta metadata;
    CdiConfigSpec spec;
    CdiConfigStatus status;
    bool operator==(const CdiConfig&) const = default;
};

}  // namespace berth::api
