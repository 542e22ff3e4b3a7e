// A VM's template, its queue of requests, and the running machine that follows them.
#include "hotplug_requests_world.hpp"

namespace berth::sim {
namespace {

using HotplugTemplate = HotplugRequests;

constexpr const char* kRoot = R"({"name":"root","dataVolume":{"name":"root"}})";

std::string template_of(const std::string& volumes, const std::string& disks) {
    return R"({"spec":{"template":{"spec":{"volumes":[)" + std::string(kRoot) + volumes +
           R"(],"domain":{"devices":{"disks":[)" + disks + "]}}}}}}";
}
std::string plugged(const std::string& name, const std::string& claim) {
    return R"(,{"name":")" + name + R"(","persistentVolumeClaim":{"claimName":")" + claim +
           R"(","hotpluggable":true}})";
}
std::string on_scsi(const std::string& name) { return R"({"name":")" + name + R"(","disk":{"bus":"scsi"}})"; }

TEST_F(HotplugTemplate, H43_H44_H45_TheMachineFollowsWhatCanBePlugged) {
    run();
    const auto patch = [&](const std::string& text) { return world.patch(api::kVirtualMachine, "web", text); };
    ASSERT_TRUE(patch(template_of(plugged("data", "c"), on_scsi("data"))));
    EXPECT_TRUE(machine_has("root data | root data"));
    world.run_for(30s);
    EXPECT_FALSE(needs_restart()) << "H-43";
    ASSERT_TRUE(patch(
        R"({"spec":{"template":{"spec":{"volumes":[],"domain":{"devices":{"disks":[]}}}},"dataVolumeTemplates":[]}})"
    ));
    EXPECT_TRUE(machine_has("root | root")) << "H-45";
    ASSERT_TRUE(patch(template_of(R"(,{"name":"fixed","persistentVolumeClaim":{"claimName":"c"}})", on_scsi("fixed"))));
    world.run_for(30s);
    EXPECT_EQ(lists(), "root | root") << "H-44";
    EXPECT_TRUE(needs_restart());
}

TEST_F(HotplugTemplate, H48_VolumesThatMigrateAreNotPlugged) {
    run();
    ASSERT_TRUE(world.patch(api::kVirtualMachine, "web", R"({"spec":{"updateVolumesStrategy":"Migration"}})"));
    ASSERT_TRUE(world.patch(api::kVirtualMachine, "web", template_of(plugged("data", "c"), on_scsi("data"))));
    world.run_for(90s);
    EXPECT_EQ(lists(), "root | root");
}

TEST_F(HotplugTemplate, H50_ABusThatCannotBePluggedIsRefusedAtOnce) {
    run();
    expect_status(add(kVm, {.disk = R"({"disk":{"bus":"sata"}})"}), 422, "Invalid");
    EXPECT_EQ(add(kVm).code, 202);
    EXPECT_TRUE(machine_has("root data | root data"));
    EXPECT_TRUE(condition_of_vm("Failure").is_null());
}

TEST_F(HotplugTemplate, H50_WhatTheMachineRefusesIsAConditionUntilItIsRepaired) {
    make({.strategy = "Halted"});
    const auto patch = [&](const std::string& text) { return world.patch(api::kVirtualMachine, "web", text); };
    ASSERT_TRUE(patch(template_of("", R"({"name":"root","disk":{"bus":"virtio"},"bootOrder":1})")));
    EXPECT_EQ(world.machine_verb("web", "start"), 202);
    ASSERT_TRUE(shows("Running"));
    // The template makes sense, but the running machine boots from root until its next start.
    const std::string root = R"({"name":"root","disk":{"bus":"virtio"}},)";
    ASSERT_TRUE(patch(template_of(plugged("data", "c"), root + R"({"name":"data","disk":{"bus":"scsi"},"bootOrder":1})")
    ));
    ASSERT_TRUE(world.until([&] { return !condition_of_vm("Failure").is_null(); }, 90s));
    EXPECT_EQ(json::text_at(condition_of_vm("Failure"), "/reason"), "HotPlugVolumeError");
    EXPECT_NE(json::text_at(condition_of_vm("Failure"), "/message").find("Boot order"), std::string::npos);
    EXPECT_EQ(lists(), "root | root");
    world.run_for(60s);
    EXPECT_FALSE(condition_of_vm("Failure").is_null()) << "as long as it lasts";
    ASSERT_TRUE(patch(template_of(plugged("data", "c"), root + on_scsi("data"))));
    EXPECT_TRUE(machine_has("root data | root data"));
    EXPECT_TRUE(world.until([&] { return condition_of_vm("Failure").is_null(); }, 30s));
}

