// Descriptions of how pods and machines choose their node; for the .cpp files of this folder. Complete: they are part
// of schemas that find typing errors.
#pragma once

#include "api/core.hpp"
#include "api/meta_fields.hpp"

namespace berth::api {

template <>
struct Describe<Toleration> {
    using T = Toleration;
    static constexpr auto fields = std::tuple{
        Field{"key",               &T::key,                "Key of the taint; all keys when empty."      },
        Field{"operator",          &T::op,                 "Equal or Exists."                            }
        .values("Equal Exists"),
        Field{"value",             &T::value,              "Value of the taint."                         },
        Field{"effect",            &T::effect,             "Effect of the taint; all effects when empty."}
        .values(
            "NoSchedule PreferNoSchedule NoExecute"
        ),
        Field{"tolerationSeconds", &T::toleration_seconds, "Seconds that NoExecute is tolerated."        },
    };
};

template <>
struct Describe<NodeSelectorTerm> {
    using T = NodeSelectorTerm;
    static constexpr auto fields = std::tuple{
        Field{"matchExpressions", &T::match_expressions, "Labels of the node."},
        Field{"matchFields",      &T::match_fields,      "Fields of the node."},
    };
};

template <>
struct Describe<NodeSelector> {
    using T = NodeSelector;
    static constexpr auto fields = std::tuple{
        Field{"nodeSelectorTerms", &T::node_selector_terms, "One of these must hold."}
        .require(),
    };
};

template <>
struct Describe<PreferredNodeTerm> {
    using T = PreferredNodeTerm;
    static constexpr auto fields = std::tuple{
        Field{"weight",     &T::weight,     "1 to 100."                    }
        .require(),
        Field{"preference", &T::preference, "What the node should be like."}
        .require(),
    };
};

template <>
struct Describe<NodeAffinity> {
    using T = NodeAffinity;
    static constexpr auto fields = std::tuple{
        Field{"requiredDuringSchedulingIgnoredDuringExecution",  &T::required,  "What the node must be like."  },
        Field{"preferredDuringSchedulingIgnoredDuringExecution", &T::preferred, "What the node should be like."},
    };
};

template <>
struct Describe<PodAffinityTerm> {
    using T = PodAffinityTerm;
    static constexpr auto fields = std::tuple{
        Field{"labelSelector",     &T::label_selector,      "Labels of the other pods."                      },
        Field{"namespaces",        &T::namespaces,          "Namespaces of the other pods."                  },
        Field{"namespaceSelector", &T::namespace_selector,  "Labels of those namespaces."                    },
        Field{"topologyKey",       &T::topology_key,        "Label of nodes whose value says what is near."  }
        .require(),
        Field{"matchLabelKeys",    &T::match_label_keys,    "Labels whose value the other pods share."       },
        Field{"mismatchLabelKeys", &T::mismatch_label_keys, "Labels whose value the other pods do not share."},
    };
};

template <>
struct Describe<WeightedPodAffinityTerm> {
    using T = WeightedPodAffinityTerm;
    static constexpr auto fields = std::tuple{
        Field{"weight",          &T::weight,            "1 to 100."  }
        .require(),
        Field{"podAffinityTerm", &T::pod_affinity_term, "Which pods."}
        .require(),
    };
};

template <>
struct Describe<PodAffinity> {
    using T = PodAffinity;
    static constexpr auto fields = std::tuple{
        Field{"requiredDuringSchedulingIgnoredDuringExecution",  &T::required,  "Must hold."  },
        Field{"preferredDuringSchedulingIgnoredDuringExecution", &T::preferred, "Should hold."},
    };
};

template <>
struct Describe<Affinity> {
    using T = Affinity;
    static constexpr auto fields = std::tuple{
        Field{"nodeAffinity",    &T::node_affinity,     "Nodes by their labels."},
        Field{"podAffinity",     &T::pod_affinity,      "Near these pods."      },
        Field{"podAntiAffinity", &T::pod_anti_affinity, "Far from these pods."  },
    };
};

template <>
struct Describe<TopologySpreadConstraint> {
    using T = TopologySpreadConstraint;
    static constexpr auto fields = std::tuple{
        Field{"maxSkew",            &T::max_skew,             "The largest difference between two domains." }
        .require(),
        Field{"topologyKey",        &T::topology_key,         "Label of nodes whose value names the domain."}
        .require(),
        Field{"whenUnsatisfiable",  &T::when_unsatisfiable,   "What happens when it cannot hold."           }
            .values("DoNotSchedule ScheduleAnyway")
            .require(),
        Field{"labelSelector",      &T::label_selector,       "Labels of the pods that are counted."        },
        Field{"minDomains",         &T::min_domains,          "The least number of domains."                },
        Field{"nodeAffinityPolicy", &T::node_affinity_policy, "Whether node affinity limits the domains."   }
        .values(
            "Honor Ignore"
        ),
        Field{"nodeTaintsPolicy",   &T::node_taints_policy,   "Whether taints limit the domains."           }
        .values("Honor Ignore"),
        Field{"matchLabelKeys",     &T::match_label_keys,     "Labels whose value the counted pods share."  },
    };
};

}  // namespace berth::api
