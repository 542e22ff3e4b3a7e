// Descriptions of pods and their parts; for the .cpp files of this folder. Open, but for what schemas of others use:
// rules see a part of each.
#pragma once

#include "api/core.hpp"
#include "api/meta_fields.hpp"
#include "api/scheduling_fields.hpp"

namespace berth::api {

template <>
struct Describe<ResourceRequirements> {
    using T = ResourceRequirements;
    static constexpr auto fields = std::tuple{
        Field{"requests", &T::requests, "What is set aside."         },
        Field{"limits",   &T::limits,   "The most that may be used." },
        Field{"claims",   &T::claims,   "Devices of resource claims."},
    };
};

template <>
struct Describe<VolumeMount> {
    using T = VolumeMount;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name",             &T::name             },
        Field{"mountPath",        &T::mount_path       },
        Field{"subPath",          &T::sub_path         },
        Field{"mountPropagation", &T::mount_propagation},
        Field{"readOnly",         &T::read_only        },
    };
};

template <>
struct Describe<VolumeDevice> {
    using T = VolumeDevice;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name",       &T::name       },
        Field{"devicePath", &T::device_path},
    };
};

template <>
struct Describe<ContainerPort> {
    using T = ContainerPort;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name",          &T::name          },
        Field{"containerPort", &T::container_port},
        Field{"hostPort",      &T::host_port     },
        Field{"hostIP",        &T::host_ip       },
        Field{"protocol",      &T::protocol      },
    };
};

template <>
struct Describe<EnvVar> {
    using T = EnvVar;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name",      &T::name      },
        Field{"value",     &T::value     },
        Field{"valueFrom", &T::value_from},
    };
};

template <>
struct Describe<Container> {
    using T = Container;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name",                     &T::name                      },
        Field{"image",                    &T::image                     },
        Field{"imagePullPolicy",          &T::image_pull_policy         },
        Field{"command",                  &T::command                   },
        Field{"args",                     &T::args                      },
        Field{"workingDir",               &T::working_dir               },
        Field{"env",                      &T::env                       },
        Field{"ports",                    &T::ports                     },
        Field{"resources",                &T::resources                 },
        Field{"volumeMounts",             &T::volume_mounts             },
        Field{"volumeDevices",            &T::volume_devices            },
        Field{"restartPolicy",            &T::restart_policy            },
        Field{"terminationMessagePath",   &T::termination_message_path  },
        Field{"terminationMessagePolicy", &T::termination_message_policy},
        Field{"securityContext",          &T::security_context          },
        Field{"readinessProbe",           &T::readiness_probe           },
        Field{"livenessProbe",            &T::liveness_probe            },
        Field{"startupProbe",             &T::startup_probe             },
    };
};

template <>
struct Describe<ClaimVolumeSource> {
    using T = ClaimVolumeSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"claimName", &T::claim_name},
        Field{"readOnly",  &T::read_only },
    };
};

template <>
struct Describe<HostPathSource> {
    using T = HostPathSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"path", &T::path},
        Field{"type", &T::type},
    };
};

template <>
struct Describe<KeyToPath> {
    using T = KeyToPath;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"key",  &T::key },
        Field{"path", &T::path},
        Field{"mode", &T::mode},
    };
};

template <>
struct Describe<ConfigMapVolumeSource> {
    using T = ConfigMapVolumeSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name",        &T::name        },
        Field{"items",       &T::items       },
        Field{"defaultMode", &T::default_mode},
        Field{"optional",    &T::optional    },
    };
};

template <>
struct Describe<SecretVolumeSource> {
    using T = SecretVolumeSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"secretName",  &T::secret_name },
        Field{"items",       &T::items       },
        Field{"defaultMode", &T::default_mode},
        Field{"optional",    &T::optional    },
    };
};

template <>
struct Describe<EmptyDirSource> {
    using T = EmptyDirSource;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"medium",    &T::medium    },
        Field{"sizeLimit", &T::size_limit},
    };
};

template <>
struct Describe<PodVolume> {
    using T = PodVolume;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name",                  &T::name                   },
        Field{"persistentVolumeClaim", &T::persistent_volume_claim},
        Field{"emptyDir",              &T::empty_dir              },
        Field{"hostPath",              &T::host_path              },
        Field{"configMap",             &T::config_map             },
        Field{"secret",                &T::secret                 },
        Field{"downwardAPI",           &T::downward_api           },
        Field{"projected",             &T::projected              },
    };
};

template <>
struct Describe<PodSpec> {
    using T = PodSpec;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"nodeName",                      &T::node_name                       },
        Field{"schedulerName",                 &T::scheduler_name                  },
        Field{"nodeSelector",                  &T::node_selector                   },
        Field{"affinity",                      &T::affinity                        },
        Field{"tolerations",                   &T::tolerations                     },
        Field{"topologySpreadConstraints",     &T::topology_spread_constraints     },
        Field{"priorityClassName",             &T::priority_class_name             },
        Field{"priority",                      &T::priority                        },
        Field{"containers",                    &T::containers                      },
        Field{"initContainers",                &T::init_containers                 },
        Field{"volumes",                       &T::volumes                         },
        Field{"restartPolicy",                 &T::restart_policy                  },
        Field{"terminationGracePeriodSeconds", &T::termination_grace_period_seconds},
        Field{"activeDeadlineSeconds",         &T::active_deadline_seconds         },
        Field{"hostname",                      &T::hostname                        },
        Field{"subdomain",                     &T::subdomain                       },
        Field{"serviceAccountName",            &T::service_account_name            },
        Field{"runtimeClassName",              &T::runtime_class_name              },
        Field{"hostNetwork",                   &T::host_network                    },
        Field{"automountServiceAccountToken",  &T::automount_service_account_token },
        Field{"enableServiceLinks",            &T::enable_service_links            },
        Field{"dnsPolicy",                     &T::dns_policy                      },
        Field{"dnsConfig",                     &T::dns_config                      },
        Field{"securityContext",               &T::security_context                },
        Field{"readinessGates",                &T::readiness_gates                 },
        Field{"imagePullSecrets",              &T::image_pull_secrets              },
        Field{"schedulingGates",               &T::scheduling_gates                },
        Field{"resourceClaims",                &T::resource_claims                 },
    };
};

template <>
struct Describe<ContainerStatus> {
    using T = ContainerStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name",         &T::name         },
        Field{"image",        &T::image        },
        Field{"imageID",      &T::image_id     },
        Field{"containerID",  &T::container_id },
        Field{"ready",        &T::ready        },
        Field{"started",      &T::started      },
        Field{"restartCount", &T::restart_count},
        Field{"state",        &T::state        },
        Field{"lastState",    &T::last_state   },
    };
};

template <>
struct Describe<PodStatus> {
    using T = PodStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"phase",                 &T::phase                  },
        Field{"reason",                &T::reason                 },
        Field{"message",               &T::message                },
        Field{"hostIP",                &T::host_ip                },
        Field{"podIP",                 &T::pod_ip                 },
        Field{"qosClass",              &T::qos_class              },
        Field{"nominatedNodeName",     &T::nominated_node_name    },
        Field{"startTime",             &T::start_time             },
        Field{"conditions",            &T::conditions             },
        Field{"containerStatuses",     &T::container_statuses     },
        Field{"initContainerStatuses", &T::init_container_statuses},
    };
};

template <>
struct Describe<Pod> {
    using T = Pod;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"spec",     &T::spec    },
        Field{"status",   &T::status  },
    };
};

}  // namespace berth::api
