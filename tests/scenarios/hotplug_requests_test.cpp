// addvolume and removevolume as a client sees them: codes, bodies, what is stored and what is not.
#include "hotplug_requests_world.hpp"

namespace berth::sim {
namespace {

TEST_F(HotplugRequests, H01_BothGatesOff) {
    run();
    gates("", R"("DeclarativeHotplugVolumes")");
    world.run_for(5s);
    const std::string vm = version_of(api::kVirtualMachine), machine = version_of(api::kVmi);
    for (const char* resource : {kVm, kVmi}) {
        expect_status(add(resource), 400, "BadRequest", "feature gate");
        expect_status(remove(resource), 400, "BadRequest", "feature gate");
    }
    EXPECT_EQ(version_of(api::kVirtualMachine), vm);
    EXPECT_EQ(version_of(api::kVmi), machine);
}

TEST_F(HotplugRequests, H02_AStandaloneInstance) {
    run_instance();
    const kube::Response got = add(kVmi);
    EXPECT_EQ(got.code, 202) << text(got, "/message");
    EXPECT_EQ(got.document, nullptr);
    EXPECT_EQ(got.body, "");
    EXPECT_EQ(
        print(api::kVmi, "/spec/volumes/1"),
        R"({"name":"data","persistentVolumeClaim":{"claimName":"data","hotpluggable":true}})"
    );
    EXPECT_EQ(print(api::kVmi, "/spec/domain/devices/disks/1"), R"({"name":"data","disk":{"bus":"scsi"}})");
    EXPECT_EQ(print(api::kVmi, "/spec/volumes/2"), "-");
}

TEST_F(HotplugRequests, H03_H04_WhatIsIncompleteOrNotThere) {
    run_instance();
    ASSERT_TRUE(world.create(VmText{.name = "off", .strategy = "Halted"}.json()));
    const std::string before = version_of(api::kVmi);
    for (const auto& [resource, name] : {
             std::pair{kVm,  "off"},
             std::pair{kVmi, "web"}
    }) {
        for (const char* body :
             {"",
              "{}",
              "{",
              "}{",
              "- a",
              R"({"name":"v"})",
              R"({"name":"v","disk":{"disk":{"bus":"scsi"}}})",
              R"({"disk":{"disk":{"bus":"scsi"}},"volumeSource":{"dataVolume":{"name":"d"}}})"}) {
            SCOPED_TRACE(body);
            expect_status(send(resource, "addvolume", body, "v1", "*/*", name), 400, "BadRequest");
        }
        for (const char* body : {"", "{}", "{", "- a", R"({"dryRun":["All"]})"})
            expect_status(send(resource, "removevolume", body, "v1", "*/*", name), 400, "BadRequest");
        for (const char* verb : {"addvolume", "removevolume"})
            expect_status(
                send(resource, verb, PlugText{}.json(), "v1", "*/*", "none"), 404, "NotFound", "\"none\" not found"
            );
    }
    EXPECT_EQ(version_of(api::kVmi), before);
}

TEST_F(HotplugRequests, H03_OddBodiesAreAnswered) {
    run_instance();
    const std::string before = print(api::kVmi, "/spec");
    std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string from = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + from;
        for (int j = 1; j < 10; ++j) bomb += "," + from;
        bomb += "]\n";
    }
    const std::string deep(100'000, '[');
    for (const std::string& body : std::initializer_list<std::string>{
             bomb,
             deep,
             "{\"name\":" + deep,
             std::string("\0\0", 2),
             std::string("{\"name\":\"\xff\xfe\"}"),
             std::string("\xff\xfe\x00", 3),
             R"({"name":")" + std::string(100'000, 'a') + "\"}",
             R"({"name":1e999})",
             R"({"name":"v","disk":{"disk":{"bus":"scsi"},"bootOrder":1.5},"volumeSource":{"dataVolume":{"name":"d"}}})",
             R"({"name":"v","disk":{"disk":{"bus":"scsi"}},"volumeSource":[{"dataVolume":{"name":"d"}}]})",
             std::string("? [a, b]\n: c\n"),
             std::string("%YAML 9.9\n---\n..."),
             std::string("!!binary x"),
             std::string("--- a\n--- b\n"),
         }) {
        SCOPED_TRACE(body.substr(0, 60));
        expect_status(send(kVmi, "addvolume", body), 400, "BadRequest");
        expect_status(
            send(kVmi, "removevolume", body.find("\"disk\"") == std::string::npos ? body : "[]"), 400, "BadRequest"
        );
    }
    EXPECT_EQ(send(kVmi, "addvolume", std::string(4 << 20, ' ')).code, 413);
    EXPECT_EQ(print(api::kVmi, "/spec"), before);
}

TEST_F(HotplugRequests, H06_AnInstanceOfAVm) {
    run();
    expect_status(add(kVmi), 400, "BadRequest");
    expect_status(remove(kVmi), 400, "BadRequest");
    gates(R"("HotplugVolumes")", "");
    EXPECT_EQ(add(kVmi).code, 202);
    EXPECT_EQ(print(api::kVirtualMachine, "/spec/template/spec/volumes/1"), "-") << "only the instance has it";
    EXPECT_EQ(remove(kVmi).code, 202);
    EXPECT_EQ(print(api::kVmi, "/spec/volumes/1"), "-");
}

TEST_F(HotplugRequests, H07_H08_H09_ConflictsChangeNothing) {
    run_instance();
    ASSERT_EQ(add(kVmi).code, 202);
    world.run_for(5s);
    const std::string before = print(api::kVmi, "/spec");
    expect_status(add(kVmi, {.claim = "other"}), 409, "Conflict", "[data] already exists");
    expect_status(add(kVmi, {.name = "more"}), 409, "Conflict", "[data] already exists");
    expect_status(
        send(
            kVmi,
            "addvolume",
            R"({"name":"more","disk":{"disk":{"bus":"scsi"}},"volumeSource":{"dataVolume":{"name":"data"}}})"
        ),
        409,
        "Conflict",
        "[data] already exists"
    );
    expect_status(remove(kVmi, "root"), 409, "Conflict", "[root] is not hotpluggable");
    expect_status(remove(kVmi, "none"), 409, "Conflict", "[none] does not exist");
    EXPECT_EQ(print(api::kVmi, "/spec"), before);
}

TEST_F(HotplugRequests, H10_DryRunStoresNothing) {
    run();
    const std::string vm = print(api::kVirtualMachine, "/spec"), machine = print(api::kVmi, "/spec");
    EXPECT_EQ(add(kVm, {.more = R"(,"dryRun":["All"])"}).code, 202);
    world.run_for(60s);
    EXPECT_EQ(print(api::kVirtualMachine, "/spec"), vm);
    EXPECT_EQ(print(api::kVmi, "/spec"), machine);
    EXPECT_TRUE(std::ranges::none_of(world.ever(api::kPod), [](const std::string& pod) {
        return pod.starts_with("hp-volume-");
    }));
    // All checks are made.
    expect_status(add(kVm, {.disk = R"({"disk":{"bus":"sata"}})", .more = R"(,"dryRun":["All"])"}), 422, "Invalid");
    expect_status(add(kVm, {.more = R"(,"dryRun":["Some"])"}), 400, "BadRequest", "dryRun");
    EXPECT_EQ(add(kVm, {.more = R"(,"dryRun":[])"}).code, 202);
    EXPECT_NE(print(api::kVirtualMachine, "/spec"), vm) << "an empty list is a real run";
}

TEST_F(HotplugRequests, H11_YamlAndTheOldVersion) {
    const std::string yaml =
        "name: data\ndisk:\n  disk: {bus: scsi}\n  serial: '0123'\nvolumeSource:\n  persistentVolumeClaim:\n    "
        "claimName: data\n";
    run_instance();
    std::string wanted;
    for (const auto& [version, body, type] : {
             std::tuple{
                        "v1",       PlugText{.disk = R"({"disk":{"bus":"scsi"},"serial":"0123"})"}.json(), "application/json"
             },
             std::tuple{"v1",       yaml,                                                                  "application/yaml"},
             std::tuple{"v1",       yaml,                                                                  "text/plain"      },
             std::tuple{"v1alpha3", yaml,                                                                  "application/json"},
             std::tuple{"v1alpha3", PlugText{.disk = R"({"disk":{"bus":"scsi"},"serial":"0123"})"}.json(), "image/png"       },
    }) {
        SCOPED_TRACE(type);
        const kube::Response got = send(kVmi, "addvolume", body, version, type);
        EXPECT_EQ(got.code, 202) << text(got, "/message");
        const std::string spec = print(api::kVmi, "/spec");
        if (wanted.empty()) wanted = spec;
        EXPECT_EQ(spec, wanted);
        EXPECT_EQ(send(kVmi, "removevolume", "name: data", version, type).code, 202);
        EXPECT_EQ(print(api::kVmi, "/spec/volumes/1"), "-");
        world.run_for(60s);
    }
}

TEST_F(HotplugRequests, H14_PeopleDoNotEditInstances) {
    run_instance();
    const auto refused = world.patch(api::kVmi, "web", R"({"spec":{"volumes":[]}})");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid);
    EXPECT_NE(refused.error().message.find("update of VMI object is restricted"), std::string::npos);
}

TEST_F(HotplugRequests, H15_H16_DisksOfARunningInstance) {
    run_instance();
    for (const char* disk :
         {R"({"disk":{"bus":"sata"}})",
          R"({"disk":{"bus":"usb"}})",
          R"({"disk":{}})",
          R"({"lun":{"bus":"virtio"}})",
          R"({"cdrom":{"bus":"sata"}})",
          R"({})",
          R"({"disk":{"bus":"scsi"},"dedicatedIOThread":true})",
          R"({"disk":{"bus":"scsi"},"bootOrder":0})"}) {
        SCOPED_TRACE(disk);
        expect_status(add(kVmi, {.disk = disk}), 422, "Invalid");
    }
    int count = 0;
    for (const char* disk :
         {R"({"disk":{"bus":"scsi"}})",
          R"({"disk":{"bus":"virtio"}})",
          R"({"lun":{"bus":"scsi"}})",
          R"({"disk":{"bus":"virtio"},"dedicatedIOThread":true})"}) {
        const std::string name = "d" + std::to_string(++count);
        const kube::Response got = add(kVmi, {.name = name, .disk = disk, .claim = name});
        EXPECT_EQ(got.code, 202) << disk << ": " << text(got, "/message");
    }
}

TEST_F(HotplugRequests, R20_R23_WhatIsRefusedAtOnce) {
    SCOPED_TRACE("hotplug/R-20, hotplug/R-23");
    run_instance();
    expect_status(
        add(kVmi, {.disk = R"({"disk":{"bus":"scsi"},"shareable":true,"cache":"writeback"})"}),
        422,
        "Invalid",
        "shareable"
    );
    EXPECT_EQ(add(kVmi, {.disk = R"({"disk":{"bus":"scsi"},"shareable":true,"cache":"none"})"}).code, 202);
    ASSERT_TRUE(world.create(std::string_view(
        R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":"shut"},"spec":{"runStrategy":"Halted","template":{
           "spec":{"domain":{"memory":{"guest":"256Mi"},"devices":{"disableHotplug":true}}}}}})"
    )));
    expect_status(send(kVm, "addvolume", PlugText{}.json(), "v1", "", "shut"), 409, "Conflict", "disableHotplug");
}

