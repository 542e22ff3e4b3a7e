#include "hotplug/requests/testing.hpp"

namespace berth::hotplug {
namespace {

using namespace testing;

TEST(Requests, H01_WithoutAGateEveryRequestIsRefused) {
    for (const Target target : {Target::machine, Target::instance}) {
        const json::Value object = target == Target::machine ? machine() : instance();
        for (const bool is_add : {true, false}) {
            const Decision got = send(is_add, target, object, is_add ? kAdd : kRemove, kNone);
            expect_refused(got, 400, "BadRequest");
        }
    }
}

TEST(Requests, H02_AVolumeAndItsDiskComeLast) {
    const json::Value got = applied(instance(), add(instance(), kAdd));
    EXPECT_EQ(
        print_at(got, "/spec/volumes/2"),
        R"({"name":"v","persistentVolumeClaim":{"claimName":"c","hotpluggable":true}})"
    );
    EXPECT_EQ(print_at(got, "/spec/domain/devices/disks/2"), R"({"name":"v","disk":{"bus":"scsi"},"serial":"S1"})");
    const Decision disk_named_otherwise = add(
        instance(),
        R"({"name":"v","disk":{"name":"x","disk":{"bus":"scsi"},"odd":1},"volumeSource":{"dataVolume":{"name":"d","hotpluggable":false}},"more":{}})"
    );
    const json::Value named = applied(instance(), disk_named_otherwise);
    EXPECT_EQ(print_at(named, "/spec/volumes/2"), R"({"name":"v","dataVolume":{"name":"d","hotpluggable":true}})");
    EXPECT_EQ(print_at(named, "/spec/domain/devices/disks/2"), R"({"name":"v","disk":{"bus":"scsi"}})");
}

TEST(Requests, H03_IncompleteBodies) {
    const std::string_view adds[] = {
        "",
        "{}",
        "null",
        "[]",
        "5",
        "{\"name\":",
        R"({"name":""})",
        R"({"name":5})",
        R"({"name":["v"]})",
        R"({"name":"v"})",
        R"({"name":"v","disk":{"disk":{"bus":"scsi"}}})",
        R"({"name":"v","disk":null,"volumeSource":{"dataVolume":{"name":"d"}}})",
        R"({"name":"v","volumeSource":{"dataVolume":{"name":"d"}}})",
        R"({"name":"v","disk":[],"volumeSource":{"dataVolume":{"name":"d"}}})",
        R"({"name":"v","disk":{"disk":{"bus":5}},"volumeSource":{"dataVolume":{"name":"d"}}})",
        R"({"name":"v","disk":{"disk":{"bus":"scsi"}},"volumeSource":"d"})",
        R"({"name":"v","disk":{"disk":{"bus":"scsi"}},"volumeSource":{"dataVolume":"d"}})",
    };
    for (const std::string_view body : adds) {
        SCOPED_TRACE(body);
        expect_refused(add(instance(), body), 400, "BadRequest");
        expect_refused(add_to_vm(machine(), body), 400, "BadRequest");
    }
    for (const std::string_view body : {"", "{}", "null", "[]", "{", R"({"name":""})", R"({"name":{}})"}) {
        SCOPED_TRACE(body);
        expect_refused(remove(instance(), body), 400, "BadRequest");
        expect_refused(remove_from_vm(machine(), body), 400, "BadRequest");
    }
}

TEST(Requests, TwoSourcesAreOneTooMany) {
    const Decision got = add(
        instance(),
        R"({"name":"v","disk":{"disk":{"bus":"scsi"}},"volumeSource":{"dataVolume":{"name":"d"},"persistentVolumeClaim":{"claimName":"c"}}})"
    );
    expect_refused(got, 400, "remove one");
}

TEST(Requests, H04_WhatIsNotThere) {
    RequestView view{.target = Target::instance, .name = "web", .body = parsed(kAdd)};
    expect_refused(add_volume(view), 404, R"(NotFound virtualmachineinstance.kubevirt.io "web" not found)");
    view.target = Target::machine;
    expect_refused(add_volume(view), 404, R"(NotFound virtualmachine.kubevirt.io "web" not found)");
    view.body = parsed("{}");
    expect_refused(add_volume(view), 400, "no name");
}

TEST(Requests, H05_OnlyARunningInstanceTakesVolumes) {
    for (const char* phase :
         {R"("Scheduled")", R"("Scheduling")", R"("Pending")", R"("Succeeded")", R"("Failed")", R"("")"}) {
        const json::Value vmi = with(instance(), "/status/phase", phase);
        expect_refused(add(vmi, kAdd), 409, "Conflict VMI is not running");
        expect_refused(remove(vmi, R"({"name":"old"})"), 409, "Conflict VMI is not running");
    }
}

TEST(Requests, H06_AnInstanceOfAVmIsItsVms) {
    expect_refused(add(owned(), kAdd), 400, "send the request to the virtual machine");
    expect_refused(remove(owned(), R"({"name":"old"})"), 400, "send the request to the virtual machine");
    EXPECT_EQ(add(owned(), kAdd, kLegacy).code, 202);
    EXPECT_EQ(remove(owned(), R"({"name":"old"})", kLegacy).code, 202);
    for (const char* owner : {
             R"([{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","name":"web","uid":"m1"}])",
             R"([{"apiVersion":"pool.kubevirt.io/v1","kind":"VirtualMachinePool","name":"p","uid":"p","controller":true}])",
             R"([5,{}])",
         }) {
        EXPECT_EQ(add(with(instance(), "/metadata/ownerReferences", owner), kAdd).code, 202) << owner;
    }
}

