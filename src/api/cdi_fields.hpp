// Descriptions of api/cdi.hpp; for the .cpp files of this folder.
#pragma once

#include "api/core_fields.hpp"
#include "api/cdi.hpp"

namespace berth::api {

template <>
struct Describe<HttpSource> {
    using T = HttpSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"url", &T::url},
        Field{"secretRef", &T::secret_ref},
        Field{"certConfigMap", &T::cert_config_map},
        Field{"extraHeaders", &T::extra_headers},
        Field{"secretExtraHeaders", &T::secret_extra_headers},
        Field{"checksum", &T::checksum},
        Field{"insecureSkipVerify", &T::insecure_skip_verify},
    };
};

template <>
struct Describe<NamedSource> {
    using T = NamedSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"namespace", &T::ns},
        Field{"name", &T::name},
    };
};

template <>
struct Describe<DataVolumeSource> {
    using T = DataVolumeSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"http", &T::http},
        Field{"blank", &T::blank},
        Field{"upload", &T::upload},
        Field{"s3", &T::s3},
        Field{"gcs", &T::gcs},
        Field{"registry", &T::registry},
        Field{"imageio", &T::imageio},
        Field{"vddk", &T::vddk},
        Field{"pvc", &T::pvc},
        Field{"snapshot", &T::snapshot},
    };
};

template <>
struct Describe<SourceRef> {
    using T = SourceRef;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"kind", &T::kind},
        Field{"namespace", &T::ns},
        Field{"name", &T::name},
    };
};

template <>
struct Describe<DataVolumeSpec> {
    using T = DataVolumeSpec;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"source", &T::source},
        Field{"sourceRef", &T::source_ref},
        Field{"pvc", &T::pvc},
        Field{"storage", &T::storage},
        Field{"contentType", &T::content_type},
        Field{"preallocation", &T::preallocation},
        Field{"priorityClassName", &T::priority_class_name},
        Field{"serviceAccountName", &T::service_account_name},
        Field{"checkpoints", &T::checkpoints},
        Field{"finalCheckpoint", &T::final_checkpoint},
    };
};

template <>
struct Describe<DataVolumeStatus> {
    using T = DataVolumeStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"claimName", &T::claim_name},
        Field{"phase", &T::phase},
        Field{"progress", &T::progress},
        Field{"restartCount", &T::restart_count},
        Field{"conditions", &T::conditions},
    };
};

template <>
struct Describe<DataVolume> {
    using T = DataVolume;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec", &T::spec},
        Field{"status", &T::status},
    };
};

template <>
struct Describe<ClaimPropertySet> {
    using T = ClaimPropertySet;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"accessModes", &T::access_modes},
        Field{"volumeMode", &T::volume_mode},
    };
};

template <>
struct Describe<StorageProfileSpec> {
    using T = StorageProfileSpec;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"claimPropertySets", &T::claim_property_sets},
        Field{"cloneStrategy", &T::clone_strategy},
        Field{"dataImportCronSourceFormat", &T::data_import_cron_source_format},
        Field{"snapshotClass", &T::snapshot_class},
    };
};

template <>
struct Describe<StorageProfileStatus> {
    using T = StorageProfileStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"storageClass", &T::storage_class},
        Field{"provisioner", &T::provisioner},
        Field{"claimPropertySets", &T::claim_property_sets},
        Field{"cloneStrategy", &T::clone_strategy},
        Field{"conditions", &T::conditions},
    };
};

template <>
struct Describe<StorageProfile> {
    using T = StorageProfile;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec", &T::spec},
        Field{"status", &T::status},
    };
};

template <>
struct Describe<FilesystemOverhead> {
    using T = FilesystemOverhead;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"global", &T::global},
        Field{"storageClass", &T::storage_class},
    };
};

template <>
struct Describe<CdiConfigSpec> {
    using T = CdiConfigSpec;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"featureGates", &T::feature_gates},
        Field{"filesystemOverhead", &T::filesystem_overhead},
        Field{"preallocation", &T::preallocation},
        Field{"scratchSpaceStorageClass", &T::scratch_space_storage_class},
        Field{"podResourceRequirements", &T::pod_resource_requirements},
    };
};

template <>
struct Describe<CdiConfigStatus> {
    using T = CdiConfigStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"filesystemOverhead", &T::filesystem_overhead},
        Field{"preallocation", &T::preallocation},
        Field{"scratchSpaceStorageClass", &T::scratch_space_storage_class},
        Field{"defaultPodResourceRequirements", &T::default_pod_resource_requirements},
    };
};

template <>
struct Describe<CdiConfig> {
    using T = CdiConfig;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec", &T::spec},
        Field{"status", &T::status},
    };
};

}  // namespace berth::api
