// Which disks a machine gets, and what the small parts under it do: targets, container disk formats, cloud-init.
#include "launcher/plan/disks.hpp"

#include <gtest/gtest.h>

#include "api/codec.hpp"
#include "launcher/plan/image_probe.hpp"
#include "launcher/plan/iso9660.hpp"

namespace berth::launcher {
namespace {

api::VirtualMachineInstance vmi_of(
    const std::string& disks, const std::string& volumes, const std::string& status = "{}"
) {
    const auto document = json::parse(
        R"({"metadata": {"name": "web.x", "namespace": "default"}, "status": )" + status +
        R"(, "spec": {"domain": {"devices": {"disks": )" + disks + R"(}}, "volumes": )" + volumes + "}}"
    );
    EXPECT_TRUE(document) << document.error().message;
    auto vmi = api::decode<api::VirtualMachineInstance>(*document);
    EXPECT_TRUE(vmi) << vmi.error().message;
    return *std::move(vmi);
}

// "root virtio vda /path raw rw overlay:/image"
std::string print(const DiskPlan& plan) {
    std::string out;
    for (const MachineDisk& disk : plan.disks) {
        out += disk.spec.name + " " + disk.bus + " " + disk.target + " " + disk.path + " " + disk.format +
               (disk.read_only ? " ro" : " rw") + (disk.block ? " block" : "");
        if (const auto* overlay = std::get_if<Overlay>(&disk.preparation))
            out += " over " + overlay->image + " " + overlay->format;
        if (const auto* sparse = std::get_if<SparseFile>(&disk.preparation))
            out += " sparse " + std::to_string(sparse->size);
        if (std::holds_alternative<Seed>(disk.preparation)) out += " seed";
        out += "\n";
    }
    for (const std::string& name : plan.waits_for) out += "waits for " + name + "\n";
    return out;
}

TEST(Disks, EverySource) {
    const auto vmi = vmi_of(
        R"([{"name": "root", "disk": {"bus": "virtio"}}, {"name": "a", "disk": {"bus": "scsi"}}, {"name": "b", "disk": {"bus": "virtio"}},
            {"name": "c", "cdrom": {}}, {"name": "d", "disk": {"bus": "scsi"}}, {"name": "e", "disk": {"bus": "virtio"}}, {"name": "f", "disk": {"bus": "virtio"}}])",
        R"([{"name": "root", "containerDisk": {"image": "x"}}, {"name": "a", "dataVolume": {"name": "dva"}}, {"name": "b", "emptyDisk": {"capacity": "1Mi"}},
            {"name": "c", "cloudInitConfigDrive": {"userData": "x"}}, {"name": "d", "ephemeral": {"persistentVolumeClaim": {"claimName": "d"}}},
            {"name": "e", "persistentVolumeClaim": {"claimName": "e", "hotpluggable": true}}, {"name": "f", "persistentVolumeClaim": {"claimName": "f"}}])"
    );
    const auto plan = plan_disks(
        vmi,
        {
            {.name = "a", .path = "/a/disk.img", .create_if_absent = true, .size = 7        },
            {.name = "d", .path = "/dev/d",      .block = true,            .read_only = true}
    }
    );
    EXPECT_EQ(
        print(plan),
        "root virtio vda /var/run/kubevirt-ephemeral-disks/overlays/root.qcow2 qcow2 rw over "
        "/var/run/kubevirt/container-disks/root.img \n"
        "a scsi sda /a/disk.img raw rw sparse 7\n"
        "b virtio vdb /var/run/kubevirt-ephemeral-disks/empty-disks/b.img raw rw sparse 1048576\n"
        "c sata sdb /var/run/kubevirt-ephemeral-disks/cloud-init/c.iso raw ro seed\n"
        "d scsi sdc /var/run/kubevirt-ephemeral-disks/overlays/d.qcow2 qcow2 rw over /dev/d raw\n"
        "waits for f\n"  // e is hotplugged: it joins when it is attached
    );
}

TEST(Disks, Refused) {
    const auto lost = plan_disks(vmi_of(R"([{"name": "x", "disk": {}}])", "[]"), {});
    ASSERT_EQ(lost.errors.size(), 1U);
    EXPECT_EQ(lost.errors[0].message, "disk \"x\" has no volume: add one of that name");
    const auto other = plan_disks(vmi_of(R"([{"name": "x", "disk": {}}])", R"([{"name": "x", "sysprep": {}}])"), {});
    EXPECT_EQ(other.errors.size(), 1U);
}

TEST(Disks, TargetNames) {
    const std::pair<int, const char*> rows[] = {
        {0,   "vda"  },
        {25,  "vdz"  },
        {26,  "vdaa" },
        {51,  "vdaz" },
        {52,  "vdba" },
        {701, "vdzz" },
        {702, "vdaaa"}
    };
    for (const auto& [unit, name] : rows) EXPECT_EQ(target_name("vd", unit), name);
}

TEST(Disks, ContainerDiskFormats) {
    std::string qcow2("QFI\xfb\0\0\0\x03", 8);
    qcow2.resize(kProbeLength);
    EXPECT_EQ(image_format(qcow2), "qcow2");
    EXPECT_EQ(image_format(std::string(kProbeLength, '\0')), "raw");
    EXPECT_EQ(image_format(""), "raw");
    std::string with_backing_file = qcow2;
    with_backing_file[15] = 1;
    EXPECT_FALSE(image_format(with_backing_file));
    std::string with_data_file = qcow2;
    with_data_file[79] = 4;
    EXPECT_FALSE(image_format(with_data_file));
}

TEST(CloudInit, SeedOfAVolume) {
    const auto vmi = vmi_of(
        "[]",
        R"([{"name": "a", "cloudInitNoCloud": {"userDataBase64": "aGVsbG8K", "networkDataSecretRef": {"name": "n"}}},
                                       {"name": "b", "cloudInitNoCloud": {"userDataBase64": "!"}}])"
    );
    const auto seed = seed_of(vmi, vmi.spec.volumes[0]);
    ASSERT_TRUE(seed) << seed.error().message;
    EXPECT_EQ(seed->user_data, "hello\n");
    EXPECT_EQ(seed->hostname, "web");  // the first label of "web.x"
    EXPECT_EQ(seed->instance_id, "web.x.default");
    EXPECT_EQ(seed->network_data_folder, "/var/run/kubevirt-private/secret/a-ndata");
    EXPECT_FALSE(seed_of(vmi, vmi.spec.volumes[1]));
}

TEST(CloudInit, ImageHasLabelAndFiles) {
    Seed seed;
    seed.instance_id = "i";
    seed.hostname = "web";
    seed.user_data = "#!/bin/sh\n";
    const std::string image = seed_image(seed);
    EXPECT_EQ(image.size() % 2048, 0U);
    EXPECT_EQ(image.substr(32768, 6), std::string("\1CD001"));
    EXPECT_EQ(image.substr(32768 + 40, 7), "cidata ");
    EXPECT_NE(image.find("#!/bin/sh\n"), image.npos);
    EXPECT_NE(image.find(R"({"instance-id":"i","local-hostname":"web"})"), image.npos);
    EXPECT_EQ(image.find("network-config"), image.npos);
    EXPECT_EQ(image, seed_image(seed)) << "the same input gives the same bytes";
    seed.is_config_drive = true;
    EXPECT_EQ(seed_image(seed).substr(32768 + 40, 9), "config-2 ");
}

}  // namespace
}  // namespace berth::launcher