TEST(Requests, H07_ANameThatIsTaken) {
    const char* body = R"({"name":"root","disk":{"disk":{"bus":"scsi"}},"volumeSource":{"dataVolume":{"name":"d"}}})";
    expect_refused(add(instance(), body), 409, "[root] already exists");
    expect_refused(add_to_vm(machine(), body), 409, "[root] already exists");
    expect_refused(add_to_vm(machine(), body, kLegacy), 409, "[root] already exists");
}

TEST(Requests, H08_ASourceThatIsTaken) {
    for (const char* source : {R"({"dataVolume":{"name":"dv"}})", R"({"persistentVolumeClaim":{"claimName":"dv"}})"}) {
        const std::string body =
            std::string(R"({"name":"v","disk":{"disk":{"bus":"scsi"}},"volumeSource":)") + source + "}";
        expect_refused(add(instance(), body), 409, "[dv] already exists");
        expect_refused(add_to_vm(machine(), body), 409, "[dv] already exists");
    }
    // Each volume is asked for its name before its source, and the first volume that objects answers.
    const char* both = R"({"name":"old","disk":{"disk":{"bus":"scsi"}},"volumeSource":{"dataVolume":{"name":"dv"}}})";
    expect_refused(add(instance(), both), 409, "[old] already exists");
}

TEST(Requests, H09_WhatCannotBeRemoved) {
    for (const Gates gates : {kDeclarative, kLegacy}) {
        expect_refused(remove(instance(), R"({"name":"root"})", gates), 409, "[root] is not hotpluggable");
        expect_refused(remove(instance(), R"({"name":"none"})", gates), 409, "[none] does not exist");
        expect_refused(remove_from_vm(machine(), R"({"name":"root"})", gates), 409, "[root] is not hotpluggable");
        expect_refused(remove_from_vm(machine(), R"({"name":"none"})", gates), 409, "[none] does not exist");
    }
}

TEST(Requests, AVolumeIsAlsoRemovedByTheNameOfItsClaim) {
    const json::Value got = applied(instance(), remove(instance(), R"({"name":"dv"})"));
    EXPECT_EQ(print_at(got, "/spec/volumes"), R"([{"name":"root","containerDisk":{"image":"i"}}])");
    EXPECT_EQ(print_at(got, "/spec/domain/devices/disks"), R"([{"name":"root","disk":{"bus":"virtio"}}])");
}

