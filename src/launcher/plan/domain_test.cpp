// The XML of a whole machine, letter by letter, and rows for what single fields of the spec change in it.
#include "launcher/plan/domain.hpp"

#include <gtest/gtest.h>

#include "api/codec.hpp"
#include "launcher/plan/ports.hpp"

namespace berth::launcher {
namespace {

json::Value document_of(std::string_view text) {
    auto document = json::parse(text);
    EXPECT_TRUE(document) << document.error().message;
    return *std::move(document);
}

constexpr std::string_view kWeb = R"({
  "metadata": {"name": "web", "namespace": "default", "uid": "u1"},
  "spec": {
    "domain": {
      "memory": {"guest": "128Mi"},
      "devices": {"disks": [
        {"name": "root", "disk": {"bus": "virtio"}},
        {"name": "data", "serial": "Data-1", "disk": {"bus": "scsi"}},
        {"name": "seed", "cdrom": {"bus": "sata"}}
      ]}
    },
    "volumes": [
      {"name": "root", "containerDisk": {"image": "berth.local/guest"}},
      {"name": "data", "dataVolume": {"name": "web-data"}},
      {"name": "seed", "cloudInitNoCloud": {"userData": "#!/bin/sh\n"}}
    ]
  }
})";

constexpr std::string_view kWebXml = R"(<domain type='qemu'>
  <name>default_web</name>
  <uuid>f5f74787-e3ae-55ea-96dc-d45cd3eadf9b</uuid>
  <memory unit='b'>134217728</memory>
  <vcpu placement='static'>1</vcpu>
  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
  </os>
  <features>
    <acpi/>
    <apic/>
  </features>
  <cpu mode='maximum'>
    <topology sockets='1' cores='1' threads='1'/>
  </cpu>
  <clock offset='utc'/>
  <on_poweroff>destroy</on_poweroff>
  <on_reboot>restart</on_reboot>
  <on_crash>destroy</on_crash>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <disk type='file' device='disk'>
      <driver name='qemu' type='qcow2' cache='writeback' error_policy='stop' discard='unmap'/>
      <source file='/var/run/kubevirt-ephemeral-disks/overlays/root.qcow2'/>
      <target dev='vda' bus='virtio'/>
      <boot order='1'/>
      <alias name='ua-root'/>
    </disk>
    <disk type='block' device='disk'>
      <driver name='qemu' type='raw' cache='none' io='native' error_policy='stop' discard='unmap'/>
      <source dev='/dev/data'/>
      <target dev='sda' bus='scsi'/>
      <serial>Data-1</serial>
      <alias name='ua-data'/>
      <address type='drive' controller='0' bus='0' target='0' unit='0'/>
    </disk>
    <disk type='file' device='cdrom'>
      <driver name='qemu' type='raw' cache='none' error_policy='stop'/>
      <source file='/var/run/kubevirt-ephemeral-disks/cloud-init/seed.iso'/>
      <target dev='sdb' bus='sata'/>
      <alias name='ua-seed'/>
      <readonly/>
    </disk>
    <controller type='usb' model='none'/>
    <controller type='scsi' index='0' model='virtio-scsi'/>
    <controller type='sata' index='0'/>
    <controller type='pci' index='0' model='pcie-root'/>
    <controller type='pci' index='1' model='pcie-root-port'/>
    <controller type='pci' index='2' model='pcie-root-port'/>
    <controller type='pci' index='3' model='pcie-root-port'/>
    <controller type='pci' index='4' model='pcie-root-port'/>
    <controller type='pci' index='5' model='pcie-root-port'/>
    <controller type='pci' index='6' model='pcie-root-port'/>
    <controller type='pci' index='7' model='pcie-root-port'/>
    <controller type='pci' index='8' model='pcie-root-port'/>
    <interface type='user'>
      <model type='virtio'/>
      <alias name='ua-default'/>
      <rom enabled='no'/>
    </interface>
    <serial type='unix'>
      <source mode='bind' path='/run/berth/serial0'/>
      <log file='/run/berth/serial0.log' append='on'/>
      <target port='0'/>
    </serial>
    <memballoon model='none'/>
  </devices>
</domain>
)";

DomainInput input_of(const json::Value& document) {
    auto vmi = api::decode<api::VirtualMachineInstance>(document);
    EXPECT_TRUE(vmi) << vmi.error().message;
    DomainInput out;
    out.vmi = *std::move(vmi);
    auto plan = plan_disks(
        out.vmi,
        {
            {.name = "data", .path = "/dev/data",                                         .block = true },
            {.name = "file", .path = "/var/run/kubevirt-private/vmi-disks/file/disk.img", .block = false}
    }
    );
    EXPECT_TRUE(plan.errors.empty());
    out.disks = std::move(plan.disks);
    return out;
}

