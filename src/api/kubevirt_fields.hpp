// Descriptions of api/kubevirt.hpp; for the .cpp files of this folder.
#pragma once

#include "api/cdi_fields.hpp"
#include "api/machine_fields.hpp"

namespace berth::api {

template <>
struct Describe<VmiSpec> {
    using T = VmiSpec;
    static constexpr auto fields = std::tuple{
        Field{"domain",                        &T::domain,                           "The virtual hardware."                                }
        .require(),
        Field{"volumes",                       &T::volumes,                          "Where the data of the disks comes from."              },
        Field{"networks",                      &T::networks,                         "Networks the interfaces connect to."                  },
        Field{"nodeSelector",                  &T::node_selector,                    "Labels a node must have."                             },
        Field{"affinity",                      &T::affinity,                         "Nodes and pods to be near to or far from."            },
        Field{"tolerations",                   &T::tolerations,                      "Taints of nodes that do not matter."                  },
        Field{
              "topologySpreadConstraints",     &T::topology_spread_constraints,
              "How machines are spread over nodes and zones."
        },
        Field{"schedulerName",                 &T::scheduler_name,                   "Scheduler that places the machine."                   },
        Field{"priorityClassName",             &T::priority_class_name,              "Priority of the machine's pod."                       },
        Field{"serviceAccountName",            &T::service_account_name,             "Service account of the machine's pod."                },
        Field{"architecture",                  &T::architecture,                     "Architecture of the guest."                           },
        Field{"hostname",                      &T::hostname,                         "Name of the guest. Default: the name of the object."  },
        Field{"subdomain",                     &T::subdomain,                        "Domain of the guest's name."                          },
        Field{"dnsPolicy",                     &T::dns_policy,                       "Where names are looked up."                           }
        .values(
            "ClusterFirst ClusterFirstWithHostNet Default None"
        ),
        Field{"dnsConfig",                     &T::dns_config,                       "Name servers and search domains."                     },
        Field{
              "terminationGracePeriodSeconds", &T::termination_grace_period_seconds,
              "Seconds a guest has to shut down before it is killed."
        },
        Field{"evictionStrategy",              &T::eviction_strategy,                "What a drain of the node does."                       }
        .values(
            "None LiveMigrate LiveMigrateIfPossible External"
        ),
        Field{"startStrategy",                 &T::start_strategy,                   "Starts the guest paused."                             }
        .values("Paused"),
        Field{"livenessProbe",                 &T::liveness_probe,                   "Stops the guest when it fails."                       },
        Field{"readinessProbe",                &T::readiness_probe,                  "Says whether the guest is ready."                     },
        Field{"accessCredentials",             &T::access_credentials,               "Keys and passwords put into the guest."               },
        Field{"resourceClaims",                &T::resource_claims,                  "Devices that are allocated before the machine starts."},
        Field{"utilityVolumes",                &T::utility_volumes,                  "Claims mounted beside the guest, without a disk."     },
    };
};

template <>
struct Describe<PhaseTransition> {
    using T = PhaseTransition;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"phase",                    &T::phase},
        Field{"phaseTransitionTimestamp", &T::at   },
    };
};

template <>
struct Describe<ClaimSummary> {
    using T = ClaimSummary;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"claimName",          &T::claim_name         },
        Field{"accessModes",        &T::access_modes       },
        Field{"volumeMode",         &T::volume_mode        },
        Field{"capacity",           &T::capacity           },
        Field{"requests",           &T::requests           },
        Field{"preallocated",       &T::preallocated       },
        Field{"filesystemOverhead", &T::filesystem_overhead},
    };
};

template <>
struct Describe<HotplugVolumeStatus> {
    using T = HotplugVolumeStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"attachPodName", &T::attach_pod_name},
        Field{"attachPodUID",  &T::attach_pod_uid },
    };
};

template <>
struct Describe<VmVolumeStatus> {
    using T = VmVolumeStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"name",                      &T::name                        },
        Field{"target",                    &T::target                      }
        .keep(),
        Field{"phase",                     &T::phase                       },
        Field{"reason",                    &T::reason                      },
        Field{"message",                   &T::message                     },
        Field{"size",                      &T::size                        },
        Field{"persistentVolumeClaimInfo", &T::persistent_volume_claim_info},
        Field{"hotplugVolume",             &T::hotplug_volume              },
        Field{"containerDiskVolume",       &T::container_disk_volume       },
    };
};

