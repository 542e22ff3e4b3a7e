#include "hotplug/requests/requests.hpp"

#include <gtest/gtest.h>

#include <set>

#include "json/json_patch.hpp"

namespace berth::hotplug {
namespace {

json::Value parsed(std::string_view text) {
    Result<json::Value> value = json::parse(text);
    EXPECT_TRUE(value.has_value()) << text;
    return value ? *std::move(value) : json::Value();
}

json::Value with(json::Value object, std::string_view pointer, std::string_view text) {
    json::set(object, pointer, parsed(text));
    return object;
}

constexpr Gates kNone{.declarative = false};
constexpr Gates kDeclarative{};
constexpr Gates kLegacy{.legacy = true};

constexpr const char* kAdd =
    R"({"name":"v","disk":{"disk":{"bus":"scsi"},"serial":"S1"},"volumeSource":{"persistentVolumeClaim":{"claimName":"c"}}})";
constexpr const char* kRemove = R"({"name":"v"})";

constexpr const char* kSpec =
    R"({"domain":{"devices":{"disks":[{"name":"root","disk":{"bus":"virtio"}},{"name":"old","disk":{"bus":"scsi"}}]}},
    "volumes":[{"name":"root","containerDisk":{"image":"i"}},{"name":"old","dataVolume":{"name":"dv","hotpluggable":true}}]})";

json::Value instance() {
    json::Value out = parsed(R"({"metadata":{"name":"web","uid":"u1"},"status":{"phase":"Running"}})");
    json::set(out, "/spec", parsed(kSpec));
    return out;
}
json::Value machine() {
    json::Value out = parsed(R"({"metadata":{"name":"web","uid":"m1"},"status":{}})");
    json::set(out, "/spec/template/spec", parsed(kSpec));
    return out;
}
json::Value owned() {
    return with(
        instance(),
        "/metadata/ownerReferences",
        R"([{"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","name":"web","uid":"m1","controller":true}])"
    );
}

Decision send(bool is_add, Target target, const json::Value& object, std::string_view body, Gates gates = {}) {
    RequestView view{.target = target, .name = "web", .gates = gates};
    (target == Target::machine ? view.vm : view.vmi) = &object;
    view.body = body.empty() ? Result<json::Value>(json::Value()) : json::parse(body);
    return is_add ? add_volume(view) : remove_volume(view);
}
Decision add(const json::Value& vmi, std::string_view body, Gates gates = {}) {
    return send(true, Target::instance, vmi, body, gates);
}
Decision remove(const json::Value& vmi, std::string_view body, Gates gates = {}) {
    return send(false, Target::instance, vmi, body, gates);
}
Decision add_to_vm(const json::Value& vm, std::string_view body, Gates gates = {}) {
    return send(true, Target::machine, vm, body, gates);
}
Decision remove_from_vm(const json::Value& vm, std::string_view body, Gates gates = {}) {
    return send(false, Target::machine, vm, body, gates);
}

json::Value applied(json::Value object, const Decision& decision) {
    EXPECT_EQ(decision.code, 202) << decision.message;
    if (!decision.patch) return object;
    const Result<void> done = json::apply_json_patch(object, *decision.patch);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return object;
}

std::string print_at(const json::Value& object, std::string_view pointer) {
    const json::Value* found = json::find(object, pointer);
    return found == nullptr ? "-" : json::print(*found);
}

std::string shown(const Decision& decision) {
    std::string out = std::to_string(decision.code) + " " + decision.reason + " " + decision.message;
    for (const api::Cause& cause : decision.causes) out += cause.field + ": " + cause.message + "; ";
    return out;
}
void expect_refused(const Decision& decision, int code, std::string_view part) {
    EXPECT_EQ(decision.code, code) << shown(decision);
    EXPECT_NE(shown(decision).find(part), std::string::npos) << shown(decision);
    EXPECT_FALSE(decision.patch.has_value());
}

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

TEST(Requests, R20_AMachineThatTakesNoVolumes) {
    const char* on = "true";
    expect_refused(add(with(instance(), "/spec/domain/devices/disableHotplug", on), kAdd), 409, "disableHotplug");
    for (const Gates gates : {kDeclarative, kLegacy}) {
        const json::Value vm = with(machine(), "/spec/template/spec/domain/devices/disableHotplug", on);
        expect_refused(add_to_vm(vm, kAdd, gates), 409, "disableHotplug");
        const json::Value open = machine();
        const json::Value running = with(owned(), "/spec/domain/devices/disableHotplug", on);
        RequestView view{
            .target = Target::machine, .name = "web", .vm = &open, .vmi = &running, .gates = gates, .body = parsed(kAdd)
        };
        expect_refused(add_volume(view), 409, "disableHotplug");
    }
}

