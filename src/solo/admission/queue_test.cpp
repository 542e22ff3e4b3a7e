// Requests that are written into a VM's status, checked by the function that the API server calls.
#include <gtest/gtest.h>

#include "solo/admission/admission.hpp"

namespace berth::solo {
namespace {

json::Value parsed(std::string_view text) {
    Result<json::Value> value = json::parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? *std::move(value) : json::Value();
}

json::Value machine() {
    return parsed(
        R"({"metadata":{"name":"web","namespace":"default","uid":"m1"},"spec":{"runStrategy":"Always","template":{"spec":{
        "domain":{"memory":{"guest":"256Mi"},"devices":{"disks":[{"name":"root","disk":{"bus":"virtio"}},{"name":"t","disk":{"bus":"scsi"}}]}},
        "volumes":[{"name":"root","containerDisk":{"image":"i"}},{"name":"t","dataVolume":{"name":"dt","hotpluggable":true}}]}}},
        "status":{"ready":true}})"
    );
}
// Has "v" on claim "c" of its own, which its VM does not know.
json::Value instance() {
    return parsed(R"({"metadata":{"name":"web","namespace":"default","uid":"u1"},"spec":{
        "domain":{"memory":{"guest":"256Mi"},"devices":{"disks":[{"name":"root","disk":{"bus":"virtio"}},{"name":"v","disk":{"bus":"scsi"}}]}},
        "volumes":[{"name":"root","containerDisk":{"image":"i"}},{"name":"v","persistentVolumeClaim":{"claimName":"c","hotpluggable":true}}]},
        "status":{"phase":"Running"}})");
}

std::string request(const std::string& name, const std::string& disk, const std::string& source) {
    return R"({"addVolumeOptions":{"name":")" + name + R"(","disk":)" + disk + R"(,"volumeSource":)" + source + "}}";
}

std::string verdict(const std::string& queue, const json::Value* vmi) {
    const json::Value old = machine();
    json::Value now = old;
    json::set(now, "/status/volumeRequests", parsed("[" + queue + "]"));
    const apiserver::Options options = server_options();
    const kube::User user{"jane", {}};
    std::string out;
    for (const api::Cause& cause :
         options.admission.at(&api::kVirtualMachine).validate(now, &old, {.user = user, .vmi = vmi}))
        out += cause.reason + " " + cause.field + ": " + cause.message + "\n";
    return out;
}

TEST(QueuedRequests, B1_to_B6) {
    const std::string scsi = R"({"name":"x","disk":{"bus":"scsi"}})";
    const std::string on_c = R"({"persistentVolumeClaim":{"claimName":"c","hotpluggable":true}})";
    const std::string on_d = R"({"dataVolume":{"name":"d","hotpluggable":true}})";
    const std::string remove = R"({"removeVolumeOptions":{"name":"t"}})";
    struct Row {
        const char* rule;
        std::string queue;
        const char* refused;
    };
    const Row rows[] = {
        {"an add", request("n", scsi, on_d), ""},
        {"a removal", remove, ""},
        {"B1: nothing", "{}", "either addVolumeOptions or removeVolumeOptions"},
        {"B1: nulls",
         R"({"addVolumeOptions":null,"removeVolumeOptions":null})", "either addVolumeOptions or removeVolumeOptions"},
        {"B1: both",
         R"({"addVolumeOptions":{"name":"n"},"removeVolumeOptions":{"name":"t"}})", "either addVolumeOptions or removeVolumeOptions"},
        {"B2: two adds", request("n", scsi, on_d) + "," + request("n", scsi, on_d), "asked for twice"},
        {"B2: two removals", remove + "," + remove, "asked for twice"},
        {"an add and a removal", request("n", scsi, on_d) + R"(,{"removeVolumeOptions":{"name":"n"}})", ""},
        {"B3: no disk", request("n", "null", on_d), "needs a disk"},
        {"B3: sata", request("n", R"({"disk":{"bus":"sata"}})", on_d), "bus scsi or virtio"},
        {"B3: a drive", request("n", R"({"cdrom":{"bus":"sata"}})", on_d), "from boot"},
        {"B3: order 0", request("n", R"({"disk":{"bus":"scsi"},"bootOrder":0})", on_d), "boot order"},
        {"B4: another volume in the template", request("t", scsi, on_d), "is another one"},
        {"B4: another volume in the machine", request("v", scsi, on_d), "is another one"},
        {"B5: the machine's volume", request("v", scsi, on_c), ""},
        {"the template's volume", request("t", scsi, R"({"dataVolume":{"name":"dt","hotpluggable":true}})"), ""},
        {"B6: no source", request("n", scsi, "{}"), "exactly one source type"},
        {"B6: a bad name", request("N_", scsi, on_d), "lower case letters"},
        {"B6: shared and cached",
         request("n", R"({"disk":{"bus":"scsi"},"shareable":true,"cache":"writeback"})", on_d),
         "shareable"},
    };
    const json::Value vmi = instance();
    for (const Row& row : rows) {
        SCOPED_TRACE(row.rule);
        const std::string got = verdict(row.queue, &vmi);
        if (*row.refused == '\0') {
            EXPECT_EQ(got, "");
        } else {
            EXPECT_NE(got.find(row.refused), std::string::npos) << "got: " << got;
        }
    }
    EXPECT_EQ(verdict(request("v", scsi, on_d), nullptr), "") << "B4: without a machine only the template counts";
}

TEST(QueuedRequests, H19_B7_NotDuringAMigration) {
    json::Value vmi = instance();
    json::set(vmi, "/status/migrationState/startTimestamp", json::Value("2026-01-02T00:00:00Z"));
    const std::string got = verdict(R"({"removeVolumeOptions":{"name":"t"}})", &vmi);
    EXPECT_TRUE(got.starts_with("FieldValueNotSupported status.volumeRequests: ")) << got;
    EXPECT_EQ(verdict("", &vmi), "") << "an empty queue asks for nothing";
}

TEST(QueuedRequests, B8_ATemplateIsCheckedWhole) {
    const json::Value old = machine();
    json::Value now = old;
    json::find(now, "/spec/template/spec/domain/devices/disks/1/disk/bus")->emplace_string() = "sata";
    const apiserver::Options options = server_options();
    const kube::User user{"jane", {}};
    const auto causes = options.admission.at(&api::kVirtualMachine).validate(now, &old, {.user = user});
    ASSERT_EQ(causes.size(), 1u) << "hotplug/R-13";
    EXPECT_EQ(causes[0].field, "spec.template.spec.domain.devices.disks[1].disk.bus");
}

}  // namespace
}  // namespace berth::solo