template <>
struct Describe<VmiStatus> {
    using T = VmiStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"phase",                         &T::phase                           },
        Field{"phaseTransitionTimestamps",     &T::phase_transition_timestamps     },
        Field{"reason",                        &T::reason                          },
        Field{"nodeName",                      &T::node_name                       },
        Field{"conditions",                    &T::conditions                      },
        Field{"activePods",                    &T::active_pods                     },
        Field{"volumeStatus",                  &T::volume_status                   },
        Field{"qosClass",                      &T::qos_class                       },
        Field{"launcherContainerImageVersion", &T::launcher_container_image_version},
        Field{"virtualMachineRevisionName",    &T::virtual_machine_revision_name   },
        Field{"runtimeUser",                   &T::runtime_user                    },
        Field{"migrationTransport",            &T::migration_transport             },
        Field{"migrationState",                &T::migration_state                 },
        Field{"selinuxContext",                &T::selinux_context                 },
        Field{"interfaces",                    &T::interfaces                      },
        Field{"guestOSInfo",                   &T::guest_os_info                   },
        Field{"memory",                        &T::memory                          },
        Field{"currentCPUTopology",            &T::current_cpu_topology            },
        Field{"machine",                       &T::machine                         },
    };
};

template <>
struct Describe<VirtualMachineInstance> {
    using T = VirtualMachineInstance;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata, "Name, namespace, labels, annotations."},
        Field{"spec",     &T::spec,     "The instance as wanted."              }
        .require(),
        Field{"status",   &T::status,   "The instance as it is."               },
    };
};

template <>
struct Describe<VmiTemplateMeta> {
    using T = VmiTemplateMeta;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"labels",      &T::labels     },
        Field{"annotations", &T::annotations},
    };
};

template <>
struct Describe<VmiTemplate> {
    using T = VmiTemplate;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata, "Labels and annotations of the instance."},
        Field{"spec",     &T::spec,     "The instance."                          },
    };
};

template <>
struct Describe<DataVolumeTemplate> {
    using T = DataVolumeTemplate;
    static constexpr auto fields = std::tuple{
        Field{"apiVersion", &T::api_version, "cdi.kubevirt.io/v1beta1."                       },
        Field{"kind",       &T::kind,        "DataVolume."                                    },
        Field{"metadata",   &T::metadata,    "Name, labels and annotations of the DataVolume."},
        Field{"spec",       &T::spec,        "The DataVolume."                                }
        .require(),
        Field{"status",     &T::status,      "Ignored."                                       },
    };
};

template <>
struct Describe<VmSpec> {
    using T = VmSpec;
    static constexpr auto fields = std::tuple{
        Field{"runStrategy",           &T::run_strategy,            "When the machine runs."                                        }
        .values(
            "Always Halted Manual RerunOnFailure Once WaitAsReceiver"
        ),
        Field{"running",               &T::running,                 "Deprecated: true means runStrategy Always, false means Halted."},
        Field{"template",              &T::vmi_template,            "The instance that runs."                                       }
        .require(),
        Field{
              "dataVolumeTemplates",   &T::data_volume_templates,
              "DataVolumes that are made with the machine and deleted with it."
        },
        Field{
              "updateVolumesStrategy", &T::update_volumes_strategy, "What a change of volumes does to a running machine."
        }
            .values("Replacement Migration"),
        Field{"instancetype",          &T::instancetype,            "Instance type that gives CPU and memory."                      },
        Field{"preference",            &T::preference,              "Preference that gives defaults for devices."                   },
    };
};

template <>
struct Describe<StateChangeRequest> {
    using T = StateChangeRequest;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"action", &T::action},
        Field{"uid",    &T::uid   },
        Field{"data",   &T::data  },
    };
};

template <>
struct Describe<StartFailure> {
    using T = StartFailure;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"consecutiveFailCount", &T::consecutive_fail_count},
        Field{"lastFailedVMIUID",     &T::last_failed_vmi_uid   },
        Field{"retryAfterTimestamp",  &T::retry_after_timestamp },
    };
};

template <>
struct Describe<VmStatus> {
    using T = VmStatus;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"created",             &T::created              },
        Field{"ready",               &T::ready                },
        Field{"printableStatus",     &T::printable_status     },
        Field{"conditions",          &T::conditions           },
        Field{"stateChangeRequests", &T::state_change_requests},
        Field{"startFailure",        &T::start_failure        },
        Field{"runStrategy",         &T::run_strategy         },
        Field{"observedGeneration",  &T::observed_generation  },
        Field{"desiredGeneration",   &T::desired_generation   },
        Field{"volumeRequests",      &T::volume_requests      },
    };
};

template <>
struct Describe<VirtualMachine> {
    using T = VirtualMachine;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata, "Name, namespace, labels, annotations."},
        Field{"spec",     &T::spec,     "The machine as wanted."               }
        .require(),
        Field{"status",   &T::status,   "The machine as it is."                },
    };
};

template <>
struct Describe<ControllerRevision> {
    using T = ControllerRevision;
    static constexpr bool open = true;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata},
        Field{"data",     &T::data    },
        Field{"revision", &T::revision},
    };
};

template <>
struct Describe<KubeVirt> {
    using T = KubeVirt;
    static constexpr auto fields = std::tuple{
        Field{"metadata", &T::metadata, "Name, namespace, labels, annotations."},
        Field{"spec",     &T::spec,     "The configuration."                   },
        Field{"status",   &T::status,   "What is in effect."                   },
    };
};

}  // namespace berth::api