TEST(Requests, H10_DryRun) {
    const auto body = [](const char* dry) {
        return R"({"name":"v","disk":{"disk":{"bus":"scsi"}},"volumeSource":{"dataVolume":{"name":"d"}},"dryRun":)" +
               std::string(dry) + "}";
    };
    EXPECT_TRUE(add(instance(), body(R"(["All"])")).is_dry_run);
    EXPECT_TRUE(add_to_vm(machine(), body(R"(["All"])")).is_dry_run);
    EXPECT_TRUE(remove(instance(), R"({"name":"old","dryRun":["All"]})").is_dry_run);
    EXPECT_FALSE(add(instance(), body("[]")).is_dry_run) << "an empty list asks for nothing";
    EXPECT_EQ(add(instance(), body("[]")).code, 202);
    EXPECT_FALSE(add(instance(), body("null")).is_dry_run);
    for (const char* dry : {R"(["all"])", R"(["None","All"])", R"(["All","None"])", R"("All")", "[5]", "{}"})
        expect_refused(add(instance(), body(dry)), 400, "dryRun");
}

TEST(Requests, H13_PatchesTestWhatTheyReplace) {
    const std::string volumes = print_at(instance(), "/spec/volumes");
    const std::string disks = print_at(instance(), "/spec/domain/devices/disks");
    const std::string grown = volumes.substr(0, volumes.size() - 1) +
                              R"(,{"name":"v","persistentVolumeClaim":{"claimName":"c","hotpluggable":true}}])";
    const std::string more =
        disks.substr(0, disks.size() - 1) + R"(,{"name":"v","disk":{"bus":"scsi"},"serial":"S1"}])";
    const auto wanted = [&](const std::string& prefix) {
        return R"([{"op":"test","path":")" + prefix + R"(/spec/volumes","value":)" + volumes +
               R"(},{"op":"test","path":")" + prefix + R"(/spec/domain/devices/disks","value":)" + disks +
               R"(},{"op":"replace","path":")" + prefix + R"(/spec/volumes","value":)" + grown +
               R"(},{"op":"replace","path":")" + prefix + R"(/spec/domain/devices/disks","value":)" + more + "}]";
    };
    const Decision decided = add(instance(), kAdd);
    EXPECT_EQ(json::print(*decided.patch), wanted(""));
    EXPECT_EQ(json::print(*add_to_vm(machine(), kAdd).patch), wanted("/spec/template"));
    // Another writer was faster.
    json::Value changed = with(instance(), "/spec/volumes", R"([{"name":"root","containerDisk":{"image":"j"}}])");
    EXPECT_FALSE(json::apply_json_patch(changed, *decided.patch).has_value());
}

TEST(Requests, H13_EmptyLists) {
    const json::Value bare = parsed(R"({"metadata":{},"spec":{"domain":{"devices":{}}},"status":{"phase":"Running"}})");
    EXPECT_EQ(
        json::print(*add(bare, kAdd).patch),
        R"([{"op":"test","path":"/spec/volumes","value":null},{"op":"test","path":"/spec/domain/devices/disks","value":null},)"
        R"({"op":"add","path":"/spec/volumes","value":[{"name":"v","persistentVolumeClaim":{"claimName":"c","hotpluggable":true}}]},)"
        R"({"op":"add","path":"/spec/domain/devices/disks","value":[{"name":"v","disk":{"bus":"scsi"},"serial":"S1"}]}])"
    );
    const json::Value one = applied(bare, add(bare, kAdd));
    const json::Value none = applied(one, remove(one, kRemove));
    EXPECT_EQ(print_at(none, "/spec/volumes"), "[]");
    EXPECT_EQ(print_at(none, "/spec/domain/devices/disks"), "[]");
    EXPECT_EQ(print_at(applied(none, add(none, kAdd)), "/spec/volumes"), print_at(one, "/spec/volumes"));
}

