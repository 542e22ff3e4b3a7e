#include "hotplug/admission/spec.hpp"

#include <gtest/gtest.h>

#include "api/codec.hpp"

namespace berth::hotplug {
namespace {

api::VmiSpec spec_of(const std::string& text) {
    const auto value = json::parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    auto spec = api::decode<api::VmiSpec>(*value);
    EXPECT_TRUE(spec.has_value()) << text;
    return spec ? *std::move(spec) : api::VmiSpec();
}

std::string print(const std::vector<api::Cause>& causes) {
    std::string out;
    for (const api::Cause& cause : causes) out += cause.field + ": " + cause.message + "\n";
    return out;
}

constexpr const char* kClaim = R"({"name":"d","persistentVolumeClaim":{"claimName":"c"}})";
constexpr const char* kPlugged = R"({"name":"d","persistentVolumeClaim":{"claimName":"c","hotpluggable":true}})";
constexpr const char* kImage = R"({"name":"d","containerDisk":{"image":"i"}})";

struct Row {
    const char* given;
    const char* disk;
    const char* volume;
    const char* refused;  ///< where; "" accepts
    Gates gates = {};
};

constexpr Gates kReserves{.reservation = true};
constexpr Gates kLegacy{.legacy = true, .declarative = false};

constexpr Row kRows[] = {
    {"a plain disk", R"({"name":"d","disk":{"bus":"virtio"}})", kClaim, ""},
    {"a name with an underscore", R"({"name":"d_","disk":{"bus":"virtio"}})", "", ".name"},
    {"an empty drive", R"({"name":"d","cdrom":{"bus":"sata"}})", "", ""},
    {"H-54: not offered", R"({"name":"d","cdrom":{"bus":"sata"}})", "", "spec.domain.devices.disks[0]", kLegacy},
    {"read-only on sata", R"({"name":"d","disk":{"bus":"sata","readonly":true}})", kClaim, ".disk.readonly"},
    {"read-only on scsi", R"({"name":"d","disk":{"bus":"scsi","readonly":true}})", kClaim, ""},
    {"a lun without a claim", R"({"name":"d","lun":{"bus":"scsi"}})", kImage, ".lun"},
    {"a lun", R"({"name":"d","lun":{"bus":"sata"}})", kClaim, ""},
    {"a reservation", R"({"name":"d","lun":{"bus":"scsi","reservation":true}})", kClaim, ".lun.reservation"},
    {"its gate is on", R"({"name":"d","lun":{"bus":"scsi","reservation":true}})", kClaim, "", kReserves},
    {"a thread on sata", R"({"name":"d","disk":{"bus":"sata"},"dedicatedIOThread":true})", kClaim, ".dedicatedIOThread"
    },
    {"a thread on virtio", R"({"name":"d","disk":{"bus":"virtio"},"dedicatedIOThread":true})", kClaim, ""},
    {"cache directsync", R"({"name":"d","disk":{"bus":"virtio"},"cache":"directsync"})", kClaim, ".cache"},
    {"cache default", R"({"name":"d","disk":{"bus":"virtio"},"cache":"default"})", kClaim, ".cache"},
    {"cache writeback", R"({"name":"d","disk":{"bus":"virtio"},"cache":"writeback"})", kClaim, ""},
    {"R-23: shared, cached",
     R"({"name":"d","disk":{"bus":"virtio"},"cache":"writeback","shareable":true})", kClaim,
     ".cache"},
    {"shared", R"({"name":"d","disk":{"bus":"virtio"},"shareable":true})", kClaim, ""},
    {"io io_uring", R"({"name":"d","disk":{"bus":"virtio"},"io":"io_uring"})", kClaim, ".io"},
    {"io native", R"({"name":"d","disk":{"bus":"virtio"},"io":"native"})", kClaim, ""},
    {"errorPolicy retry", R"({"name":"d","disk":{"bus":"virtio"},"errorPolicy":"retry"})", kClaim, ".errorPolicy"},
    {"errorPolicy report", R"({"name":"d","disk":{"bus":"virtio"},"errorPolicy":"report"})", kClaim, ""},
    {"an address", R"({"name":"d","disk":{"bus":"virtio","pciAddress":"0000:81:01.10"}})", kClaim, ""},
    {"a short address", R"({"name":"d","disk":{"bus":"virtio","pciAddress":"81:01.0"}})", kClaim, ".disk.pciAddress"},
    {"an address of letters",
     R"({"name":"d","disk":{"bus":"virtio","pciAddress":"0000:8g:01.0"}})", kClaim,
     ".disk.pciAddress"},
    {"block sizes",
     R"({"name":"d","disk":{"bus":"virtio"},"blockSize":{"custom":{"logical":512,"physical":4096,"discardGranularity":1024}}})",
     kClaim, ""},
    {"logical above physical",
     R"({"name":"d","disk":{"bus":"virtio"},"blockSize":{"custom":{"logical":4096,"physical":512}}})", kClaim,
     ".blockSize"},
    {"not a power of two",
     R"({"name":"d","disk":{"bus":"virtio"},"blockSize":{"custom":{"logical":768,"physical":4096}}})", kClaim,
     ".blockSize"},
    {"too small",
     R"({"name":"d","disk":{"bus":"virtio"},"blockSize":{"custom":{"logical":256,"physical":512}}})", kClaim,
     ".blockSize"},
    {"too large",
     R"({"name":"d","disk":{"bus":"virtio"},"blockSize":{"custom":{"logical":512,"physical":4194304}}})", kClaim,
     ".blockSize"},
    {"a granularity between blocks",
     R"({"name":"d","disk":{"bus":"virtio"},"blockSize":{"custom":{"logical":512,"physical":512,"discardGranularity":700}}})",
     kClaim, ".blockSize"},
    {"custom and match",
     R"({"name":"d","disk":{"bus":"virtio"},"blockSize":{"custom":{"logical":512,"physical":512},"matchVolume":{}}})", kClaim,
     ".blockSize"},
    {"match switched off",
     R"({"name":"d","disk":{"bus":"virtio"},"blockSize":{"custom":{"logical":512,"physical":512},"matchVolume":{"enabled":false}}})",
     kClaim, ""},
    {"match", R"({"name":"d","disk":{"bus":"virtio"},"blockSize":{"matchVolume":{"enabled":true}}})", kClaim, ""},
    {"R-13: plugged on sata", R"({"name":"d","disk":{"bus":"sata"}})", kPlugged, ".disk.bus"},
    {"R-13: plugged, no bus", R"({"name":"d","disk":{}})", kPlugged, ".disk.bus"},
    {"R-13: plugged lun on virtio", R"({"name":"d","lun":{"bus":"virtio"}})", kPlugged, ".disk.bus"},
    {"plugged on scsi", R"({"name":"d","disk":{"bus":"scsi"}})", kPlugged, ""},
    {"plugged on virtio", R"({"name":"d","disk":{"bus":"virtio"}})", kPlugged, ""},
    {"a medium", R"({"name":"d","cdrom":{"bus":"sata"}})", kPlugged, ""},
    {"plugged without a disk", "", kPlugged, "spec.volumes[0]"},
};

std::string spec_text(const Row& row) {
    return R"({"domain":{"devices":{"disks":[)" + std::string(row.disk) + R"(]}},"volumes":[)" + row.volume + "]}";
}

TEST(HotplugSpec, Rows) {
    for (const Row& row : kRows) {
        SCOPED_TRACE(row.given);
        const api::VmiSpec spec = spec_of(spec_text(row));
        const std::string got = print(check_spec(spec, nullptr, "spec", row.gates));
        if (*row.refused == '\0') {
            EXPECT_EQ(got, "");
        } else {
            EXPECT_NE(got.find(row.refused + std::string(":")), std::string::npos) << "got: " << got;
            EXPECT_EQ(std::ranges::count(got, '\n'), 1) << got;
        }
        EXPECT_EQ(print(check_spec(spec, &spec, "spec", row.gates)), "") << "what is there already is not looked at";
    }
}

TEST(HotplugSpec, R20_R21_PluggedVolumesNeedAWayIn) {
    const char* disk = R"("disks":[{"name":"sockets","disk":{"bus":"scsi"}}])";
    const std::string volume = R"("volumes":[{"name":"sockets","dataVolume":{"name":"x","hotpluggable":true}}]})";
    const std::string open = R"({"domain":{"devices":{)" + std::string(disk) + "}}," + volume;
    EXPECT_NE(
        print(check_spec(spec_of(open), nullptr, "spec", {})).find("directory of the launcher pod"), std::string::npos
    );
    const std::string shut = R"({"domain":{"devices":{"disableHotplug":true,)" + std::string(disk) + "}}," + volume;
    EXPECT_NE(print(check_spec(spec_of(shut), nullptr, "spec", {})).find("disableHotplug is true"), std::string::npos);
}

}  // namespace
}  // namespace berth::hotplug
