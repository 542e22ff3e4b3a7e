// Descriptions of api/cdi.hpp; for the .cpp files of this folder.
#pragma once

#include "api/cdi.hpp"
#include "api/core_fields.hpp"

namespace berth::api {

template <>
struct Describe<HttpSource> {
    using T = HttpSource;
    static constexpr auto fields = std::tuple{
        Field{"url",                &T::url,                  "Where the data is."                                       }
        .require(),
        Field{"secretRef",          &T::secret_ref,           "Secret with accessKeyId and secretKey: user and password."},
        Field{"certConfigMap",      &T::cert_config_map,      "ConfigMap with certificates to trust."                    },
        Field{"extraHeaders",       &T::extra_headers,        "Headers sent with each request."                          },
        Field{"secretExtraHeaders", &T::secret_extra_headers, "Secrets with more headers."                               },
        Field{"checksum",           &T::checksum,             "Checksum the data must have, such as sha256:…"            },
        Field{"insecureSkipVerify", &T::insecure_skip_verify, "Trusts any certificate."                                  },
    };
};

template <>
struct Describe<NamedSource> {
    using T = NamedSource;
    static constexpr auto fields = std::tuple{
        Field{"namespace", &T::ns,   "Namespace of the source."}
        .require(),
        Field{"name",      &T::name, "Name of the source."     }
        .require(),
    };
};

template <>
struct Describe<DataVolumeSource> {
    using T = DataVolumeSource;
    static constexpr auto fields = std::tuple{
        Field{"http",     &T::http,     "A file behind an HTTP URL."        },
        Field{"blank",    &T::blank,    "Nothing: an empty disk."           },
        Field{"upload",   &T::upload,   "A client sends the data."          },
        Field{"s3",       &T::s3,       "An object in S3."                  },
        Field{"gcs",      &T::gcs,      "An object in Google Cloud Storage."},
        Field{"registry", &T::registry, "A disk in a container image."      },
        Field{"imageio",  &T::imageio,  "A disk of oVirt."                  },
        Field{"vddk",     &T::vddk,     "A disk of VMware."                 },
        Field{"pvc",      &T::pvc,      "A copy of a claim."                },
        Field{"snapshot", &T::snapshot, "A copy of a snapshot."             },
    };
};

template <>
struct Describe<SourceRef> {
    using T = SourceRef;
    static constexpr auto fields = std::tuple{
        Field{"kind",      &T::kind, "DataSource."                                }
        .require(),
        Field{"namespace", &T::ns,   "Namespace. Default: that of the DataVolume."},
        Field{"name",      &T::name, "Name of the DataSource."                    }
        .require(),
    };
};

template <>
struct Describe<DataVolumeSpec> {
    using T = DataVolumeSpec;
    static constexpr auto fields = std::tuple{
        Field{"source",             &T::source,               "Where the data comes from."                                         },
        Field{"sourceRef",          &T::source_ref,           "An object that says where the data comes from."                     },
        Field{"pvc",                &T::pvc,                  "The claim, letter by letter."                                       },
        Field{"storage",            &T::storage,              "The claim, with what is missing filled in from the storage profile."},
        Field{"contentType",        &T::content_type,         "kubevirt: a disk image; archive: a tar file."                       },
        Field{"preallocation",      &T::preallocation,        "Writes all blocks of the claim."                                    },
        Field{"priorityClassName",  &T::priority_class_name,  "Priority of the worker pods."                                       },
        Field{"serviceAccountName", &T::service_account_name, "Service account of the worker pods."                                },
        Field{"checkpoints",        &T::checkpoints,          "Stages of a warm import."                                           },
        Field{"finalCheckpoint",    &T::final_checkpoint,     "The last stage has been given."                                     },
    };
};

template <>
struct Describe<DataVolumeStatus> {
    using T = DataVolumeStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"claimName",    &T::claim_name   },
        Field{"phase",        &T::phase        },
        Field{"progress",     &T::progress     },
        Field{"restartCount", &T::restart_count},
        Field{"conditions",   &T::conditions   },
    };
};

template <>
struct Describe<DataVolume> {
    using T = DataVolume;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata, "Name, namespace, labels, annotations."},
        Field{"spec",     &T::spec,     "The data as wanted."                  }
        .require(),
        Field{"status",   &T::status,   "How far it is."                       },
    };
};

