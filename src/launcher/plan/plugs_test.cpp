// What is done for each plugged disk, as rows: what is wanted and what the guest has on the left, what follows on the
// right. Then the letters, the devices, the sizes, and the record.
#include "launcher/plan/plugs.hpp"

#include <gtest/gtest.h>

#include "api/codec.hpp"
#include "json/value.hpp"

namespace berth::launcher {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kNow{1'000'000s};
const std::string kDir(kHotplugDisksDir);

MachineDisk wanted(std::string name, std::string bus = "scsi", std::string device = "disk") {
    MachineDisk out;
    out.path = kDir + "/" + name + ".img";
    out.spec.name = std::move(name);
    out.bus = std::move(bus);
    out.device = std::move(device);
    out.target = "sdc";
    out.unit = 2;
    return out;
}
MachineDisk drive(std::string name, bool has_medium) {
    MachineDisk out = wanted(std::move(name), "sata", "cdrom");
    if (!has_medium) out.path.clear();
    return out;
}
LiveDisk live(std::string name, std::string bus = "scsi", std::string device = "disk") {
    std::string path = kDir + "/" + name + ".img";
    return {std::move(name), "sdc", true, std::move(device), std::move(bus), std::move(path)};
}
LiveDisk live_drive(std::string name, bool has_medium) {
    LiveDisk out = live(std::move(name), "sata", "cdrom");
    if (!has_medium) out.path.clear();
    out.has_medium = has_medium;
    return out;
}
template <class T, class F>
T with(T value, F change) {
    change(value);
    return value;
}

// "detach v 1" = asked for the first time; "error v", "look 4s", …
std::string print(const PlugPlan& plan) {
    std::string out;
    const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
    for (const Operation& one : plan.operations) {
        switch (one.act) {
            case Act::attach: add("attach " + one.disk.spec.name + " " + one.disk.target); break;
            case Act::detach: add("detach " + one.live.name); break;
            case Act::change_medium: add((one.disk.path.empty() ? "eject " : "insert ") + one.live.name); break;
            case Act::grow: add("grow " + one.live.name); break;
        }
    }
    for (const agent::Detaching& one : plan.detaching) add(one.name + " asked " + std::to_string(one.requests));
    for (const agent::DiskError& one : plan.errors) add("error " + one.name);
    if (plan.look_again_at) add("look in " + std::to_string((*plan.look_again_at - kNow) / 1s) + "s");
    return out;
}

PlugView seen(std::vector<MachineDisk> desired, std::vector<LiveDisk> has) {
    PlugView view;
    view.desired = std::move(desired);
    view.live = std::move(has);
    view.now = kNow;
    return view;
}
auto asked(std::string name, Duration ago, std::int64_t requests = 1) {
    return [=](PlugView& view) { view.memory.asked[name] = {kNow - ago, kNow - ago, requests}; };
}

TEST(Plugs, Rows) {
    const auto unready = [](PlugView& view) { view.unready = {"v"}; };
    const auto busy = [](PlugView& view) { view.busy = {"v"}; };
    const auto failed = [](PlugView& view) { view.failures["v"] = {"no", kNow + 3s, 4s}; };
    const auto failed_before = [](PlugView& view) { view.failures["v"] = {"no", kNow - 1s, 4s}; };
    const auto told = [](std::int64_t before) {
        return [before](PlugView& view) {
            view.desired[0].claim_size = 20;
            if (before != 0) view.memory.sizes["v"] = before;
        };
    };
    const struct {
        const char* scenario;
        const char* given;
        PlugView view;
        std::string_view rule;
        std::string_view plan;
    } rows[] = {
        {"H-64", "told, not in the guest", seen({wanted("v")}, {}), "disk-comes", "attach v sdc"},
        {"", "told and there", seen({wanted("v")}, {live("v")}), "as-wanted", ""},
        {"", "not told any more", seen({}, {live("v")}), "disk-leaves", "detach v, v asked 1"},
        {"",
         "a disk of the machine itself is left alone", seen({}, {with(live("v"), [](LiveDisk& disk) { disk.path = "/dev/v"; })}),
         "as-wanted", ""},
        {"",
         "asked a moment ago", with(seen({}, {live("v")}), asked("v", 1s)),
         "guest-has-time", "v asked 1, look in 4s"},
        {"", "asked long ago", with(seen({}, {live("v")}), asked("v", 5s, 2)), "disk-leaves", "detach v, v asked 3"},
        {"",
         "the clock was set back", with(seen({}, {live("v")}), asked("v", -3600s)),
         "disk-leaves", "detach v, v asked 2"},
        {"hotplug/R-04",
         "told again while the guest is asked", with(seen({wanted("v")}, {live("v")}), asked("v", 1s)),
         "as-wanted", ""},
        {"", "it has left after all", with(seen({wanted("v")}, {}), asked("v", 1s)), "disk-comes", "attach v sdc"},
        {"", "the same name on another bus", seen({wanted("v", "virtio")}, {live("v")}), "disk-leaves", "detach v"},
        {"",
         "and the guest was asked", with(seen({wanted("v", "virtio")}, {live("v")}), asked("v", 1s)),
         "guest-has-time-for-swap", "look in 4s"},
        {"hotplug/R-08",
         "the same name, another device", seen({with(wanted("v"), [](MachineDisk& disk) { disk.path = kDir + "/v"; })}, {live("v")}),
         "disk-leaves", "detach v"},
        {"hotplug/R-13", "a disk on sata must go", seen({}, {live("v", "sata")}), "bus-keeps-its-disk", "error v"},
        {"", "a disk on sata must come", seen({wanted("v", "sata")}, {}), "bus-takes-no-disk", "error v"},
        {"H-69", "its file did not open", with(seen({wanted("v")}, {}), unready), "waits-for-its-source", ""},
        {"", "a call is under way", with(seen({wanted("v")}, {}), busy), "call-is-under-way", ""},
        {"hotplug/R-23",
         "it failed a moment ago", with(seen({wanted("v")}, {}), failed),
         "waits-after-an-error", "error v, look in 3s"},
        {"", "it failed before", with(seen({wanted("v")}, {}), failed_before), "disk-comes", "attach v sdc, error v"},
        {"", "it failed, and is there", with(seen({wanted("v")}, {live("v")}), failed), "as-wanted", ""},
        {"", "it failed, and nobody wants it", with(seen({}, {}), failed), "", ""},
        {"H-51", "an empty drive", seen({drive("v", false)}, {live_drive("v", false)}), "as-wanted", ""},
        {"H-52", "a medium comes", seen({drive("v", true)}, {live_drive("v", false)}), "medium-comes", "insert v"},
        {"H-52",
         "a medium goes", seen({drive("v", false)}, {live_drive("v", true)}),
         "medium-leaves", "eject v, v asked 1"},
        {"H-52",
         "the guest holds it", with(seen({drive("v", false)}, {live_drive("v", true)}), asked("v", 2s)),
         "guest-has-time", "v asked 1, look in 3s"},
        {"H-53",
         "drive and volume are removed", seen({}, {live_drive("v", true)}),
         "medium-leaves", "eject v, v asked 1"},
        {"H-52",
         "its medium did not open", with(seen({drive("v", true)}, {live_drive("v", false)}), unready),
         "waits-for-its-source", ""},
        {"", "a drive that came later", seen({drive("v", true)}, {}), "drive-is-there-since-boot", "error v"},
        {"H-73", "its size is told for the first time", with(seen({wanted("v")}, {live("v")}), told(0)), "as-wanted", ""
        },
        {"H-73", "its claim has grown", with(seen({wanted("v")}, {live("v")}), told(10)), "disk-grows", "grow v"},
        {"H-73", "its claim is as it was", with(seen({wanted("v")}, {live("v")}), told(20)), "as-wanted", ""},
    };
    std::set<std::string_view> hit;
    for (const auto& row : rows) {
        SCOPED_TRACE(std::string(row.scenario) + " " + row.given);
        const PlugPlan plan = plan_plugs(row.view);
        const auto rule = plan.rules.find("v");
        EXPECT_EQ(rule == plan.rules.end() ? "" : rule->second, row.rule);
        EXPECT_EQ(print(plan), row.plan);
        hit.insert(row.rule);
    }
    EXPECT_EQ(hit.size(), 15U) << "a line of the table that no row reaches";
}

// One that fails, one whose guest does not answer, one that waits for its file: the fourth is not held up (R-23, R-31).
TEST(Plugs, R23_NobodyWaitsForAnother) {
    PlugView view = seen({wanted("bad"), wanted("late"), wanted("good")}, {live("stuck", "virtio")});
    view.failures["bad"] = {"shareable", kNow + 1s, 1s};
    view.unready = {"late"};
    view.memory.asked["stuck"] = {kNow, kNow, 1};
    EXPECT_EQ(print(plan_plugs(view)), "attach good sdc, stuck asked 1, error bad, look in 1s");
}

TEST(Plugs, WhatIsForgotten) {
    PlugView view = seen({wanted("here")}, {live("here"), live("leaves")});
    view.desired[0].claim_size = 7;
    for (const char* name : {"here", "leaves", "gone"}) {
        view.memory.asked[name] = {kNow - 1s, kNow - 1s, 1};
        view.memory.sizes[name] = 7;
        view.failures[name] = {"no", kNow, 1s};
    }
    const PlugPlan plan = plan_plugs(view);
    EXPECT_TRUE(plan.memory.asked.size() == 1 && plan.memory.asked.contains("leaves"));
    EXPECT_TRUE(plan.memory.sizes.size() == 1 && plan.memory.sizes.contains("here"));
    EXPECT_TRUE(plan.failures.size() == 1 && plan.failures.contains("leaves"));
}

TEST(Plugs, RecordRoundTrip) {
    PlugMemory memory;
    memory.asked["v"] = {kNow - 7s, kNow - 2s, 2};
    memory.sizes["w"] = 1 << 30;
    EXPECT_EQ(plug_memory_from(print(memory)), memory);
    for (const char* damaged : {"", "{", "[]", R"({"asked": {"v": 3}, "sizes": {"w": "x"}})"})
        EXPECT_EQ(plug_memory_from(damaged), PlugMemory{}) << damaged;
}

TEST(Plugs, PausesGrowUpToAHalfMinute) {
    std::optional<Failure> failure;
    std::string pauses;
    for (int i = 0; i < 7; ++i) {
        failure = failure_after(failure ? &*failure : nullptr, "no", kNow);
        pauses += std::to_string((failure->again_at - kNow) / 1s) + " ";
    }
    EXPECT_EQ(pauses, "1 2 4 8 16 30 30 ");
}

api::VirtualMachineInstance machine_of(std::initializer_list<const char*> names, std::string_view status = "[]") {
    json::Array disks;
    json::Array volumes;
    for (const std::string name : names) {
        const char* bus = name.starts_with("virtio") ? "virtio" : "scsi";
        disks.push_back(json::Object{
            {"name", name                      },
            {"disk", json::Object{{"bus", bus}}}
        });
        volumes.push_back(json::Object{
            {"name",                  name                                                     },
            {"persistentVolumeClaim", json::Object{{"claimName", name}, {"hotpluggable", true}}}
        });
    }
    json::Value document = json::Object{};
    json::set(document, "/metadata/name", "web");
    json::set(document, "/spec/domain/devices/disks", std::move(disks));
    json::set(document, "/spec/volumes", std::move(volumes));
    json::set(document, "/status/volumeStatus", *json::parse(status));
    auto vmi = api::decode<api::VirtualMachineInstance>(document);
    EXPECT_TRUE(vmi) << vmi.error().message;
    return *std::move(vmi);
}

std::string targets(const api::VirtualMachineInstance& vmi, const Places& places) {
    std::vector<agent::VolumePath> paths;
    for (const api::VmVolume& volume : vmi.spec.volumes)
        paths.push_back({.name = volume.name, .path = kDir + "/" + volume.name + ".img"});
    std::string out;
    for (const MachineDisk& disk : plan_disks(vmi, paths, places).disks)
        out += disk.spec.name + "=" + disk.target + "/" + std::to_string(disk.unit) + " ";
    return out;
}

TEST(Plugs, H68_LettersStayWithTheirDisks) {
    EXPECT_EQ(
        targets(
            machine_of({
                "v0", "v1", "v3", "v4"
    }),
            {{"v0", "sda"}, {"v1", "sdb"}, {"v3", "sdd"}}
        ),
        "v0=sda/0 v1=sdb/1 v3=sdd/3 v4=sdc/2 "
    );
    EXPECT_EQ(
        targets(
            machine_of({
                "v0", "v1", "v3", "v4", "v2"
    }),
            {{"v0", "sda"}, {"v1", "sdb"}, {"v3", "sdd"}, {"v4", "sdc"}}
        ),
        "v0=sda/0 v1=sdb/1 v3=sdd/3 v4=sdc/2 v2=sde/4 "
    );
    const char* status =
        R"([{"name": "v1", "target": "sda"}, {"name": "gone", "target": "sdb"}, {"name": "v2", "target": "sda"}, {"name": "v3", "target": "nonsense"}])";
    EXPECT_EQ(targets(machine_of({"v0", "v1", "v2", "v3"}, status), {}), "v0=sdb/1 v1=sda/0 v2=sdc/2 v3=sdd/3 ")
        << "the status keeps a letter for one disk, and for those in the spec only";
}

TEST(Plugs, R11_NobodyGetsTheLetterOfADiskThatHasNotLeft) {
    EXPECT_EQ(
        targets(
            machine_of({
                "virtio2"
    }),
            {{"virtio1", "vdb"}, {"root", "vda"}}
        ),
        "virtio2=vdc/2 "
    );
    EXPECT_EQ(
        targets(
            machine_of({
                "virtio2"
    }),
            {{"root", "vda"}}
        ),
        "virtio2=vdb/1 "
    ) << "it is free once it is gone";
    EXPECT_EQ(
        targets(
            machine_of({
                "virtio1"
    }),
            {{"virtio1", "sda"}}
        ),
        "virtio1=vda/0 "
    ) << "another bus, another name";
}

SourceFacts good_file() {
    return {.is_device = false, .opens = true, .takes_direct_io = true, .size = 1 << 20, .usable = 0};
}
SourceFacts device() { return {.is_device = true, .opens = true, .takes_direct_io = true, .size = 7, .usable = 0}; }

TEST(Plugs, R31_AnEmptyFileIsNoDisk) {
    const MachineDisk file = wanted("v");
    const MachineDisk block = with(wanted("v"), [](MachineDisk& disk) { disk.block = true; });
    EXPECT_TRUE(is_ready(file, good_file()));
    EXPECT_FALSE(is_ready(file, with(good_file(), [](SourceFacts& facts) { facts.size = 0; })));
    EXPECT_FALSE(is_ready(file, with(good_file(), [](SourceFacts& facts) { facts.opens = false; })));
    EXPECT_FALSE(is_ready(file, device()));
    EXPECT_TRUE(is_ready(block, device()));
    EXPECT_FALSE(is_ready(block, good_file()));
}

TEST(Plugs, H73_SizeOfAGrownClaim) {
    const auto size = [](std::int64_t claim, std::int64_t usable, const char* overhead) {
        MachineDisk disk = wanted("v");
        disk.claim_size = claim;
        disk.overhead = overhead;
        return grown_size(disk, with(good_file(), [&](SourceFacts& facts) { facts.usable = usable; }));
    };
    EXPECT_EQ(size(100 << 20, 0, ""), 100 << 20);
    EXPECT_EQ(size(100 << 20, 50 << 20, "0"), 50 << 20);
    EXPECT_EQ(size(100 << 20, 1 << 30, "0.055"), 94 << 20);  // 94.5 MiB, aligned down
    EXPECT_EQ(size((1 << 20) + 5, 0, "nonsense"), 1 << 20);
    EXPECT_EQ(grown_size(wanted("v"), device()), 7) << "a device is as large as it is";
}

std::string device_of(const MachineDisk& disk, bool has_direct_io = true) {
    const auto xml =
        attach_xml(disk, with(good_file(), [&](SourceFacts& facts) { facts.takes_direct_io = has_direct_io; }));
    return xml ? *xml : xml.error().message;
}

TEST(Plugs, H64_Device) {
    MachineDisk disk = wanted("logs");
    disk.spec.serial = "Logs-A";
    EXPECT_EQ(device_of(disk), R"(<disk type='file' device='disk'>
  <driver name='qemu' type='raw' cache='none' error_policy='stop' discard='unmap'/>
  <source file='/var/run/kubevirt/hotplug-disks/logs.img'/>
  <target dev='sdc' bus='scsi'/>
  <serial>Logs-A</serial>
  <alias name='ua-logs'/>
  <address type='drive' controller='0' bus='0' target='0' unit='2'/>
</disk>
)");
}

// Parts of the device that one field decides, or why there is none.
TEST(Plugs, DeviceRows) {
    const auto lun = [](MachineDisk& disk) {
        disk.device = "lun";
        disk.block = true;
        disk.spec.serial = "x";
    };
    const auto at_address = [](MachineDisk& disk) {
        disk.bus = "virtio";
        disk.spec.disk = api::DiskTarget{.bus = "virtio", .pci_address = "0000:81:01.3"};
    };
    const auto reserved = [](MachineDisk& disk) {
        disk.device = "lun";
        disk.spec.lun = api::DiskTarget{.bus = "scsi", .reservation = true};
    };
    const struct {
        const char* scenario;
        MachineDisk disk;
        bool has_direct_io;
        const char* has;
        const char* has_not;
    } rows[] = {
        {"H-65",
         with(wanted("v"), [](MachineDisk& disk) { disk.preallocated = true; }),
         true, "cache='none' io='native' error_policy",
         "discard"},
        {"H-66",
         with(wanted("v"), [](MachineDisk& disk) { disk.spec.cache = "none"; }),
         false, "no direct I/O, which cache \"none\" needs: use writethrough or writeback",
         "<disk"},
        {"H-66", wanted("v"), false, "cache='writethrough'", "io="},
        {"H-67",
         with(wanted("v"), [](MachineDisk& disk) { disk.spec.shareable = true; }),
         true, "<shareable/>",
         "writethrough"},
        {"hotplug/R-23",
         with(
             wanted("v"),
         [](MachineDisk& disk) {
                 disk.spec.shareable = true;
                 disk.spec.cache = "writeback";
             }
         ), true,
         "is shareable, which cache \"writeback\" does not allow: use none", "<disk"},
        {"hotplug.md 8.1",
         with(wanted("v"), at_address),
         true, "<address type='pci' domain='0x0000' bus='0x81' slot='0x01' function='0x3'/>",
         "type='drive'"},
        {"hotplug.md 8.1",
         with(wanted("v"), reserved),
         true, "lun.reservation needs the helper of persistent reservations",
         "<disk"},
        {"H-70", with(wanted("v"), lun), true, "type='block' device='lun'", "serial"},
        {"", with(wanted("v"), [](MachineDisk& disk) { disk.spec.boot_order = 1; }), true, "ua-v", "boot"},
        {"", with(wanted("v"), [](MachineDisk& disk) { disk.read_only = true; }), true, "<readonly/>", "discard"},
        {"",
         with(wanted("v"), [](MachineDisk& disk) { disk.spec.error_policy = "report"; }),
         true, "error_policy='report'",
         "stop"},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.scenario);
        const std::string text = device_of(row.disk, row.has_direct_io);
        EXPECT_NE(text.find(row.has), text.npos) << text;
        EXPECT_EQ(text.find(row.has_not), text.npos) << text;
    }
}

TEST(Plugs, H52_MediumSaysNothingOfCaching) {
    EXPECT_EQ(medium_xml(drive("v", true), live_drive("v", false)), R"(<disk type='file' device='cdrom'>
  <driver name='qemu' type='raw'/>
  <source file='/var/run/kubevirt/hotplug-disks/v.img'/>
  <target dev='sdc' bus='sata'/>
  <readonly/>
</disk>
)");
    const std::string empty = medium_xml({}, live_drive("v", true));
    EXPECT_NE(empty.find("type='block'"), empty.npos);
    EXPECT_EQ(empty.find("source"), empty.npos);
}

TEST(Plugs, H71_NoPortNamesTheWayOut) {
    const std::string said =
        explain_attach_error(wanted("v", "virtio"), "attach the disk: internal error: No more available PCI slots");
    EXPECT_EQ(
        said,
        "no PCI port is free for one more disk on bus virtio: use bus scsi, or restart the machine, which makes new "
        "ports"
    );
    EXPECT_EQ(explain_attach_error(wanted("v"), "other words"), "other words");
}

}  // namespace
}  // namespace berth::launcher
