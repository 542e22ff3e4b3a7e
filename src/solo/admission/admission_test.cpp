// Updates of running instances, checked by the function that the API server calls.
#include "solo/admission/admission.hpp"

#include <gtest/gtest.h>

namespace berth::solo {
namespace {

json::Value parsed(std::string_view text) {
    Result<json::Value> value = json::parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? *std::move(value) : json::Value();
}

// Permanent: root, an empty drive "drive". Plugged: p1 on c1. Settings are handed in by their gates.
json::Value running() {
    return parsed(R"({"metadata":{"name":"web","namespace":"default"},
        "spec":{"domain":{"cpu":{"cores":1},"memory":{"guest":"256Mi"},"devices":{"disks":[
            {"name":"root","disk":{"bus":"virtio"}},{"name":"drive","cdrom":{"bus":"sata"}},{"name":"p1","disk":{"bus":"scsi"}}]}},
        "volumes":[{"name":"root","containerDisk":{"image":"i"}},
            {"name":"p1","persistentVolumeClaim":{"claimName":"c1","hotpluggable":true}}]},
        "status":{"phase":"Running","volumeStatus":[{"name":"p1","target":"sda","hotplugVolume":{}},{"name":"root","target":"vda"}]}})"
    );
}

struct Edit {
    const char* pointer;
    const char* value;  ///< "" removes
};

json::Value edited(json::Value object, const std::vector<Edit>& edits) {
    for (const Edit& edit : edits) {
        const std::string pointer(edit.pointer);
        const std::size_t dash = pointer.rfind("/-");
        if (dash != std::string::npos && dash + 2 == pointer.size()) {
            json::find(object, pointer.substr(0, dash))->get_array().push_back(parsed(edit.value));
        } else if (*edit.value != '\0') {
            if (json::Value* found = json::find(object, pointer)) {
                *found = parsed(edit.value);
            } else {
                json::set(object, pointer, parsed(edit.value));
            }
        } else if (json::Value* list = json::find(object, pointer.substr(0, pointer.rfind('/'))); list->is_array()) {
            list->get_array().erase(list->get_array().begin() + std::stoi(pointer.substr(pointer.rfind('/') + 1)));
        } else {
            json::erase(object, pointer);
        }
    }
    return object;
}

json::Value settings(const char* on, const char* off) {
    const std::string developer =
        R"({"featureGates":[)" + std::string(on) + R"(],"disabledFeatureGates":[)" + std::string(off) + "]}";
    return parsed(R"({"spec":{"configuration":{"developerConfiguration":)" + developer + "}}}");
}

std::string verdict(const json::Value& now, const json::Value& old, const json::Value& kubevirt, const char* user) {
    const apiserver::Options options = server_options();
    const kube::User writer{user, {}};
    std::string out;
    for (const api::Cause& cause :
         options.admission.at(&api::kVmi).validate(now, &old, {.user = writer, .kubevirt = &kubevirt})) {
        out += cause.reason + " " + cause.field + ": " + cause.message + "\n";
    }
    return out;
}

constexpr const char* kVolumes = "/spec/volumes/-";
constexpr const char* kDisks = "/spec/domain/devices/disks/-";
constexpr const char* kMoved = R"([{"volumeName":"root"},{"volumeName":"p1"}])";
constexpr const char* kClaim = R"({"name":"n","persistentVolumeClaim":{"claimName":"c2","hotpluggable":true}})";
constexpr const char* kMedium = R"({"name":"drive","persistentVolumeClaim":{"claimName":"iso","hotpluggable":true}})";
constexpr const char* kUtility = R"([{"name":"u","persistentVolumeClaim":{"claimName":"c9"}}])";

struct Row {
    const char* rule;
    const char* given;
    std::vector<Edit> edits;
    const char* refused = "";  ///< a part of the refusal; "" accepts
    const char* on = "";
    const char* off = "";
    std::vector<Edit> before = {};  ///< edits of both versions
};

