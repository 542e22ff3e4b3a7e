#include <gtest/gtest.h>

#include "placement/admission/validate.hpp"
#include "placement/names.hpp"

namespace berth::placement {
namespace {

json::Value parsed(std::string_view text) {
    Result<json::Value> value = json::parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? *std::move(value) : json::Value();
}

json::Value changed(json::Value object, std::string_view pointer, std::string_view text) {
    json::set(object, pointer, parsed(text));
    return object;
}

json::Value good_vm() {
    return parsed(
        R"({"metadata":{"name":"web","namespace":"default","uid":"u1","creationTimestamp":"2026-01-02T00:00:00Z"},
        "spec":{"runStrategy":"Always",
            "dataVolumeTemplates":[{"metadata":{"name":"root"},"spec":{"source":{"blank":{}},"pvc":{"accessModes":["ReadWriteOnce"]}}}],
            "template":{"spec":{"domain":{"memory":{"guest":"1Gi"},"devices":{"disks":[{"name":"root","disk":{"bus":"virtio"}}]}},
                "volumes":[{"name":"root","dataVolume":{"name":"root"}}]}}}})"
    );
}

json::Value good_vmi() {
    json::Value out = good_vm();
    const json::Value spec = *json::find(out, "/spec/template/spec");
    json::set(out, "/spec", spec);
    return out;
}

std::string print(const std::vector<api::Cause>& causes) {
    std::string text;
    for (const api::Cause& cause : causes)
        text += (text.empty() ? "" : "\n") + cause.reason + " " + cause.field + ": " + cause.message;
    return text;
}

TEST(Validate, AGoodVmIsAccepted) {
    EXPECT_EQ(print(validate_vm(good_vm(), nullptr)), "");
    EXPECT_EQ(print(validate_vmi(good_vmi(), nullptr, Writer::user)), "");
}