TEST(Requests, R24_R25_DuringAMigrationVolumesOnlyCome) {
    const char* state = R"({"startTimestamp":"2026-01-02T00:00:00Z","sourceNode":"a","targetNode":"b"})";
    const json::Value moving = with(instance(), "/status/migrationState", state);
    expect_refused(remove(moving, R"({"name":"old"})"), 409, "a migration is in progress");
    EXPECT_EQ(add(moving, kAdd).code, 202);
    const json::Value vm = machine();
    json::Value running = with(owned(), "/status/migrationState", state);
    RequestView view{
        .target = Target::machine, .name = "web", .vm = &vm, .vmi = &running, .body = parsed(R"({"name":"old"})")
    };
    expect_refused(remove_volume(view), 409, "a migration is in progress");
    running = with(running, "/status/migrationState/endTimestamp", R"("2026-01-02T00:01:00Z")");
    EXPECT_EQ(remove_volume(view).code, 202);
    running = with(instance(), "/status/migrationState", state);
    EXPECT_EQ(remove_volume(view).code, 202) << "somebody else's instance of that name";
}

TEST(Requests, R21_R22_R34_Names) {
    const auto body = [](const std::string& name) {
        return R"({"name":")" + name +
               R"(","disk":{"disk":{"bus":"scsi"}},"volumeSource":{"dataVolume":{"name":"d"}}})";
    };
    for (const char* name :
         {"private",
          "public",
          "sockets",
          "virt-bin-share-dir",
          "libvirt-runtime",
          "ephemeral-disks",
          "container-disks",
          "hotplug-disks"}) {
        expect_refused(add(instance(), body(name)), 422, "directory of the launcher pod");  // R-21
        expect_refused(add_to_vm(machine(), body(name)), 422, "directory of the launcher pod");
    }
    for (const char* name : {"path", "usr", "bin", "etc", "dev", "proc"}) {
        EXPECT_EQ(add(instance(), body(name)).code, 202) << name;  // R-22
    }
    for (const std::string& name : {std::string(64, 'a'), std::string("A"), std::string("a_b"), std::string("../x")}) {
        expect_refused(add(instance(), body(name)), 422, "1 to 63");  // R-34
        expect_refused(add_to_vm(machine(), body(name)), 422, "1 to 63");
    }
    EXPECT_EQ(add_to_vm(machine(), body(std::string(63, 'a'))).code, 202);
}

TEST(Requests, WarningsSayWhatTheGuestWillNotSee) {
    const json::Value vmi = instance();
    const auto warned = [&](const char* disk, std::optional<std::int64_t> ports) {
        RequestView view{.target = Target::instance, .name = "web", .vmi = &vmi, .free_ports = ports};
        view.body =
            parsed(R"({"name":"v","volumeSource":{"dataVolume":{"name":"d"}},"disk":)" + std::string(disk) + "}");
        const Decision got = add_volume(view);
        EXPECT_EQ(got.code, 202) << shown(got);
        std::string out;
        for (const std::string& warning : got.warnings) out += warning + "\n";
        return out;
    };
    EXPECT_EQ(warned(R"({"disk":{"bus":"virtio"},"serial":"12345678901234567890"})", 1), "");
    EXPECT_EQ(warned(R"({"disk":{"bus":"scsi"},"serial":"123456789012345678901"})", 0), "");
    EXPECT_NE(
        warned(R"({"disk":{"bus":"virtio"},"serial":"123456789012345678901"})", 1).find("first 20 characters"),
        std::string::npos
    );
    const std::string longer = R"({"disk":{"bus":"scsi"},"serial":")" + std::string(37, 's') + "\"}";
    EXPECT_NE(warned(longer.c_str(), 1).find("first 36 characters"), std::string::npos);
    EXPECT_NE(warned(R"({"disk":{"bus":"virtio"}})", 0).find("use bus scsi"), std::string::npos);
    EXPECT_EQ(warned(R"({"disk":{"bus":"virtio"}})", std::nullopt), "");
}

TEST(Gates, H01_AreReadFromTheKubeVirtObject) {
    EXPECT_EQ(gates_of(nullptr), Gates{});
    const auto read = [](const char* developer) {
        const json::Value object =
            parsed(R"({"spec":{"configuration":{"developerConfiguration":)" + std::string(developer) + "}}}");
        return gates_of(&object);
    };
    EXPECT_EQ(read("{}"), Gates{});
    EXPECT_EQ(read("null"), Gates{});
    EXPECT_EQ(read(R"({"featureGates":{"HotplugVolumes":true}})"), Gates{});
    EXPECT_TRUE(read(R"({"featureGates":["HotplugVolumes"]})").legacy);
    EXPECT_FALSE(read(R"({"featureGates":["HotplugVolumes"]})").follows_template());
    EXPECT_FALSE(read(R"({"disabledFeatureGates":["DeclarativeHotplugVolumes"]})").declarative);
}

}  // namespace
}  // namespace berth::hotplug