std::vector<Row> rows_of_old_volumes() {
    return {
        {"A2",
         "a filesystem is a disk as well", {{kVolumes, R"({"name":"fs","dataVolume":{"name":"d","hotpluggable":true}})"},
          {"/spec/domain/devices/filesystems", R"([{"name":"fs","virtiofs":{}}])"}},
         "has no disk"},
        {"A2", "one volume more than disks", {{kVolumes, kClaim}}, "3 volumes for 2 disks"},
        {"A2",
         "a memory dump needs no disk", {{kVolumes, R"({"name":"n","memoryDump":{"claimName":"c2","hotpluggable":true}})"}}},
        {"A2",
         "empty drives count where they are not offered", {{"/spec/terminationGracePeriodSeconds", "5"}},
         "2 volumes for 3 disks", "",
         R"("DeclarativeHotplugVolumes")"},
        {"A3",
         "a permanent volume goes", {{"/spec/volumes/0", ""}, {"/spec/domain/devices/disks/0", ""}},
         "that the machine started with"},
        {"A4",
         "a permanent volume changes", {{"/spec/volumes/0/containerDisk/image", R"("j")"}},
         "\"root\" is there since the start"},
        {"A4",
         "its disk changes", {{"/spec/domain/devices/disks/0/serial", R"("x")"}},
         "disk \"root\" is there since the start"},
        {"A5",
         "a permanent volume that is moved changes", {{"/spec/volumes/0", R"({"name":"root","persistentVolumeClaim":{"claimName":"new"}})"}},
         "", "",
         "", {{"/status/migratedVolumes", kMoved}}},
        {"A6",
         "a plugged volume changes its claim", {{"/spec/volumes/1/persistentVolumeClaim/claimName", R"("c2")"}},
         "\"p1\" is plugged in"},
        {"A6",
         "unless it is moved", {{"/spec/volumes/1/persistentVolumeClaim/claimName", R"("c2")"}},
         "", "",
         "", {{"/status/migratedVolumes", kMoved}}},
        {"A7",
         "a plugged volume's disk changes", {{"/spec/domain/devices/disks/2/serial", R"("x")"}},
         "disk \"p1\" is plugged in"},
        {"A7", "a plugged volume's disk goes", {{"/spec/domain/devices/disks/2", ""}}, "its disk is gone"},
        {"A17", "a plugged volume goes with its disk", {{"/spec/volumes/1", ""}, {"/spec/domain/devices/disks/2", ""}}},
        {"A18", "more sockets", {{"/spec/domain/cpu/maxSockets", "4"}}, "maxSockets"},
        {"A18", "more memory", {{"/spec/domain/memory/maxGuest", R"("1Gi")"}}, "maxGuest"},
    };
}