TEST(Validate, P66_P67_Vm) {
    const std::string entry = "/spec/dataVolumeTemplates/0";
    const struct {
        const char* scenario;
        std::string pointer;
        const char* value;
        const char* message;
    } rows[] = {
        {"P-67",
         "/spec/running",                     "true",
         "FieldValueInvalid spec.running: Running and RunStrategy are mutually exclusive"                                                                                                                 },
        {"P-67",
         "/spec/runStrategy",                 R"("")",
         "FieldValueRequired spec.runStrategy: One of Running or RunStrategy must be specified"                                                                                                           },
        {"1.2",  "/spec/runStrategy",         R"("Sometimes")",                                                   "Invalid RunStrategy (Sometimes)"                                                       },
        {"1.2",  "/spec/template",            "null",                                                             "FieldValueRequired spec.template: missing virtual machine template."                   },
        {"P-66",
         "/spec/template/spec/volumes/0",     R"({"name":"root","persistentVolumeClaim":{"claimName":"other"}})",
         "FieldValueRequired spec.dataVolumeTemplate[0]: DataVolumeTemplate entry spec.dataVolumeTemplate[0] must be "
         "referenced in the VMI template's 'volumes' list"                                                                                                                                                },
        {"P-66",
         entry + "/spec/storage",
         "{}",                                                                                                    "FieldValueInvalid spec.dataVolumeTemplates[0].spec: Duplicate storage definition, both target storage and "
         "target pvc defined"                                                                                                                                                               },
        {"1.8",
         entry + "/spec/pvc",
         "null",                                                                                                  "FieldValueInvalid spec.dataVolumeTemplates[0].spec: Missing Data volume PVC or Storage"},
        {"1.8",  entry + "/metadata/name",    R"("")",                                                            "FieldValueRequired spec.dataVolumeTemplate[0].name"                                    },
        {"1.8",
         entry + "/metadata/namespace",
         R"("else")",                                                                                             "spec.dataVolumeTemplates[0]: Embedded DataVolume namespace else differs"               },
        {"1.8",  entry + "/spec/source",      "{}",                                                               "Missing dataVolume valid source"                                                       },
        {"1.8",  entry + "/spec/source/http", R"({"url":"http://a"})",                                            "Multiple dataVolume sources"                                                           },
        {"1.8",
         entry + "/spec/source",
         "null",                                                                                                  "Data volume should have either Source, SourceRef, or be externally populated"          },
        {"1.8",
         entry + "/spec/pvc/dataSource",
         R"({"kind":"PersistentVolumeClaim","name":"x"})",                                                        "External population is incompatible with Source and SourceRef"                         },
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(std::string(row.scenario) + " " + row.pointer + " " + row.value);
        const std::string got = print(validate_vm(changed(good_vm(), row.pointer, row.value), nullptr));
        EXPECT_NE(got.find(row.message), std::string::npos) << got;
    }
}

TEST(Validate, Machines) {
    const std::string disk = "/spec/domain/devices/disks/0";
    const std::string volume = "/spec/volumes/0";
    const struct {
        const char* about;
        std::string pointer;
        const char* value;
        const char* message;
    } rows[] = {
        {"two volumes of one name",
         "/spec/volumes",                                                         R"([{"name":"root","emptyDisk":{"capacity":"1Gi"}},{"name":"root","emptyDisk":{"capacity":"1Gi"}}])",
         "FieldValueDuplicate spec.volumes[1].name: spec.volumes[0] and spec.volumes[1] must not have the same Name"                                                                                                                                        },
        {"a disk without a volume",        disk + "/name",                        R"("other")",                                                                                         "disks[0].Name 'other' not found"                                   },
        {"no source",                      volume,                                R"({"name":"root"})",                                                                                 "spec.volumes[0] must have exactly one source type set, it has none"
        },
        {"two sources",
         volume + "/emptyDisk",
         R"({"capacity":"1Gi"})",                                                                                                                                                       "must have exactly one source type set, it has 2"                   },
        {"a bad name",                     volume + "/name",                      R"("Root")",                                                                                          "FieldValueInvalid spec.volumes[0].name"                            },
        {"an unnamed claim",               volume + "/dataVolume/name",           R"("")",                                                                                              "FieldValueRequired spec.volumes[0].dataVolume.name"
        },
        {"an empty disk without size",
         volume,                                                                  R"({"name":"root","emptyDisk":{"capacity":"0"}})",
         "spec.volumes[0].emptyDisk.capacity"                                                                                                                                                                                                               },
        {"a containerDisk without image",
         volume,                                                                  R"({"name":"root","containerDisk":{}})",
         "spec.volumes[0].containerDisk.image"                                                                                                                                                                                                              },
        {"cloud-init twice",
         volume,                                                                  R"({"name":"root","cloudInitNoCloud":{"userData":"a","userDataBase64":"Yg=="}})",
         "must have only one of userData"                                                                                                                                                                                                                   },
        {"cloud-init without data",
         volume,                                                                  R"({"name":"root","cloudInitNoCloud":{}})",
         "requires at least one of userData"                                                                                                                                                                                                                },
        {"two targets",                    disk + "/cdrom",                       R"({"bus":"sata"})",                                                                                  "can only have a single target type defined"                        },
        {"a virtio CD-ROM",
         disk,                                                                    R"({"name":"root","cdrom":{"bus":"virtio"}})",
         "Bus type virtio is invalid for CD-ROM device"                                                                                                                                                                                                     },
        {"a serial with a blank",          disk + "/serial",                      R"("a b")",                                                                                           "serial must be made up of the following characters"                },
        {"boot order 0",                   disk + "/bootOrder",                   "0",                                                                                                  "must have a boot order > 0"                                        },
        {"a PCI address on sata",
         disk + "/disk",
         R"({"bus":"sata","pciAddress":"0000:81:01.0"})",                                                                                                                               "setting a PCI address is only possible with bus type virtio"       },
        {"no memory",                      "/spec/domain/memory",                 "null",                                                                                               "no memory requested"                                               },
        {"no memory for the guest",
         "/spec/domain/memory/guest",                                             R"("0")",
         "spec.domain.memory.guest '0': must be greater than 0"                                                                                                                                                                                             },
        {"more memory than its limit",
         "/spec/domain/resources",                                                R"({"limits":{"memory":"512Mi"}})",
         "must be equal to or less than the memory limit"                                                                                                                                                                                                   },
        {"more requested than the limit",
         "/spec/domain/resources",                                                R"({"requests":{"memory":"4Gi"},"limits":{"memory":"2Gi"}})",
         "requests.memory '4Gi' is greater than"                                                                                                                                                                                                            },
        {"more CPU than its limit",
         "/spec/domain/resources",                                                R"({"requests":{"cpu":"4"},"limits":{"cpu":"2"}})",
         "requests.cpu '4' is greater than"                                                                                                                                                                                                                 },
        {"an interface without a network",
         "/spec/domain/devices/interfaces",                                       R"([{"name":"x","bridge":{}}])",
         "interfaces 'x' not found"                                                                                                                                                                                                                         },
        {"a network without an interface", "/spec/networks",                      R"([{"name":"x","pod":{}}])",                                                                         "networks 'x' not found"                                            },
        {"a bad host name",                "/spec/hostname",                      R"("a.b")",                                                                                           "DNS_LABEL"                                                         },
        {"a negative grace period",        "/spec/terminationGracePeriodSeconds", "-1",                                                                                                 "terminationGracePeriodSeconds"                                     },
        {"a bad quantity",                 "/spec/domain/memory/guest",           R"("lots")",                                                                                          "FieldValueInvalid spec"                                            },
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.about);
        const std::string got = print(validate_vmi(changed(good_vmi(), row.pointer, row.value), nullptr, Writer::user));
        EXPECT_NE(got.find(row.message), std::string::npos) << got;
    }
    const json::Value empty_drive = changed(
        good_vmi(),
        "/spec/domain/devices/disks",
        R"([{"name":"root","disk":{}},{"name":"drive","cdrom":{"bus":"sata"}}])"
    );
    EXPECT_EQ(print(validate_vmi(empty_drive, nullptr, Writer::user)), "") << "hotplug 9.19: a drive may be empty";
}

