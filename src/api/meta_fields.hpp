// Descriptions of api/meta.hpp; for the .cpp files of this folder.
#pragma once

#include "api/describe.hpp"
#include "api/meta.hpp"

namespace berth::api {

template <>
struct Describe<OwnerReference> {
    using T = OwnerReference;
    static constexpr auto fields = std::tuple{
        Field{"apiVersion",         &T::api_version,          "API version of the owner."                              }
        .require(),
        Field{"kind",               &T::kind,                 "Kind of the owner."                                     }
        .require(),
        Field{"name",               &T::name,                 "Name of the owner."                                     }
        .require(),
        Field{"uid",                &T::uid,                  "UID of the owner."                                      }
        .require(),
        Field{"controller",         &T::controller,           "True for the one owner that manages the object."        },
        Field{
              "blockOwnerDeletion", &T::block_owner_deletion, "Foreground deletion of the owner waits for this object."
        },
    };
};

template <>
struct Describe<ObjectMeta> {
    using T = ObjectMeta;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name",                       &T::name                         },
        Field{"generateName",               &T::generate_name                },
        Field{"namespace",                  &T::ns                           },
        Field{"uid",                        &T::uid                          },
        Field{"resourceVersion",            &T::resource_version             },
        Field{"generation",                 &T::generation                   },
        Field{"creationTimestamp",          &T::creation_timestamp           },
        Field{"deletionTimestamp",          &T::deletion_timestamp           },
        Field{"deletionGracePeriodSeconds", &T::deletion_grace_period_seconds},
        Field{"labels",                     &T::labels                       },
        Field{"annotations",                &T::annotations                  },
        Field{"ownerReferences",            &T::owner_references             },
        Field{"finalizers",                 &T::finalizers                   },
    };
};

template <>
struct Describe<Bare> {
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &Bare::metadata}
    };
};

template <>
struct Describe<Condition> {
    using T = Condition;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"type", &T::type, "What the condition is about."}
        .require(),
        Field{"status", &T::status, "True, False or Unknown."}
        .require(),
        Field{"reason", &T::reason, "One word for programs."},
        Field{"message", &T::message, "A sentence for people."},
        Field{"lastTransitionTime", &T::last_transition_time, "When status last changed."},
        Field{"lastProbeTime", &T::last_probe_time},
        Field{"lastHeartbeatTime", &T::last_heartbeat_time},
    };
};

template <>
struct Describe<SelectorRequirement> {
    using T = SelectorRequirement;
    static constexpr auto fields = std::tuple{
        Field{"key",      &T::key,    "Key of the label."                         }
        .require(),
        Field{"operator", &T::op,     "In, NotIn, Exists, DoesNotExist, Gt or Lt."}
        .require(),
        Field{"values",   &T::values, "Values to compare with."                   },
    };
};

template <>
struct Describe<LabelSelector> {
    using T = LabelSelector;
    static constexpr auto fields = std::tuple{
        Field{"matchLabels",      &T::match_labels,      "Labels and their values."            },
        Field{"matchExpressions", &T::match_expressions, "Conditions on labels; all must hold."},
    };
};

}  // namespace berth::api
