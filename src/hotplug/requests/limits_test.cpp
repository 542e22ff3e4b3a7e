// What a machine cannot take: closed, on the move, names that are taken, ports that are full.
#include "hotplug/requests/testing.hpp"

namespace berth::hotplug {
namespace {

using namespace testing;

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

TEST(Requests, EachStepAnswersInItsPlace) {
    // Each request breaks one rule and all that come after it: so the order is that of the specification.
    const json::Value vm = machine();
    json::Value vmi = with(owned(), "/spec/domain/devices/disableHotplug", "true");
    json::set(vmi, "/status/migrationState/startTimestamp", json::Value("2026-01-02T00:00:00Z"));
    const json::Value asleep = with(vmi, "/status/phase", R"("Scheduled")");
    const json::Value shut = with(instance(), "/spec/domain/devices/disableHotplug", "true");
    const json::Value moving = with(instance(), "/status/migrationState", R"({"startTimestamp":"t"})");
    const json::Value queued = applied(vm, remove_from_vm(vm, R"({"name":"old"})", kLegacy));
    const char* taken = R"({"name":"root","disk":{},"volumeSource":{"dataVolume":{"name":"d"}}})";
    const char* both =
        R"({"name":"root","disk":{},"volumeSource":{"dataVolume":{"name":"d"},"persistentVolumeClaim":{"claimName":"c"}}})";
    RequestView none{.name = "web", .body = parsed(taken)};
    const std::pair<std::string_view, Decision> rows[] = {
        {"a-gate-is-on", add(asleep, "{", kNone)},
        {"the-body-is-read", add(asleep, R"({"name":5})")},
        {"has-a-name", add(asleep, "{}")},
        {"has-a-disk", add(asleep, R"({"name":"root"})")},
        {"has-a-source", add(asleep, R"({"name":"root","disk":{}})")},
        {"has-one-source", add(asleep, both)},
        {"is-there", add_volume(none)},
        {"is-nobodys-instance", add(asleep, taken)},
        {"runs", add(asleep, taken, kLegacy)},
        {"takes-volumes", add(shut, taken)},
        {"stays-where-it-is", remove(moving, R"({"name":"none"})")},
        {"name-and-source-free", add(instance(), taken)},
        {"was-plugged", remove(instance(), R"({"name":"none"})")},
        {"nothing-waits-already", remove_from_vm(queued, R"({"name":"old"})", kLegacy)},
        {"fits-a-running-guest", add(instance(), R"({"name":"v","disk":{},"volumeSource":{}})")},
    };
    std::vector<std::string_view> names;
    for (const auto& [name, decision] : rows) {
        EXPECT_EQ(decision.rule, name) << shown(decision);
        names.push_back(name);
    }
    std::vector<std::string_view> all;
    for (const StepName& step : pipeline()) all.push_back(step.name);
    EXPECT_EQ(names, all);
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