TEST(Validate, VolumesThatNoDiskCanBeMadeOf) {
    for (const std::string source :
         {"hostDisk",
          "configMap",
          "secret",
          "serviceAccount",
          "sysprep",
          "downwardAPI",
          "downwardMetrics",
          "containerPath"}) {
        const std::string volume = R"({"name":"root",")" + source + R"(":{"path":"/x","name":"x"}})";
        const std::string got =
            print(validate_vmi(changed(good_vmi(), "/spec/volumes/0", volume.c_str()), nullptr, Writer::user));
        const std::string told =
            "spec.volumes[0]." + source + ": Unsupported value: no disk can be made of a " + source;
        EXPECT_NE(got.find(told), std::string::npos) << got;
    }
}

TEST(Validate, UpdatesOfMachines) {
    const json::Value old = good_vmi();
    const json::Value other = changed(old, "/spec/domain/memory/guest", R"("2Gi")");
    EXPECT_EQ(
        print(validate_vmi(other, &old, Writer::user)),
        "FieldValueNotSupported spec: update of VMI object is restricted"
    );
    EXPECT_EQ(print(validate_vmi(other, &old, Writer::component)), "");
    const json::Value bad = changed(old, "/spec/volumes", "[]");
    EXPECT_NE(print(validate_vmi(bad, &old, Writer::component)), "");
    EXPECT_EQ(print(validate_vmi(changed(bad, "/metadata/labels", "{}"), &bad, Writer::user)), "")
        << "what was accepted can be changed elsewhere";
    const json::Value bad_vm = changed(good_vm(), "/spec/running", "true");
    EXPECT_EQ(print(validate_vm(changed(bad_vm, "/metadata/finalizers", "[]"), &bad_vm)), "");
}

TEST(Defaults, OfAMachine) {
    json::Value vmi =
        parsed(R"({"metadata":{"name":"web","uid":"u1","creationTimestamp":"2026-01-02T00:00:00Z"},"spec":{
        "domain":{"resources":{"requests":{"memory":"512Mi","cpu":"1500m"}},"devices":{"disks":[{"name":"a"},{"name":"b","cdrom":{}},{"name":"c","lun":{"bus":"scsi"}}]}},
        "volumes":[{"name":"a","emptyDisk":{"capacity":"1Gi"}},{"name":"b","emptyDisk":{"capacity":"1Gi"}},{"name":"c","emptyDisk":{"capacity":"1Gi"}},
            {"name":"d","containerDisk":{"image":"x"}},{"name":"dump","memoryDump":{"claimName":"x"}}]},
        "status":{"phase":"Running","virtualMachineRevisionName":"r"}})");
    json::Value by_user = vmi;
    default_vmi(by_user, solo_config(), Writer::user);
    const auto at = [&](std::string_view pointer) {
        const json::Value* found = json::find(by_user, pointer);
        return found == nullptr ? std::string("-") : json::print(*found);
    };
    EXPECT_EQ(at("/spec/terminationGracePeriodSeconds"), "30");
    EXPECT_EQ(at("/spec/architecture"), R"("amd64")");
    EXPECT_EQ(at("/spec/domain/machine/type"), R"("q35")");
    EXPECT_EQ(at("/spec/domain/cpu/sockets"), "2") << "from the request, rounded up";
    EXPECT_EQ(at("/spec/domain/cpu/cores"), "1");
    EXPECT_EQ(at("/spec/domain/cpu/threads"), "1");
    EXPECT_EQ(at("/spec/domain/cpu/model"), R"("host-model")");
    EXPECT_EQ(at("/spec/domain/memory/guest"), R"("512Mi")");
    EXPECT_EQ(
        at("/spec/domain/devices/disks"),
        R"([{"name":"a","disk":{"bus":"sata"}},{"name":"b","cdrom":{"bus":"sata"}},{"name":"c","lun":{"bus":"scsi"}},{"name":"d","disk":{"bus":"sata"}}])"
    );
    EXPECT_EQ(at("/spec/networks"), R"([{"name":"default","pod":{}}])");
    EXPECT_EQ(at("/spec/domain/devices/interfaces"), R"([{"name":"default","bridge":{}}])");
    EXPECT_EQ(at("/metadata/finalizers"), R"(["kubevirt.io/foregroundDeleteVirtualMachine"])");
    EXPECT_EQ(
        at("/status"),
        R"({"phase":"Pending","phaseTransitionTimestamps":[{"phase":"Pending","phaseTransitionTimestamp":"2026-01-02T00:00:00Z"}],"runtimeUser":107})"
    );
    json::Value by_controller = vmi;
    default_vmi(by_controller, solo_config(), Writer::component);
    EXPECT_EQ(json::text_at(by_controller, "/status/virtualMachineRevisionName"), "r");
    EXPECT_EQ(json::text_at(by_user, "/spec/domain/firmware/uuid").size(), 36U);
    EXPECT_NE(
        json::text_at(by_user, "/spec/domain/firmware/uuid"), json::text_at(by_user, "/spec/domain/firmware/serial")
    );
}

