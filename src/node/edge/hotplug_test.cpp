// What can be said of plugs without a machine: where a claim lies, what a record keeps, which devices a list allows.
#include <gtest/gtest.h>

#include <sys/sysmacros.h>

#include "node/edge/device_rules.hpp"
#include "node/edge/plug_record.hpp"
#include "node/edge/plug_source.hpp"

namespace berth::node {
namespace {

TEST(PlugSources, R14_TheClaimIsTheOneOfTheVolumesOwnPod) {
    const std::string pods = "/k/pods";
    // Two attachment pods have claims of one disk, /dev/sdb (8:16); a third claim is a folder of the root disk (8:1).
    const std::vector<solo::MountPoint> node = solo::parse_mounts(
        "20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "30 20 8:16 / /data rw - ext4 /dev/sdb rw\n"
        "31 20 8:16 /claims /k/pods/old/volumes/csi/pvc/mount rw - ext4 /dev/sdb rw\n"
        "32 20 8:16 /claims /k/pods/new/volumes/csi/pvc/mount rw - ext4 /dev/sdb rw\n"
        "33 20 8:16 /other /mnt/other rw - ext4 /dev/sdb rw\n"
        "40 20 0:50 / /mnt/share rw - nfs4 server:/a rw\n"
        "41 20 0:50 / /mnt/other-share rw - nfs4 server:/b rw\n"
    );
    struct Row {
        const char* given;
        const char* there;
        std::vector<std::string> wanted;
    };
    const Row rows[] = {
        {"the pod named in the status, then the disk itself",
         "9 1 8:16 /claims/a /hotplug/v rw - ext4 /dev/sdb rw\n",                                                       {"/k/pods/new/volumes/csi/pvc/mount/a", "/data/claims/a"}},
        {"a hostPath outside of all pods",                    "9 1 8:1 /srv/disks /hotplug/v rw - ext4 /dev/sda1 rw\n", {"/srv/disks"}                                           },
        {"a part of a name is no folder",                     "9 1 8:16 /claimsx /hotplug/v rw - ext4 /dev/sdb rw\n",   {"/data/claimsx"}                                        },
        {"the top of a disk",                                 "9 1 8:16 / /hotplug/v rw - ext4 /dev/sdb rw\n",          {"/data"}                                                },
        {"another export of the same server",                 "9 1 0:50 /x /hotplug/v rw - nfs4 server:/b rw\n",        {"/mnt/other-share/x"}
        },
        {"a disk that the node does not see",                 "9 1 8:32 / /hotplug/v rw - ext4 /dev/sdc rw\n",          {}                                                       },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.given);
        const std::vector<solo::MountPoint> there = solo::parse_mounts(row.there);
        ASSERT_EQ(there.size(), 1U);
        EXPECT_EQ(host_paths(node, there.front(), pods, Uid{"new"}), row.wanted);
    }
}

TEST(PlugRecords, RoundTripAndDamage) {
    PlugRecord record{
        .host = {Uid{"vmi-1"}, Uid{"pod-1"}},
          .boot = "b00t"
    };
    record.entries = {
        {{.volume = "data", .claim = Uid{"c1"}, .attachment_pod = Uid{"a1"}, .shared = true}, "/k/data.img", 2049, 77},
        {{.volume = "raw", .claim = Uid{"c2"}, .attachment_pod = Uid{"a1"}, .block = true},   "/k/raw",      1794, 0 },
    };
    const std::string text = print(record);
    EXPECT_EQ(parse_record(text), record);
    for (std::size_t length = 0; length < text.size(); ++length)
        EXPECT_FALSE(parse_record(std::string_view(text).substr(0, length))) << "torn after " << length << " bytes";
    std::string changed = text;
    changed.replace(changed.find("2049"), 4, "2050");
    EXPECT_FALSE(parse_record(changed));
}

TEST(DeviceRules, WhatAListAllows) {
    const std::string list = "c 1:3 rwm\nb *:* m\nb 7:1 rwm\nb 7:20 r\n";
    EXPECT_TRUE(allows(list, gnu_dev_makedev(7, 1)));
    EXPECT_FALSE(allows(list, gnu_dev_makedev(7, 10)));
    EXPECT_FALSE(allows(list, gnu_dev_makedev(7, 20))) << "only to read";
    EXPECT_FALSE(allows(list, gnu_dev_makedev(1, 3))) << "a character device";
    EXPECT_TRUE(allows("a *:* rwm\n", gnu_dev_makedev(7, 10)));
}

}  // namespace
}  // namespace berth::node