TEST_F(HotplugRequests, WarningsReachTheClient) {
    run_instance();
    const kube::Response got = add(kVmi, {.disk = R"({"disk":{"bus":"virtio"},"serial":"123456789012345678901"})"});
    EXPECT_EQ(got.code, 202);
    ASSERT_EQ(got.warnings.size(), 1u);
    EXPECT_NE(got.warnings[0].find("first 20 characters"), std::string::npos) << got.warnings[0];
    std::vector<std::string> warnings;
    for (int i = 0; i < 12 && warnings.empty(); ++i) {
        const std::string name = "v" + std::to_string(i);
        warnings = add(kVmi, {.name = name, .disk = R"({"disk":{"bus":"virtio"}})", .claim = name}).warnings;
        EXPECT_TRUE(i >= 2 || warnings.empty()) << "at least three disks fit";
    }
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("use bus scsi"), std::string::npos) << warnings[0];
}

TEST_F(HotplugRequests, H42_AStoppedVmTakesAndGivesVolumes) {
    make({.strategy = "Halted"});
    for (const char* name : {"a", "b"})
        EXPECT_EQ(add(kVm, {.name = name, .claim = std::string("made-up-") + name}).code, 202);
    EXPECT_EQ(
        print(api::kVirtualMachine, "/spec/template/spec/volumes"),
        R"([{"name":"root","dataVolume":{"name":"root"}},{"name":"a","persistentVolumeClaim":{"claimName":"made-up-a","hotpluggable":true}},)"
        R"({"name":"b","persistentVolumeClaim":{"claimName":"made-up-b","hotpluggable":true}}])"
    );
    EXPECT_EQ(remove(kVm, "a").code, 202);
    EXPECT_EQ(
        print(api::kVirtualMachine, "/spec/template/spec/volumes"),
        R"([{"name":"root","dataVolume":{"name":"root"}},{"name":"b","persistentVolumeClaim":{"claimName":"made-up-b","hotpluggable":true}}])"
    );
    EXPECT_EQ(remove(kVm, "b").code, 202);
    EXPECT_EQ(print(api::kVirtualMachine, "/spec/template/spec/domain/devices/disks"), "[]");
    world.run_for(30s);
    EXPECT_TRUE(is_gone(api::kVmi, "web"));
}

}  // namespace
}  // namespace berth::sim
