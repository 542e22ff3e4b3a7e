#include "solo/edge/oci_spec.hpp"

#include <gtest/gtest.h>

namespace berth::solo {
namespace {

ContainerSpec wish() {
    ContainerSpec spec;
    spec.pod_uid = Uid{"u1"};
    spec.name = "compute";
    spec.argv = {"/usr/bin/virt-launcher-monitor"};
    spec.hostname = "web";
    spec.uid = 107;
    spec.gid = 107;
    spec.fs_group = 107;
    spec.capabilities = {"NET_BIND_SERVICE"};
    spec.termination_message_path = "/dev/termination-log";
    return spec;
}

Bundle bundle() {
    return {
        .program = "/d/program/berth-1",
        .termination_file = "/d/t",
        .cgroup = "/berth-x/u1/compute",
        .open_files_max = 20000,
        .known_capabilities = {"CAP_CHOWN", "CAP_NET_BIND_SERVICE"},
    };
}

/// The mount on `path` as one line, or "".
std::string mount_on(const json::Value& spec, std::string_view path) {
    for (const json::Value& each : json::find(spec, "/mounts")->as_array()) {
        if (json::text_at(each, "/destination") == path)
            return json::print(each.at("source")) + json::print(each.at("options"));
    }
    return "";
}

struct Row {
    std::string given;
    void (*change)(ContainerSpec&, Bundle&);
    std::string pointer;
    std::string wanted;
};

// A guest's process 1 reads what earlier ones found out, and is told what to run on; nobody else is.
TEST(OciSpec, VmPodsGetTheSeedAndTheAccelerator) {
    Bundle with = bundle();
    with.capability_seed = "/d/capabilities";
    with.accelerator = "tcg";
    const json::Value vm = oci_spec(wish(), with);
    EXPECT_EQ(
        mount_on(vm, "/usr/share/berth/capabilities"), R"("/d/capabilities"["bind","ro","nosuid","nodev","noexec"])"
    );
    EXPECT_NE(json::print(*json::find(vm, "/process/env")).find("BERTH_ACCEL=tcg"), std::string::npos);
    ContainerSpec other = wish();
    other.argv = {"sh"};
    const json::Value shell = oci_spec(other, with);
    EXPECT_EQ(mount_on(shell, "/usr/share/berth/capabilities"), "");
    EXPECT_EQ(json::print(*json::find(shell, "/process/env")).find("BERTH_ACCEL"), std::string::npos);
}

TEST(OciSpec, Fields) {
    const Row rows[] = {
        {"user",                             [](ContainerSpec&,   Bundle&) {},                                         "/process/user",                R"({"uid":107,"gid":107,"additionalGids":[107]})"},
        {"fs group",                         [](ContainerSpec& s, Bundle&) { s.fs_group = 2000; },                     "/process/user/additionalGids", "[107,2000]"
        },
        {"argv",                             [](ContainerSpec&,   Bundle&) {},                                         "/process/args",                R"(["/usr/bin/virt-launcher-monitor"])"          },
        {"entry point",
         [](ContainerSpec& s,                                     Bundle& b) {
             s.argv = {};
             b.image.entry_point = {"sh"};
         },                                                                               "/process/args",
         R"(["sh"])"                                                                                                                                                                                    },
        {"one capability, also ambient",
         [](ContainerSpec&,                                       Bundle&) {},
         "/process/capabilities/ambient",                                                                                                              R"(["CAP_NET_BIND_SERVICE"])"                    },
        {"a capability we lack is left out",
         [](ContainerSpec& s,                                     Bundle&) { s.capabilities = {"CAP_SYS_RESOURCE"}; },
         "/process/capabilities/effective",                                                                                                            "[]"                                             },
        {"privileged",
         [](ContainerSpec& s,                                     Bundle&) { s.privileged = true; },
         "/process/capabilities/effective",                                                                                                            R"(["CAP_CHOWN","CAP_NET_BIND_SERVICE"])"        },
        {"no new privileges",                [](ContainerSpec&,   Bundle&) {},                                         "/process/noNewPrivileges",     "true"                                           },
        {"read-only root",                   [](ContainerSpec&,   Bundle&) {},                                         "/root",                        R"({"path":"rootfs","readonly":true})"           },
        {"own userland is writable",
         [](ContainerSpec&,                                       Bundle& b) { b.image.userland = Userland::own; },
         "/root/readonly",                                                                                                                             "false"                                          },
        {"limits",
         [](ContainerSpec& s,                                     Bundle&) { s.memory_limit = 64_MiB; },
         "/linux/resources/memory",                                                                                                                    R"({"limit":67108864})"                          },
        {"cpu",
         [](ContainerSpec& s,                                     Bundle&) {
             s.cpu_limit = {1500};
             s.cpu_request = {100};
         },                                                                               "/linux/resources/cpu",
         R"({"shares":102,"period":100000,"quota":150000})"                                                                                                                                             },
        {"no cpu wish",                      [](ContainerSpec&,   Bundle&) {},                                         "/linux/resources/cpu",         R"({"shares":2})"                                },
        {"cgroup",                           [](ContainerSpec&,   Bundle&) {},                                         "/linux/cgroupsPath",           R"("/berth-x/u1/compute")"                       },
        {"devices are denied",
         [](ContainerSpec&,                                       Bundle&) {},
         "/linux/resources/devices",                                                                                                                   R"([{"allow":false,"access":"rwm"}])"            },
        {"but for its own",
         [](ContainerSpec&,                                       Bundle& b) {
             b.devices = {
                 {                                             "/dev/root",                                      'b',                          7, 3, true}
             };
         },                                                                                           "/linux/resources/devices/1",
         R"({"allow":true,"type":"b","major":7,"minor":3,"access":"rm"})"                                                                                                                                                                           },
        {"device node",
         [](ContainerSpec&, Bundle& b) {
             b.devices = {
                 {"/dev/root", 'b', 7, 3, false}
             };
         },"/linux/devices/0",
         R"({"path":"/dev/root","type":"b","major":7,"minor":3,"fileMode":432,"uid":107,"gid":107})"},
        {"env: the pod's word is last",
         [](ContainerSpec& s, Bundle& b) {
             b.image.env = {"A=1", "PATH=/x"};
             s.env = {
                 {"A", "2"}
             };
         },                                                                                          "/process/env",
         R"(["PATH=/x","HOME=/","HOSTNAME=web","A=2"])"                                                                                                                                                                          },
        {"open files",
         [](ContainerSpec&, Bundle&) {},
         "/process/rlimits/0",                                                R"({"type":"RLIMIT_NOFILE","hard":20000,"soft":20000})"                                                                                                                  },
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.given);
        ContainerSpec spec = wish();
        Bundle with = bundle();
        row.change(spec, with);
        const json::Value out = oci_spec(spec, with);
        const json::Value* at = json::find(out, row.pointer);
        ASSERT_NE(at, nullptr);
        EXPECT_EQ(json::print(*at), row.wanted);
    }
}

TEST(OciSpec, Mounts) {
    ContainerSpec spec = wish();
    spec.mounts = {
        {.host_path = "/d/inner", .container_path = "/data/inner"},
        {.host_path = "/d/outer", .container_path = "/data", .read_only = true},
        {.host_path = "/d/h", .container_path = "/var/run/kubevirt/hotplug-disks", .follows_host = true},
    };
    const json::Value out = oci_spec(spec, bundle());
    EXPECT_EQ(mount_on(out, "/usr/bin/virt-launcher-monitor"), R"("/d/program/berth-1"["bind","ro","nosuid","nodev"])");
    EXPECT_EQ(mount_on(out, "/dev/termination-log"), R"("/d/t"["bind","rw","nosuid","nodev","noexec"])");
    EXPECT_EQ(mount_on(out, "/data"), R"("/d/outer"["rbind","rprivate","ro"])");
    EXPECT_EQ(mount_on(out, "/var/run/kubevirt/hotplug-disks"), R"("/d/h"["rbind","rslave","rw"])");
    EXPECT_EQ(mount_on(out, "/disk"), "");
    const std::string text = json::print(out);
    EXPECT_LT(text.find("/d/outer"), text.find("/d/inner")) << "a volume inside another one is mounted after it";
}

TEST(OciSpec, DiskImageGetsItsDisk) {
    Bundle with = bundle();
    with.image.is_disk = true;
    with.image.tree = "/d/cache/x/rootfs";
    EXPECT_EQ(
        mount_on(oci_spec(wish(), with), "/disk"), R"("/d/cache/x/rootfs/disk"["bind","ro","nosuid","nodev","noexec"])"
    );
}

TEST(OciSpec, OwnUserlandGetsNoHostFiles) {
    Bundle with = bundle();
    with.image.userland = Userland::own;
    with.etc_dir = "/d/etc";
    const json::Value out = oci_spec(wish(), with);
    EXPECT_EQ(mount_on(out, "/usr/bin/berth"), "");
    EXPECT_EQ(mount_on(out, "/run"), "");
    EXPECT_EQ(mount_on(out, "/etc/hosts"), R"("/d/etc/hosts"["bind","ro","nosuid","nodev"])");
}

}  // namespace
}  // namespace berth::solo