std::vector<Row> rows_of_new_volumes() {
    const char* const scsi = R"({"name":"n","disk":{"bus":"scsi"}})";
    const auto claim_with = [](const char* disk) {
        return std::vector<Edit>{
            {kVolumes, kClaim},
            {kDisks,   disk  }
        };
    };
    return {
        {"A8",
         "a container disk", {{kVolumes, R"({"name":"n","containerDisk":{"image":"i"}})"}, {kDisks, scsi}},
         "use a claim or a DataVolume"},
        {"A8",
         "a DataVolume", {{kVolumes, R"({"name":"n","dataVolume":{"name":"d","hotpluggable":true}})"}, {kDisks, scsi}}},
        {"A9",
         "a disk of another name", claim_with(R"({"name":"m","cdrom":{"bus":"sata"}})"),
         "\"n\" is new and has no disk"},
        {"A10", "no target", claim_with(R"({"name":"n"})"), "a CD-ROM drive must be there from boot"},
        {"A10",
         "a drive", claim_with(R"({"name":"n","cdrom":{"bus":"sata"}})"),
         "a CD-ROM drive must be there from boot"},
        {"A11", "scsi", claim_with(scsi)},
        {"A11", "virtio", claim_with(R"({"name":"n","disk":{"bus":"virtio"}})")},
        {"A11", "sata", claim_with(R"({"name":"n","disk":{"bus":"sata"}})"), "bus scsi or virtio"},
        {"A11", "usb", claim_with(R"({"name":"n","disk":{"bus":"usb"}})"), "bus scsi or virtio"},
        {"A11", "no bus", claim_with(R"({"name":"n","disk":{}})"), "bus scsi or virtio"},
        {"A12", "lun on scsi", claim_with(R"({"name":"n","lun":{"bus":"scsi"}})")},
        {"A12", "lun on virtio", claim_with(R"({"name":"n","lun":{"bus":"virtio"}})"), "a plugged lun sits on bus scsi"
        },
        {"A13", "a thread on virtio", claim_with(R"({"name":"n","disk":{"bus":"virtio"},"dedicatedIOThread":true})")},
        {"A13",
         "a thread on scsi", claim_with(R"({"name":"n","disk":{"bus":"scsi"},"dedicatedIOThread":true})"),
         "needs bus virtio"},
        {"A14", "order 0", claim_with(R"({"name":"n","disk":{"bus":"scsi"},"bootOrder":0})"), "boot order"},
        {"A14", "order 1", claim_with(R"({"name":"n","disk":{"bus":"scsi"},"bootOrder":1})")},
        {"A15", "a medium for the drive", {{kVolumes, kMedium}}},
        {"A16", "the medium goes", {{"/spec/volumes/2", ""}}, "", "", "", {{kVolumes, kMedium}}},
        {"A16",
         "and empty drives are not offered: H-54", {{"/spec/volumes/2", ""}},
         "2 volumes for 3 disks", "",
         R"("DeclarativeHotplugVolumes")", {{kVolumes, kMedium}}},
        {"A19", "a utility volume", {{"/spec/utilityVolumes", kUtility}}, "", R"("UtilityVolumes")"},
        {"A19", "without its gate", {{"/spec/utilityVolumes", kUtility}}, "feature gate UtilityVolumes"},
        {"A19",
         "without a name", {{"/spec/utilityVolumes", R"([{"persistentVolumeClaim":{"claimName":"c9"}}])"}},
         "needs a name", R"("UtilityVolumes")"},
        {"A19",
         "without a claim", {{"/spec/utilityVolumes", R"([{"name":"u"}])"}},
         "the name of a claim", R"("UtilityVolumes")"},
        {"A19",
         "twice", {{"/spec/utilityVolumes", R"([{"name":"p1","persistentVolumeClaim":{"claimName":"c9"}}])"}},
         "is there twice", R"("UtilityVolumes")"},
        {"A19",
         "permanent", {{"/spec/utilityVolumes", kUtility}},
         "since the start", R"("UtilityVolumes")",
         "", {{"/status/volumeStatus/-", R"({"name":"u"})"}}},
        {"A19",
         "changed", {{"/spec/utilityVolumes/0/persistentVolumeClaim/claimName", R"("c8")"}},
         "cannot be changed", R"("UtilityVolumes")",
         "", {{"/spec/utilityVolumes", kUtility}}},
    };
}

TEST(VmiUpdates, H17_Rows) {
    std::vector<Row> rows = rows_of_old_volumes();
    std::ranges::move(rows_of_new_volumes(), std::back_inserter(rows));
    for (const Row& row : rows) {
        SCOPED_TRACE(std::string(row.rule) + ": " + row.given);
        const json::Value old = edited(running(), row.before);
        const json::Value now = edited(old, row.edits);
        const json::Value kubevirt = settings(row.on, row.off);
        const std::string got = verdict(now, old, kubevirt, "system:serviceaccount:kubevirt:kubevirt-apiserver");
        if (*row.refused == '\0') {
            EXPECT_EQ(got, "");
        } else {
            EXPECT_NE(got.find(row.refused), std::string::npos) << "got: " << got;
        }
        EXPECT_EQ(
            verdict(now, old, kubevirt, "jane"), "FieldValueNotSupported spec: update of VMI object is restricted\n"
        ) << "A1, H-14";
    }
}

TEST(VmiUpdates, AnUnchangedSpecIsNotChecked) {
    const json::Value old = edited(
        running(),
        {
            {"/spec/domain/devices/disks/0", ""}
    }
    );
    const json::Value now = edited(
        old,
        {
            {"/status/phase", R"("Failed")"}
    }
    );
    EXPECT_EQ(verdict(now, old, settings("", ""), "system:serviceaccount:kubevirt:kubevirt-controller"), "");
}

}  // namespace
}  // namespace berth::solo