TEST_F(HotplugTemplate, H18_TheQueueIsWorkedOff) {
    run();
    gates(R"("HotplugVolumes")", "");
    EXPECT_EQ(add(kVm).code, 202);
    expect_status(add(kVm), 409, "Conflict", "[data] already exists");
    EXPECT_TRUE(machine_has("root data | root data"));
    EXPECT_TRUE(world.until([&] { return print(api::kVirtualMachine, "/status/volumeRequests") == "-"; }, 90s));
    EXPECT_EQ(
        print(api::kVirtualMachine, "/spec/template/spec/volumes/1"),
        R"({"name":"data","persistentVolumeClaim":{"claimName":"data","hotpluggable":true}})"
    );
    EXPECT_EQ(remove(kVm).code, 202);
    EXPECT_TRUE(machine_has("root | root"));
    EXPECT_TRUE(world.until([&] { return print(api::kVirtualMachine, "/status/volumeRequests") == "-"; }, 90s));
    EXPECT_EQ(print(api::kVirtualMachine, "/spec/template/spec/volumes/1"), "-");
    EXPECT_FALSE(needs_restart());
}

TEST_F(HotplugTemplate, H19_R24_DuringAMigration) {
    run();
    EXPECT_EQ(add(kVm).code, 202);
    ASSERT_TRUE(machine_has("root data | root data"));
    const char* state = R"({"status":{"migrationState":{"startTimestamp":"2026-01-02T00:00:00Z","targetNode":"n2"}}})";
    ASSERT_EQ(write(api::kVmi, state).code, 200);
    expect_status(remove(kVm), 409, "Conflict", "a migration is in progress");  // hotplug/R-24
    EXPECT_EQ(add(kVm, {.name = "more", .claim = "more"}).code, 202);
    world.run_for(30s);
    EXPECT_EQ(lists(), "root data | root data") << "nothing is plugged while the machine moves";
    gates(R"("HotplugVolumes")", "");
    expect_status(add(kVm, {.name = "third", .claim = "third"}), 422, "Invalid", "migration");  // H-19
    gates("", "");
    ASSERT_EQ(
        write(api::kVmi, R"({"status":{"migrationState":{"endTimestamp":"2026-01-02T00:01:00Z","completed":true}}})")
            .code,
        200
    );
    EXPECT_TRUE(machine_has("root data more | root data more"));
}

TEST_F(HotplugTemplate, R35_AVolumeOfTheMachineAloneGoesWhenTheTemplateCounts) {
    SCOPED_TRACE("hotplug/R-35");
    run();
    gates(R"("HotplugVolumes")", "");
    EXPECT_EQ(add(kVmi).code, 202);
    world.run_for(60s);
    EXPECT_EQ(lists(), "root data | root data");
    gates("", "");
    EXPECT_TRUE(machine_has("root | root"));
}

TEST_F(HotplugTemplate, H54_DrivesWithoutAMediumNeedTheirGate) {
    const std::string machine =
        R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":"web"},"spec":{"runStrategy":"Halted",
        "template":{"spec":{"domain":{"memory":{"guest":"256Mi"},"devices":{"disks":[{"name":"d","cdrom":{"bus":"sata"}}]}}}}}})";
    gates("", R"("DeclarativeHotplugVolumes")");
    const auto refused = world.create(machine);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid);
    EXPECT_NE(refused.error().message.find("DeclarativeHotplugVolumes"), std::string::npos) << refused.error().message;
    gates("", "");
    EXPECT_TRUE(world.create(machine));
}

}  // namespace
}  // namespace berth::sim
