#include "solo/rules/seed.hpp"

#include "base/quantity.hpp"

namespace berth::solo {
namespace {

json::Value storage_class(std::string_view name, std::string_view binding_mode, bool is_default) {
    json::Object metadata{
        {"name", name}
    };
    if (is_default)
        metadata["annotations"] = json::Object{
            {"storageclass.kubernetes.io/is-default-class", "true"}
        };
    return json::Object{
        {"apiVersion",           "storage.k8s.io/v1"},
        {"kind",                 "StorageClass"     },
        {"metadata",             std::move(metadata)},
        {"provisioner",          kProvisioner       },
        {"reclaimPolicy",        "Delete"           },
        {"volumeBindingMode",    binding_mode       },
        {"allowVolumeExpansion", true               },
    };
}

json::Object resources(const NodeSize& size) {
    return {
        {"cpu",               quantity_of(size.cpu).written    },
        {"memory",            quantity_of(size.memory).written },
        {"ephemeral-storage", quantity_of(size.storage).written},
        {kStorageResource,    quantity_of(size.storage).written},
        {"pods",              std::to_string(size.pods)        },
    };
}

json::Value condition(std::string_view type, std::string_view status, std::string_view reason, Timestamp now) {
    return json::Object{
        {"type",               type           },
        {"status",             status         },
        {"reason",             reason         },
        {"lastHeartbeatTime",  to_rfc3339(now)},
        {"lastTransitionTime", to_rfc3339(now)},
    };
}

}  // namespace

json::Value node_status(const NodeSize& size, const std::string& address, Timestamp now) {
    json::Array conditions;
    conditions.push_back(condition("MemoryPressure", "False", "KubeletHasSufficientMemory", now));
    conditions.push_back(condition("DiskPressure", "False", "KubeletHasNoDiskPressure", now));
    conditions.push_back(condition("PIDPressure", "False", "KubeletHasSufficientPID", now));
    conditions.push_back(condition("Ready", "True", "KubeletReady", now));
    json::Array addresses;
    addresses.push_back(json::Object{
        {"type",    "InternalIP"},
        {"address", address     }
    });
    return json::Object{
        {"capacity",    resources(size)      },
        {"allocatable", resources(size)      },
        {"conditions",  std::move(conditions)},
        {"addresses",   std::move(addresses) },
        {"nodeInfo",
         json::Object{
             {"kubeletVersion", "v1.32.0+berth"},
             {"operatingSystem", "linux"},
             {"architecture", "amd64"},
             {"containerRuntimeVersion", "crun"},
             {"osImage", "Linux"},
             {"kernelVersion", ""},
             {"machineID", ""},
             {"systemUUID", ""},
             {"bootID", ""},
             {"kubeProxyVersion", ""},
         }                                   },
    };
}

json::Value node_object(const std::string& name, const NodeSize& size, const std::string& address, Timestamp now) {
    return json::Object{
        {"apiVersion", "v1"},
        {"kind", "Node"},
        {"metadata",
         json::Object{
             {"name", name},
             {"labels",
              json::Object{
                  {"kubernetes.io/hostname", name},
                  {"kubernetes.io/arch", "amd64"},
                  {"kubernetes.io/os", "linux"},
                  {"kubevirt.io/schedulable", "true"},
                  {"machine-type.node.kubevirt.io/q35", "true"},
                  {"machine-type.node.kubevirt.io/pc", "true"},
              }},
         }},
        {"spec", json::Object{}},
        {"status", node_status(size, address, now)},
    };
}

std::vector<json::Value> installation_objects() {
    std::vector<json::Value> out;
    out.push_back(json::Object{
        {"apiVersion", "v1"                              },
        {"kind",       "Namespace"                       },
        {"metadata",   json::Object{{"name", "kubevirt"}}}
    });
    out.push_back(json::Object{
        {"apiVersion", "v1"                         },
        {"kind",       "Namespace"                  },
        {"metadata",   json::Object{{"name", "cdi"}}}
    });
    out.push_back(storage_class("local", "WaitForFirstConsumer", true));
    out.push_back(storage_class("local-immediate", "Immediate", false));
    out.push_back(json::Object{
        {"apiVersion", "kubevirt.io/v1"                                             },
        {"kind",       "KubeVirt"                                                   },
        {"metadata",   json::Object{{"name", "kubevirt"}, {"namespace", "kubevirt"}}},
        {"spec",
         json::Object{
             {"configuration",
              json::Object{
                  {"developerConfiguration", json::Object{{"featureGates", json::Array{}}, {"useEmulation", true}}}
              }}
         }                                                                          },
    });
    json::Array gates;
    gates.push_back("HonorWaitForFirstConsumer");
    out.push_back(json::Object{
        {"apiVersion", "cdi.kubevirt.io/v1beta1"                                      },
        {"kind",       "CDI"                                                          },
        {"metadata",   json::Object{{"name", "cdi"}}                                  },
        {"spec",       json::Object{{"config", json::Object{{"featureGates", gates}}}}},
    });
    out.push_back(json::Object{
        {"apiVersion", "cdi.kubevirt.io/v1beta1"            },
        {"kind",       "CDIConfig"                          },
        {"metadata",   json::Object{{"name", "config"}}     },
        {"spec",       json::Object{{"featureGates", gates}}},
    });
    return out;
}

}  // namespace berth::solo
