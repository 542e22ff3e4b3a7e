// Rows: which flags are refused, and what the others send.
#include "cli/volume_request.hpp"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

TEST(VolumeRequest, H81_RefusesWhatNoMachineTakes) {
    struct Row {
        VolumeFlags flags;
        std::string names;  // what the message names; "" = accepted
    };
    const Row rows[] = {
        {{.volume = "v"},                                      ""           },
        {{.volume = "v", .bus = "virtio"},                     ""           },
        {{.volume = "v", .disk_type = "lun"},                  ""           },
        {{.volume = "v", .cache = "writeback"},                ""           },
        {{.volume = "v", .disk_type = "lun", .bus = "virtio"}, "--bus"      },
        {{.volume = "v", .disk_type = "cdrom"},                "--disk-type"},
        {{.volume = "v", .bus = "sata"},                       "--bus"      },
        {{.volume = "v", .bus = ""},                           "--bus"      },
        {{.volume = "v", .cache = "directsync"},               "--cache"    },
        {{.volume = std::string(63, 'v')},                     ""           },
        {{.volume = std::string(64, 'v')},                     "--disk-name"},
        {{.volume = std::string(64, 'v'), .disk_name = "d"},   ""           },
        {{.volume = "v", .disk_name = std::string(64, 'd')},   "--disk-name"},
    };
    for (const Row& row : rows) {
        const Result<void> checked = check(row.flags);
        SCOPED_TRACE(row.flags.volume + " " + row.flags.disk_type + " " + row.flags.bus + " " + row.flags.cache);
        ASSERT_EQ(checked.has_value(), row.names.empty());
        if (!checked) EXPECT_NE(checked.error().message.find(row.names), std::string::npos) << checked.error().message;
    }
}

TEST(VolumeRequest, SaysAllOfTheDisk) {
    struct Row {
        VolumeFlags flags;
        DiskSource source;
        std::string body;
    };
    const Row rows[] = {
        {{.volume = "v"},
         DiskSource::data_volume,
         R"({"name":"v","disk":{"name":"v","serial":"v","disk":{"bus":"scsi"}},)"
         R"("volumeSource":{"dataVolume":{"name":"v","hotpluggable":true}}})"                                 },
        {{.volume = "c", .dry_run = true, .disk_name = "d", .disk_type = "lun"},
         DiskSource::claim,
         R"({"name":"d","disk":{"name":"d","serial":"d","lun":{"bus":"scsi"}},)"
         R"("volumeSource":{"persistentVolumeClaim":{"claimName":"c","hotpluggable":true}},"dryRun":["All"]})"},
        {{.volume = "v", .bus = "virtio", .serial = "S1", .cache = "none"},
         DiskSource::data_volume,
         R"({"name":"v","disk":{"name":"v","serial":"S1","disk":{"bus":"virtio"},"cache":"none"},)"
         R"("volumeSource":{"dataVolume":{"name":"v","hotpluggable":true}}})"                                 },
    };
    for (const Row& row : rows) EXPECT_EQ(add_body(row.flags, row.source), json::parse(row.body).value());
    EXPECT_EQ(remove_body({.volume = "v"}), json::parse(R"({"name":"v"})").value());
    EXPECT_EQ(remove_body({.volume = "v", .dry_run = true}), json::parse(R"({"name":"v","dryRun":["All"]})").value());
}

}  // namespace
}  // namespace berth::cli
