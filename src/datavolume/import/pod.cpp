#include "datavolume/import/pod.hpp"

#include "api/pod_annotations.hpp"
#include "datavolume/import/facts.hpp"
#include "datavolume/names.hpp"

namespace berth::datavolume::import {
namespace {

constexpr const char* kDataVolume = "cdi-data-vol";
constexpr const char* kCertVolume = "cdi-cert-vol";
constexpr const char* kSpoolVolume = "berth-scratch";
constexpr const char* kHeaderVolume = "cdi-secret-header-";  // + number

// Only these annotations of the claim pass to the pod, some with a default (datavolumes.md 1.8).
struct PassedOn {
    const char* key;
    const char* otherwise;  // "" = none
};
constexpr PassedOn kPassedOn[] = {
    {"k8s.v1.cni.cncf.io/networks",      ""        },
    {"v1.multus-cni.io/default-network", ""        },
    {"sidecar.istio.io/inject",          "false"   },
    {"linkerd.io/inject",                "disabled"},
};

json::Object annotations_of(const View& view) {
    json::Object out{
        {kCreatedByController,    "yes"                                                  },
        {api::kPermanentExitCode, std::to_string(static_cast<int>(WorkerExit::permanent))},
    };
    for (const PassedOn& one : kPassedOn) {
        const std::string value = annotation(view, one.key);
        if (!value.empty() || *one.otherwise != '\0') out[one.key] = value.empty() ? one.otherwise : value;
    }
    return out;
}

json::Object labels_of(const View& view) {
    json::Object out;
    for (const auto& [key, value] : view.claim.metadata.labels) out[key] = value;
    out["app"] = "containerized-data-importer";
    out["cdi.kubevirt.io"] = "importer";
    out["prometheus.cdi.kubevirt.io"] = "true";
    return out;
}

/// The values of "<prefix>0", "<prefix>1", … in order of number.
std::vector<std::string> numbered(const View& view, const std::string& prefix) {
    constexpr int kHeadersMax = 100;
    std::vector<std::string> out;
    for (int i = 0; i < kHeadersMax; ++i) {
        const std::string* value = view.claim.metadata.annotation(prefix + std::to_string(i));
        if (value == nullptr) break;
        out.push_back(*value);
    }
    return out;
}

class Environment {
public:
    void set(const char* name, const std::string& value) {
        list_.push_back(json::Object{
            {"name",  name },
            {"value", value}
        });
    }
    void set_if(const char* name, const std::string& value) {
        if (!value.empty()) set(name, value);
    }
    void from_secret(const char* name, const std::string& secret, const char* key) {
        list_.push_back(json::Object{
            {"name",      name                                                                        },
            {"valueFrom", json::Object{{"secretKeyRef", json::Object{{"name", secret}, {"key", key}}}}},
        });
    }
    json::Array take() { return std::move(list_); }

private:
    json::Array list_;
};

std::string owner_uid(const View& view) {
    const auto& owners = view.claim.metadata.owner_references;
    return owners.size() == 1 ? owners.front().uid.value : view.claim.metadata.uid.value;
}

json::Array environment_of(const View& view) {
    Environment env;
    const auto request = view.claim.spec.resources.requests.find("storage");
    const bool is_block = view.claim.spec.is_block();
    const std::string source = annotation(view, kImportSource);
    const std::string content = annotation(view, kContentType);
    const Overhead overhead =
        is_block ? Overhead{0} : view.settings.overhead_of(view.claim.spec.storage_class_name.value_or(""));
    env.set("IMPORTER_SOURCE", source.empty() ? "http" : source);
    env.set_if("IMPORTER_ENDPOINT", annotation(view, kImportEndpoint));
    env.set("IMPORTER_CONTENTTYPE", content.empty() ? "kubevirt" : content);
    env.set("IMPORTER_IMAGE_SIZE", request == view.claim.spec.resources.requests.end() ? "0" : request->second.written);
    env.set("FILESYSTEM_OVERHEAD", to_string(overhead));
    env.set("OWNER_UID", owner_uid(view));
    env.set("BERTH_CLAIM_UID", view.claim.metadata.uid.value);
    env.set("PREALLOCATION", annotation(view, kPreallocationRequested) == "true" ? "true" : "false");
    env.set("INSECURE_TLS", annotation(view, kImportInsecure) == "true" ? "true" : "false");
    if (!is_block && annotation(view, kProvisionedBy) == kLocalProvisioner) env.set("BERTH_THIN_VOLUME", "true");
    env.set_if("IMPORTER_CHECKSUM", annotation(view, kImportChecksum));
    if (const std::string secret = annotation(view, kImportSecret); !secret.empty()) {
        env.from_secret("IMPORTER_ACCESS_KEY_ID", secret, "accessKeyId");
        env.from_secret("IMPORTER_SECRET_KEY", secret, "secretKey");
    }
    if (!annotation(view, kImportCertConfigMap).empty()) env.set("IMPORTER_CERT_DIR", kCertDir);
    const std::vector<std::string> headers = numbered(view, kImportHeader);
    for (std::size_t i = 0; i < headers.size(); ++i) {
        env.set(("IMPORTER_EXTRA_HEADER_" + std::to_string(i)).c_str(), headers[i]);
    }
    return env.take();
}

json::Object mount(const std::string& name, const std::string& path) {
    return {
        {"name",      name},
        {"mountPath", path}
    };
}

struct Volumes {
    json::Array pod;
    json::Array mounts;
    json::Array devices;
};

Volumes volumes_of(const View& view) {
    Volumes out;
    out.pod.push_back(json::Object{
        {"name",                  kDataVolume                                          },
        {"persistentVolumeClaim", json::Object{{"claimName", view.claim.metadata.name}}},
    });
    if (view.claim.spec.is_block()) {
        out.devices.push_back(json::Object{
            {"name",       kDataVolume },
            {"devicePath", kBlockDevice}
        });
    } else {
        out.mounts.push_back(mount(kDataVolume, kDataDir));
    }
    for (const auto& [name, path] : {std::pair(kProgressVolume, kProgressDir), std::pair(kSpoolVolume, kSpoolDir)}) {
        out.pod.push_back(json::Object{
            {"name",     name          },
            {"emptyDir", json::Object()}
        });
        out.mounts.push_back(mount(name, path));
    }
    if (const std::string map = annotation(view, kImportCertConfigMap); !map.empty()) {
        out.pod.push_back(json::Object{
            {"name",      kCertVolume                },
            {"configMap", json::Object{{"name", map}}}
        });
        out.mounts.push_back(mount(kCertVolume, kCertDir));
    }
    const std::vector<std::string> secrets = numbered(view, kImportSecretHeader);
    for (std::size_t i = 0; i < secrets.size(); ++i) {
        const std::string name = kHeaderVolume + std::to_string(i);
        out.pod.push_back(json::Object{
            {"name",   name                                    },
            {"secret", json::Object{{"secretName", secrets[i]}}}
        });
        out.mounts.push_back(mount(name, std::string(kSecretHeaderDir) + "/" + std::to_string(i)));
    }
    return out;
}

json::Object container_security() {
    return {
        {"runAsNonRoot",             true                                      },
        {"runAsUser",                kWorkerUid                                },
        {"allowPrivilegeEscalation", false                                     },
        {"capabilities",             json::Object{{"drop", json::Array{"ALL"}}}},
        {"seccompProfile",           json::Object{{"type", "RuntimeDefault"}}  },
    };
}

json::Object container_of(const View& view, Volumes& volumes) {
    json::Object out{
        {"name",                     "importer"                                       },
        {"image",                    kWorkerImage                                     },
        {"imagePullPolicy",          "IfNotPresent"                                   },
        {"command",                  json::Array{"/usr/bin/berth", "worker", "import"}},
        {"env",                      environment_of(view)                             },
        {"volumeMounts",             std::move(volumes.mounts)                        },
        {"securityContext",          container_security()                             },
        {"terminationMessagePath",   "/dev/termination-log"                           },
        {"terminationMessagePolicy", "FallbackToLogsOnError"                          },
    };
    if (!volumes.devices.empty()) out["volumeDevices"] = std::move(volumes.devices);
    if (!view.settings.worker_resources.is_null()) out["resources"] = view.settings.worker_resources;
    return out;
}

json::Object owner_of(const View& view) {
    return {
        {"apiVersion",         "v1"                         },
        {"kind",               "PersistentVolumeClaim"      },
        {"name",               view.claim.metadata.name     },
        {"uid",                view.claim.metadata.uid.value},
        {"controller",         true                         },
        {"blockOwnerDeletion", true                         },
    };
}

json::Object spec_of(const View& view) {
    Volumes volumes = volumes_of(view);
    json::Object container = container_of(view, volumes);
    json::Object out{
        {"restartPolicy",      "OnFailure"                                      },
        {"enableServiceLinks", false                                            },
        // The claim's volume has already decided the node, and the machine that will use it may tolerate what we do not
        // know: a worker that is kept off that node would hold the machine for ever.
        {"tolerations",        json::Array{json::Object{{"operator", "Exists"}}}},
        {"securityContext",
         json::Object{
             {"runAsNonRoot", true}, {"runAsUser", kWorkerUid}, {"runAsGroup", kWorkerUid}, {"fsGroup", kWorkerUid}
         }                                                                      },
    };
    out["containers"] = json::Array(1, json::Value(std::move(container)));
    out["volumes"] = std::move(volumes.pod);
    if (const std::string name = annotation(view, kPriorityClass); !name.empty()) out["priorityClassName"] = name;
    if (const std::string name = annotation(view, kServiceAccount); !name.empty()) out["serviceAccountName"] = name;
    return out;
}

}  // namespace

json::Value worker_pod_for(const View& view) {
    json::Object metadata{
        {"name",        importer_name(view.claim.metadata.name)},
        {"namespace",   view.claim.metadata.ns                 },
        {"labels",      labels_of(view)                        },
        {"annotations", annotations_of(view)                   },
    };
    metadata["ownerReferences"] = json::Array(1, json::Value(owner_of(view)));
    return json::Object{
        {"apiVersion", "v1"               },
        {"kind",       "Pod"              },
        {"metadata",   std::move(metadata)},
        {"spec",       spec_of(view)      }
    };
}

}  // namespace berth::datavolume::import