std::string xml_of(const DomainInput& input) {
    const auto xml = domain_xml(input);
    return xml ? *xml : "error: " + xml.error().message;
}

TEST(Domain, H64_WholeMachine) { EXPECT_EQ(xml_of(input_of(document_of(kWeb))), kWebXml); }

struct Row {
    const char* scenario;
    const char* pointer;  ///< of the machine's spec
    const char* value;
    const char* has;  ///< text of the XML, or of the error
    const char* lacks = nullptr;
};

constexpr const char* kDomain = "/spec/domain";
constexpr const char* kDisks = "/spec/domain/devices/disks";

TEST(Domain, Rows) {
    const Row rows[] = {
        {"machine pc has no root ports", "/spec/domain/machine", R"({"type": "pc"})", "machine='pc'", "pcie-root"},
        {"a machine without memory", "/spec/domain/memory", R"({})", "error: the machine has no memory"},
        {"memory from the request",
         kDomain, R"({"resources": {"requests": {"memory": "64Mi"}}, "devices": {}})",
         "<memory unit='b'>67108864<"},
        {"processors from the topology",
         "/spec/domain/cpu", R"({"cores": 2, "sockets": 2, "threads": 1})",
         "<vcpu placement='static'>4<"},
        {"topology", "/spec/domain/cpu", R"({"cores": 2, "sockets": 2})", "sockets='2' cores='2' threads='1'"},
        {"processors from the limit",
         "/spec/domain/resources", R"({"limits": {"cpu": "1500m"}})",
         "<topology sockets='2' cores='1'"},
        {"named model, emulated",
         "/spec/domain/cpu", R"({"model": "Nehalem"})",
         "<cpu mode='custom' match='exact' check='none'>"},
        {"host models need KVM", "/spec/domain/cpu", R"({"model": "host-passthrough"})", "<cpu mode='maximum'>"},
        {"features of a named model",
         "/spec/domain/cpu", R"({"model": "Nehalem", "features": [{"name": "aes"}]})",
         "<feature policy='require' name='aes'/>"},
        {"firmware's uuid",
         "/spec/domain/firmware", R"({"uuid": "5d307ca9-b3ef-428c-8861-06e72d69f223"})",
         "<uuid>5d307ca9-b3ef-428c-8861-06e72d69f223<"},
        {"BIOS on the serial port",
         "/spec/domain/firmware", R"({"bootloader": {"bios": {"useSerial": true}}})",
         "<bios useserial='yes'/>"},
        {"time zone",
         "/spec/domain/clock", R"({"timezone": "Europe/Berlin"})",
         "<clock offset='timezone' timezone='Europe/Berlin'/>"},
        {"clock offset",
         "/spec/domain/clock", R"({"utc": {"offsetSeconds": 60}})",
         "<clock offset='variable' adjustment='60' basis='utc'/>"},
        {"no interface", "/spec/domain/devices/autoattachPodInterface", "false", "<memballoon", "<interface"},
        {"e1000",
         "/spec/domain/devices/interfaces", R"([{"name": "a", "model": "e1000", "macAddress": "52:54:00:00:00:01"}])",
         "<mac address='52:54:00:00:00:01'/>\n      <model type='e1000'/>"},
        {"network boot",
         "/spec/domain/devices/interfaces", R"([{"name": "a", "bootOrder": 1}])",
         "<boot order='1'/>\n    </interface>", "cache='writeback'"},
        {"no serial console", "/spec/domain/devices/autoattachSerialConsole", "false", "<memballoon", "<serial type"},
        {"memory balloon on request",
         "/spec/domain/devices/autoattachMemBalloon", "true",
         "<memballoon model='virtio'/>"},
        {"random numbers", "/spec/domain/devices/rng", "{}", "<rng model='virtio'>"},
        {"written boot order",
         kDisks, R"([{"name": "root", "disk": {"bus": "virtio"}}, {"name": "data", "bootOrder": 1, "disk": {"bus": "virtio"}}])",
         "<target dev='vdb' bus='virtio'/>\n      <boot order='1'/>", "<target dev='vda' bus='virtio'/>\n      <boot"},
        {"a drive comes after disks",
         kDisks, R"([{"name": "seed", "cdrom": {"bus": "sata"}}, {"name": "data", "disk": {"bus": "virtio"}}])",
         "<target dev='vda' bus='virtio'/>\n      <boot order='1'/>"},
        {"H-51: a drive without a medium",
         kDisks, R"([{"name": "drive", "cdrom": {"bus": "sata"}}])",
         "<disk type='file' device='cdrom'>\n      <driver name='qemu' type='raw' error_policy='stop'/>\n      <target "
         "dev='sda' bus='sata'/>"},
        {"H-70: a LUN has no serial",
         kDisks, R"([{"name": "data", "serial": "x", "lun": {"bus": "scsi"}}])",
         "<disk type='block' device='lun'>", "<serial>"},
        {"H-67: shareable",
         kDisks, R"([{"name": "data", "shareable": true, "disk": {"bus": "virtio"}}])",
         "cache='none' io='native' error_policy='stop'"},
        {"H-66: cache none needs direct I/O",
         kDisks, R"([{"name": "file", "cache": "none", "disk": {"bus": "virtio"}}])",
         "error: disk \"file\": its storage has no direct I/O"},
        {"H-66: else writethrough",
         kDisks, R"([{"name": "root", "disk": {"bus": "virtio"}}, {"name": "file", "disk": {"bus": "virtio"}}])",
         "cache='writethrough'"},
        {"what is written is kept",
         kDisks, R"([{"name": "file", "cache": "writethrough", "io": "threads", "errorPolicy": "report", "disk": {"bus": "virtio"}}])",
         "cache='writethrough' io='threads' error_policy='report'"},
        {"read only",
         kDisks, R"([{"name": "file", "disk": {"bus": "virtio", "readonly": true}}])",
         "<readonly/>", "discard"},
        {"KubeVirt's default bus", kDisks, R"([{"name": "file", "disk": {}}])", "<target dev='sda' bus='sata'/>"},
        {"usb needs its controller",
         kDisks, R"([{"name": "file", "disk": {"bus": "usb"}}])",
         "<controller type='usb' index='0' model='qemu-xhci'/>"},
        {"text is escaped",
         kDisks, R"([{"name": "file", "serial": "a<b>&'c'", "disk": {"bus": "virtio"}}])",
         "<serial>a&lt;b&gt;&amp;&apos;c&apos;</serial>"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        json::Value document = document_of(kWeb);
        json::Value& volumes = *json::find(document, "/spec/volumes");
        volumes.get_array().push_back(document_of(R"({"name": "file", "persistentVolumeClaim": {"claimName": "file"}})")
        );
        json::set(document, row.pointer, document_of(row.value));
        DomainInput input = input_of(document);
        input.without_direct_io = {"/var/run/kubevirt-private/vmi-disks/file/disk.img"};
        const std::string xml = xml_of(input);
        EXPECT_NE(xml.find(row.has), std::string::npos) << xml;
        if (row.lacks != nullptr) EXPECT_EQ(xml.find(row.lacks), std::string::npos) << xml;
    }
}

TEST(Domain, WithKvm) {
    DomainInput input = input_of(document_of(kWeb));
    input.accelerator = Accelerator::kvm;
    const std::string xml = xml_of(input);
    EXPECT_TRUE(xml.starts_with("<domain type='kvm'>"));
    EXPECT_NE(xml.find("<cpu mode='host-model'>"), std::string::npos);
}

TEST(Ports, H71_Budget) {
    struct PortRow {
        const char* given;
        PortFacts facts;
        std::int64_t total;
    };
    const PortRow rows[] = {
        {"small, one interface",       {.in_use = 3, .interfaces = 1, .memory = 1_GiB, .interface_slots = {}},  8 },
        {"small, no interface",        {.in_use = 2, .interfaces = 0, .memory = 1_GiB, .interface_slots = {}},  8 },
        {"small, many devices",        {.in_use = 12, .interfaces = 0, .memory = 2_GiB, .interface_slots = {}}, 15},
        {"large",                      {.in_use = 3, .interfaces = 1, .memory = 4_GiB, .interface_slots = {}},  16},
        {"large, many devices",        {.in_use = 14, .interfaces = 0, .memory = 4_GiB, .interface_slots = {}}, 20},
        {"slots by annotation",        {.in_use = 2, .interfaces = 1, .memory = 1_GiB, .interface_slots = 9},   10},
        {"never more than buses",      {.in_use = 30, .interfaces = 0, .memory = 4_GiB, .interface_slots = {}}, 31},
        {"placed on the root complex",
         {.in_use = 3, .interfaces = 1, .memory = 4_GiB, .interface_slots = {}, .on_root_complex = true},
         3                                                                                                        },
    };
    for (const PortRow& row : rows) EXPECT_EQ(root_ports(row.facts), row.total) << row.given;
}

}  // namespace
}  // namespace berth::launcher
