// What the rules of the domain write is put before the real judges: libvirt and QEMU take every kind.
#include <gtest/gtest.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "api/codec.hpp"
#include "launcher/edge/pod_test_world.hpp"
#include "launcher/plan/domain.hpp"

namespace berth::launcher {
namespace {

constexpr std::string_view kDisksDir = "/var/run/kubevirt-private/vmi-disks/data/";

class DomainKinds : public LauncherPod {
protected:
    void connect_libvirt() {
        const auto pod = find("compute");
        ASSERT_TRUE(pod);
        const std::string socket = "/proc/" + std::to_string(pod->pid) + "/root/run/berth/run/libvirt/libvirt-sock";
        virSetErrorFunc(nullptr, [](void*, virErrorPtr) {});
        const auto until = std::chrono::steady_clock::now() + 20s;
        while (libvirt_ == nullptr && std::chrono::steady_clock::now() < until) {
            libvirt_ = virConnectOpen(("qemu+unix:///session?socket=" + socket).c_str());
            if (libvirt_ == nullptr) finish(clock_.sleep_for(20ms));
        }
        ASSERT_NE(libvirt_, nullptr);
    }

    void TearDown() override {
        if (libvirt_ != nullptr) virConnectClose(libvirt_);
        LauncherPod::TearDown();
    }

    /// "" when QEMU runs it, else why not.
    std::string start_and_destroy(const std::string& xml) {
        virDomainPtr domain = virDomainCreateXML(libvirt_, xml.c_str(), VIR_DOMAIN_START_PAUSED);
        if (domain == nullptr) return virGetLastErrorMessage();
        virDomainDestroy(domain);
        virDomainFree(domain);
        return "";
    }

    virConnectPtr libvirt_ = nullptr;
};

TEST_F(DomainKinds, AreTakenByQemu) {
    start_pod();
    for (const char* name : {"a", "b"}) {
        const fs::path path = fs::path(volume("data")) / name;
        std::ofstream(path) << "";
        fs::resize_file(path, 1 << 20);
        ASSERT_EQ(::chown(path.c_str(), 107, 107), 0);
    }
    connect_libvirt();
    const char* const rows[] = {
        R"({"devices": {"disks": [{"name": "a", "serial": "A", "disk": {"bus": "virtio"}}, {"name": "b", "disk": {"bus": "scsi"}}]}})",
        R"({"devices": {"disks": [{"name": "a", "disk": {"bus": "sata"}}, {"name": "b", "cdrom": {"bus": "sata"}}, {"name": "c", "cdrom": {"bus": "scsi"}}]}})",
        R"({"machine": {"type": "pc"}, "devices": {"rng": {}, "disks": [{"name": "a", "disk": {"bus": "sata"}}, {"name": "b", "disk": {"bus": "virtio"}}]}})",
        R"({"devices": {"autoattachMemBalloon": true, "interfaces": [{"name": "n", "model": "e1000", "bootOrder": 1, "macAddress": "52:54:00:00:00:01"}],
            "disks": [{"name": "a", "shareable": true, "disk": {"bus": "virtio", "readonly": true}}]}})",
        R"({"cpu": {"model": "Nehalem", "sockets": 2, "cores": 2}, "clock": {"timezone": "Europe/Berlin"}, "devices": {"autoattachPodInterface": false,
            "disks": [{"name": "a", "cache": "writethrough", "io": "threads", "errorPolicy": "report", "disk": {"bus": "usb"}}]}})",
        R"({"firmware": {"uuid": "5d307ca9-b3ef-428c-8861-06e72d69f223", "bootloader": {"bios": {"useSerial": true}}}, "clock": {"utc": {"offsetSeconds": 60}},
            "devices": {"autoattachSerialConsole": false, "interfaces": [{"name": "x"}, {"name": "y"}], "disks": []}})",
    };
    for (const char* row : rows) {
        SCOPED_TRACE(row);
        auto document = json::parse(R"({"metadata": {"name": "kind", "namespace": "default"}, "spec": {}})");
        json::set(*document, "/spec/domain", *json::parse(row));
        json::set(*document, "/spec/domain/memory", *json::parse(R"({"guest": "64Mi"})"));
        json::set(
            *document,
            "/spec/volumes",
            *json::parse(
                R"([{"name": "a", "persistentVolumeClaim": {"claimName": "a"}}, {"name": "b", "persistentVolumeClaim": {"claimName": "b"}}])"
            )
        );
        auto vmi = api::decode<api::VirtualMachineInstance>(*document);
        ASSERT_TRUE(vmi) << vmi.error().message;
        const std::string folder(kDisksDir);
        auto plan = plan_disks(
            *vmi,
            {
                {.name = "a", .path = folder + "a"},
                {.name = "b", .path = folder + "b"}
        }
        );
        const auto xml = domain_xml({.vmi = *vmi, .disks = plan.disks, .without_direct_io = {}});
        ASSERT_TRUE(xml) << xml.error().message;
        EXPECT_EQ(start_and_destroy(*xml), "") << *xml;
    }
}

}  // namespace
}  // namespace berth::launcher