TEST(Defaults, OfAMachineOnArm) {
    json::Value vmi = parsed(
        R"({"metadata":{"uid":"u1"},"spec":{"architecture":"arm64","domain":{"memory":{"guest":"1Gi"},"devices":{"autoattachPodInterface":false}},"volumes":[{"name":"a","emptyDisk":{}}]}})"
    );
    default_vmi(vmi, solo_config(), Writer::user);
    EXPECT_EQ(json::text_at(vmi, "/spec/domain/machine/type"), "virt");
    EXPECT_EQ(json::text_at(vmi, "/spec/domain/devices/disks/0/disk/bus"), "virtio");
    EXPECT_EQ(json::find(vmi, "/spec/networks"), nullptr);
}

TEST(Defaults, WhatIsWrittenStays) {
    json::Value vmi = good_vmi();
    default_vmi(vmi, solo_config(), Writer::user);
    json::Value again = vmi;
    default_vmi(again, solo_config(), Writer::user);
    EXPECT_EQ(json::print(vmi), json::print(again));
    EXPECT_EQ(json::text_at(vmi, "/spec/domain/devices/disks/0/disk/bus"), "virtio");
}

TEST(Defaults, OfAVm) {
    json::Value vm = good_vm();
    default_vm(vm);
    EXPECT_EQ(json::text_at(vm, "/status/printableStatus"), "Stopped");
    EXPECT_EQ(json::text_at(vm, "/metadata/finalizers/0"), kVmFinalizer);
    EXPECT_EQ(json::text_at(vm, "/metadata/annotations/kubevirt.io~1latest-observed-api-version"), "v1");
    const std::string uuid(json::text_at(vm, "/spec/template/spec/domain/firmware/uuid"));
    EXPECT_EQ(uuid.size(), 36U);
    json::Value replaced = good_vm();
    keep_vm(replaced, vm);
    EXPECT_EQ(json::text_at(replaced, "/spec/template/spec/domain/firmware/uuid"), uuid)
        << "a replaced VM is the same machine";
}

TEST(Defaults, AUsersStatusIsTakenBack) {
    const json::Value old = changed(good_vmi(), "/status/phase", R"("Pending")");
    json::Value forged = changed(old, "/status/phase", R"("Running")");
    keep_vmi(forged, old, Writer::user);
    EXPECT_EQ(json::text_at(forged, "/status/phase"), "Pending");
    forged = changed(old, "/status/phase", R"("Running")");
    keep_vmi(forged, old, Writer::component);
    EXPECT_EQ(json::text_at(forged, "/status/phase"), "Running");
    EXPECT_EQ(writer_of("system:node:n1"), Writer::component);
    EXPECT_EQ(writer_of("system:serviceaccount:kubevirt:kubevirt-controller"), Writer::component);
    EXPECT_EQ(writer_of("kubernetes-admin"), Writer::user);
}

}  // namespace
}  // namespace berth::placement