template <>
struct Describe<ClaimPropertySet> {
    using T = ClaimPropertySet;
    static constexpr auto fields = std::tuple{
        Field{"accessModes", &T::access_modes, "Access modes."       }
            .values("ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod")
            .require(),
        Field{"volumeMode",  &T::volume_mode,  "Block or Filesystem."}
        .values("Block Filesystem").require(),
    };
};

template <>
struct Describe<StorageProfileSpec> {
    using T = StorageProfileSpec;
    static constexpr auto fields = std::tuple{
        Field{"claimPropertySets",          &T::claim_property_sets,            "Modes to choose for claims, best first."},
        Field{"cloneStrategy",              &T::clone_strategy,                 "How claims of the class are copied."    }
        .values(
            "copy snapshot csi-clone"
        ),
        Field{"dataImportCronSourceFormat", &T::data_import_cron_source_format, "What recurring imports keep."           }
        .values(
            "pvc snapshot"
        ),
        Field{"snapshotClass",              &T::snapshot_class,                 "Class of snapshots."                    },
    };
};

template <>
struct Describe<StorageProfileStatus> {
    using T = StorageProfileStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"storageClass",      &T::storage_class      },
        Field{"provisioner",       &T::provisioner        },
        Field{"claimPropertySets", &T::claim_property_sets},
        Field{"cloneStrategy",     &T::clone_strategy     },
        Field{"conditions",        &T::conditions         },
    };
};

template <>
struct Describe<StorageProfile> {
    using T = StorageProfile;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata, "Name, namespace, labels, annotations."  },
        Field{"spec",     &T::spec,     "What is known better than the defaults."},
        Field{"status",   &T::status,   "What is used."                          },
    };
};

template <>
struct Describe<FilesystemOverhead> {
    using T = FilesystemOverhead;
    static constexpr auto fields = std::tuple{
        Field{"global",       &T::global,        "Share of a file system that a disk image cannot use, such as 0.06."},
        Field{"storageClass", &T::storage_class, "The same for single storage classes."                              },
    };
};

template <>
struct Describe<CdiConfigSpec> {
    using T = CdiConfigSpec;
    static constexpr auto fields = std::tuple{
        Field{"featureGates",             &T::feature_gates,               "Features that are on."                           },
        Field{"filesystemOverhead",       &T::filesystem_overhead,         "Room kept free in file systems."                 },
        Field{"preallocation",            &T::preallocation,               "Preallocates unless a DataVolume says otherwise."},
        Field{"scratchSpaceStorageClass", &T::scratch_space_storage_class, "Storage class of temporary claims."              },
        Field{"podResourceRequirements",  &T::pod_resource_requirements,   "Resources of worker pods."                       },
        Field{"uploadProxyURLOverride",   &T::upload_proxy_url_override,   "URL that clients send uploads to."               },
        Field{"importProxy",              &T::import_proxy,                "Proxy that imports go through."                  },
        Field{"insecureRegistries",       &T::insecure_registries,         "Registries reached without TLS."                 },
        Field{
              "dataVolumeTTLSeconds",     &T::data_volume_ttl_seconds,
              "Deprecated: seconds until a finished DataVolume is deleted."
        },
        Field{"tlsSecurityProfile",       &T::tls_security_profile,        "Versions and ciphers of TLS."                    },
        Field{"imagePullSecrets",         &T::image_pull_secrets,          "Secrets for the images of workers."              },
        Field{"logVerbosity",             &T::log_verbosity,               "Verbosity of workers."                           },
    };
};

template <>
struct Describe<CdiConfigStatus> {
    using T = CdiConfigStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"filesystemOverhead",             &T::filesystem_overhead              },
        Field{"preallocation",                  &T::preallocation                    },
        Field{"scratchSpaceStorageClass",       &T::scratch_space_storage_class      },
        Field{"defaultPodResourceRequirements", &T::default_pod_resource_requirements},
    };
};

template <>
struct Describe<CdiConfig> {
    using T = CdiConfig;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata, "Name, namespace, labels, annotations."},
        Field{"spec",     &T::spec,     "The configuration."                   },
        Field{"status",   &T::status,   "What is in effect."                   },
    };
};

}  // namespace berth::api
