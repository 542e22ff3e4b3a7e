// Descriptions of api/core.hpp but pods; for the .cpp files of this folder. Kinds are open: rules see a part of each
// built-in kind.
#pragma once

#include "api/pod_fields.hpp"

namespace berth::api {

template <>
struct Describe<TypedReference> {
    using T = TypedReference;
    static constexpr auto fields = std::tuple{
        Field{"apiGroup",  &T::api_group, "Group of the kind; core when empty."},
        Field{"kind",      &T::kind,      "Kind of the object."                },
        Field{"name",      &T::name,      "Name of the object."                },
        Field{"namespace", &T::ns,        "Namespace of the object."           },
    };
};

template <>
struct Describe<ClaimSpec> {
    using T = ClaimSpec;
    static constexpr auto fields = std::tuple{
        Field{"accessModes",               &T::access_modes,                 "How nodes may use the volume."               }
        .values(
            "ReadWriteOnce ReadOnlyMany ReadWriteMany ReadWriteOncePod"
        ),
        Field{"volumeMode",                &T::volume_mode,                  "Block or Filesystem. Default: Filesystem."   }
        .values("Block Filesystem"),
        Field{"storageClassName",          &T::storage_class_name,           "Storage class; \"\" means none."             },
        Field{"volumeName",                &T::volume_name,                  "The volume to bind to."                      },
        Field{"resources",                 &T::resources,                    "Size, as the request for storage."           },
        Field{"selector",                  &T::selector,                     "Labels a volume must have."                  },
        Field{"dataSource",                &T::data_source,                  "Object the volume is made from."             },
        Field{"dataSourceRef",             &T::data_source_ref,              "Object the volume is made from, of any kind."},
        Field{
              "volumeAttributesClassName", &T::volume_attributes_class_name, "Class of attributes that can change later."
        },
    };
};

template <>
struct Describe<ClaimStatus> {
    using T = ClaimStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"phase",       &T::phase       },
        Field{"accessModes", &T::access_modes},
        Field{"capacity",    &T::capacity    },
        Field{"conditions",  &T::conditions  },
    };
};

template <>
struct Describe<PersistentVolumeClaim> {
    using T = PersistentVolumeClaim;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec",     &T::spec    },
        Field{"status",   &T::status  },
    };
};

template <>
struct Describe<ObjectReference> {
    using T = ObjectReference;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"apiVersion",      &T::api_version     },
        Field{"kind",            &T::kind            },
        Field{"namespace",       &T::ns              },
        Field{"name",            &T::name            },
        Field{"uid",             &T::uid             },
        Field{"resourceVersion", &T::resource_version},
        Field{"fieldPath",       &T::field_path      },
    };
};

template <>
struct Describe<LocalVolumeSource> {
    using T = LocalVolumeSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"path",   &T::path   },
        Field{"fsType", &T::fs_type},
    };
};

template <>
struct Describe<VolumeNodeAffinity> {
    using T = VolumeNodeAffinity;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"required", &T::required},
    };
};

template <>
struct Describe<VolumeSpec> {
    using T = VolumeSpec;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"capacity",                      &T::capacity                    },
        Field{"accessModes",                   &T::access_modes                },
        Field{"volumeMode",                    &T::volume_mode                 },
        Field{"storageClassName",              &T::storage_class_name          },
        Field{"persistentVolumeReclaimPolicy", &T::reclaim_policy              },
        Field{"claimRef",                      &T::claim_ref                   },
        Field{"local",                         &T::local                       },
        Field{"hostPath",                      &T::host_path                   },
        Field{"csi",                           &T::csi                         },
        Field{"nodeAffinity",                  &T::node_affinity               },
        Field{"mountOptions",                  &T::mount_options               },
        Field{"volumeAttributesClassName",     &T::volume_attributes_class_name},
    };
};

template <>
struct Describe<VolumeStatus> {
    using T = VolumeStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"phase",   &T::phase  },
        Field{"reason",  &T::reason },
        Field{"message", &T::message},
    };
};

template <>
struct Describe<PersistentVolume> {
    using T = PersistentVolume;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec",     &T::spec    },
        Field{"status",   &T::status  },
    };
};

template <>
struct Describe<TopologyTerm> {
    using T = TopologyTerm;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"matchLabelExpressions", &T::match_label_expressions},
    };
};

template <>
struct Describe<StorageClass> {
    using T = StorageClass;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata",             &T::metadata              },
        Field{"provisioner",          &T::provisioner           },
        Field{"parameters",           &T::parameters            },
        Field{"reclaimPolicy",        &T::reclaim_policy        },
        Field{"volumeBindingMode",    &T::volume_binding_mode   },
        Field{"allowVolumeExpansion", &T::allow_volume_expansion},
        Field{"mountOptions",         &T::mount_options         },
        Field{"allowedTopologies",    &T::allowed_topologies    },
    };
};

template <>
struct Describe<CsiDriver> {
    using T = CsiDriver;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec",     &T::spec    },
    };
};

template <>
struct Describe<CsiStorageCapacity> {
    using T = CsiStorageCapacity;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata",          &T::metadata           },
        Field{"storageClassName",  &T::storage_class_name },
        Field{"capacity",          &T::capacity           },
        Field{"maximumVolumeSize", &T::maximum_volume_size},
        Field{"nodeTopology",      &T::node_topology      },
    };
};

template <>
struct Describe<Taint> {
    using T = Taint;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"key",    &T::key   },
        Field{"value",  &T::value },
        Field{"effect", &T::effect},
    };
};

template <>
struct Describe<NodeSpec> {
    using T = NodeSpec;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"unschedulable", &T::unschedulable},
        Field{"taints",        &T::taints       },
    };
};

template <>
struct Describe<NodeStatus> {
    using T = NodeStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"capacity",    &T::capacity   },
        Field{"allocatable", &T::allocatable},
        Field{"conditions",  &T::conditions },
        Field{"addresses",   &T::addresses  },
        Field{"nodeInfo",    &T::node_info  },
    };
};

template <>
struct Describe<Node> {
    using T = Node;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec",     &T::spec    },
        Field{"status",   &T::status  },
    };
};

template <>
struct Describe<Namespace> {
    using T = Namespace;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec",     &T::spec    },
        Field{"status",   &T::status  },
    };
};

template <>
struct Describe<ConfigMap> {
    using T = ConfigMap;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata",   &T::metadata   },
        Field{"data",       &T::data       },
        Field{"binaryData", &T::binary_data},
    };
};

template <>
struct Describe<Secret> {
    using T = Secret;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"type",     &T::type    },
        Field{"data",     &T::data    },
    };
};

template <>
struct Describe<PriorityClass> {
    using T = PriorityClass;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata",      &T::metadata      },
        Field{"value",         &T::value         },
        Field{"globalDefault", &T::global_default},
    };
};

}  // namespace berth::api