TEST(Requests, H13_QueuedRequests) {
    const Decision first = add_to_vm(machine(), kAdd, kLegacy);
    const std::string request =
        R"({"addVolumeOptions":{"name":"v","disk":{"name":"v","disk":{"bus":"scsi"},"serial":"S1"},)"
        R"("volumeSource":{"persistentVolumeClaim":{"claimName":"c","hotpluggable":true}}}})";
    EXPECT_EQ(
        json::print(*first.patch),
        R"([{"op":"test","path":"/status/volumeRequests","value":null},{"op":"add","path":"/status/volumeRequests","value":[)" +
            request + "]}]"
    );
    const json::Value queued = applied(machine(), first);
    const Decision second = remove_from_vm(queued, R"({"name":"old"})", kLegacy);
    EXPECT_EQ(
        json::print(*second.patch),
        R"([{"op":"test","path":"/status/volumeRequests","value":[)" + request +
            R"(]},{"op":"replace","path":"/status/volumeRequests","value":[)" + request +
            R"(,{"removeVolumeOptions":{"name":"old"}}]}])"
    );
}

TEST(Requests, H15_H16_DisksThatDoNotFitARunningGuest) {
    struct Row {
        const char* disk;
        int code;
    };
    constexpr Row kRows[] = {
        {R"({"disk":{"bus":"scsi"}})",                            202},
        {R"({"disk":{"bus":"virtio"}})",                          202},
        {R"({"lun":{"bus":"scsi"}})",                             202},
        {R"({"disk":{"bus":"virtio"},"dedicatedIOThread":true})", 202},
        {R"({"disk":{"bus":"scsi"},"dedicatedIOThread":false})",  202},
        {R"({"disk":{"bus":"scsi"},"bootOrder":3})",              202},
        {R"({"disk":{"bus":"sata"}})",                            422},
        {R"({"disk":{"bus":"usb"}})",                             422},
        {R"({"disk":{"bus":""}})",                                422},
        {R"({"disk":{}})",                                        422},
        {R"({"lun":{"bus":"virtio"}})",                           422},
        {R"({"lun":{}})",                                         422},
        {R"({"cdrom":{"bus":"sata"}})",                           422},
        {R"({})",                                                 422},
        {R"({"disk":{"bus":"scsi"},"lun":{"bus":"scsi"}})",       422},
        {R"({"disk":{"bus":"scsi"},"cdrom":{"bus":"scsi"}})",     422},
        {R"({"disk":{"bus":"scsi"},"dedicatedIOThread":true})",   422},
        {R"({"disk":{"bus":"scsi"},"bootOrder":0})",              422},
        {R"({"disk":{"bus":"scsi"},"bootOrder":-1})",             422},
    };
    for (const Row& row : kRows) {
        const std::string body =
            R"({"name":"v","volumeSource":{"dataVolume":{"name":"d"}},"disk":)" + std::string(row.disk) + "}";
        EXPECT_EQ(add(instance(), body).code, row.code) << row.disk;
        EXPECT_EQ(add_to_vm(machine(), body).code, row.code) << row.disk << " at the VM: H-50, 3.5";
        EXPECT_EQ(add_to_vm(machine(), body, kLegacy).code, row.code) << row.disk << " queued";
    }
}

TEST(Requests, H18_TheQueueHoldsOneRequestPerVolume) {
    const json::Value queued = applied(machine(), add_to_vm(machine(), kAdd, kLegacy));
    expect_refused(add_to_vm(queued, kAdd, kLegacy), 409, "[v] already exists");
    const json::Value removed = applied(queued, remove_from_vm(queued, kRemove, kLegacy));
    EXPECT_EQ(print_at(removed, "/status/volumeRequests"), R"([{"removeVolumeOptions":{"name":"v"}}])");
    expect_refused(remove_from_vm(removed, kRemove, kLegacy), 409, "does not exist");
    const json::Value leaving = applied(machine(), remove_from_vm(machine(), R"({"name":"old"})", kLegacy));
    expect_refused(remove_from_vm(leaving, R"({"name":"old"})", kLegacy), 409, "[old] already exists");
    expect_refused(add_to_vm(removed, kAdd, kLegacy), 409, "remove volume [v] already exists");
}

}  // namespace
}  // namespace berth::hotplug
