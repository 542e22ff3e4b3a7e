// Volumes from the request to the guest and back: persistent ones, drives, swaps.
#include "hotplug_requests_world.hpp"

namespace berth::sim {
namespace {

class HotplugLifecycle : public HotplugRequests {
protected:
    void run_with_claims(const VmText& text, const std::vector<std::string>& claims) {
        for (const std::string& claim : claims) ASSERT_TRUE(world.create(std::string_view(claim_text(claim))));
        run(text);
    }
    /// A field of the volume's status entry; "-" when there is no entry.
    std::string status_of(const std::string& volume, std::string_view pointer) {
        const auto found = world.get(api::kVmi, "default", "web");
        const json::Value* list = found ? json::find(**found, "/status/volumeStatus") : nullptr;
        if (list == nullptr) return "-";
        for (const json::Value& one : list->get_array()) {
            if (json::text_at(one, "/name") == volume) return std::string(json::text_at(one, pointer));
        }
        return "-";
    }
    ::testing::AssertionResult becomes(const std::string& volume, const std::string& phase, Duration limit = 360s) {
        if (world.until([&] { return status_of(volume, "/phase") == phase; }, limit))
            return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure()
               << volume << " is " << status_of(volume, "/phase") << ": " << status_of(volume, "/message");
    }
    ::testing::AssertionResult leaves(const std::string& volume, Duration limit = 90s) {
        if (world.until([&] { return status_of(volume, "/name") == "-"; }, limit)) return ::testing::AssertionSuccess();
        return ::testing::AssertionFailure() << volume << " is " << status_of(volume, "/phase");
    }
    bool is_plugged(const std::string& volume) {
        const auto found = world.get(api::kVmi, "default", "web");
        const json::Value* list = found ? json::find(**found, "/status/volumeStatus") : nullptr;
        if (list == nullptr) return false;
        return std::ranges::any_of(list->get_array(), [&](const json::Value& one) {
            return json::text_at(one, "/name") == volume && json::find(one, "/hotplugVolume") != nullptr;
        });
    }
    std::string claim_of(const std::string& volume) {
        return status_of(volume, "/persistentVolumeClaimInfo/claimName");
    }
    /// Attachment pods that exist now.
    std::size_t attachment_pods() {
        const auto pods = world.list(api::kPod);
        return static_cast<std::size_t>(std::ranges::count_if(pods, [](const kube::Document& pod) {
            return json::text_at(*pod, "/metadata/labels/kubevirt.io") == "hotplug-disk";
        }));
    }
    void stop_and_start() {
        EXPECT_EQ(world.machine_verb("web", "stop"), 202);
        ASSERT_TRUE(world.until([&] { return is_gone(api::kVmi, "web"); }, 120s));
        EXPECT_EQ(world.machine_verb("web", "start"), 202);
        ASSERT_TRUE(shows("Running", 120s));
    }
    void patch_vm(const std::string& text) {
        const auto done = world.patch(api::kVirtualMachine, "web", text);
        ASSERT_TRUE(done) << done.error().message;
    }
    void set_template(const std::string& volumes, const std::string& disks) {
        patch_vm(
            R"({"spec":{"template":{"spec":{"volumes":[)" + volumes + R"(],"domain":{"devices":{"disks":[)" + disks +
            "]}}}}}}"
        );
    }
};

constexpr const char* kRoot = R"({"name":"root","dataVolume":{"name":"root"}})";
constexpr const char* kRootDisk = R"({"name":"root","disk":{"bus":"virtio"}})";
constexpr const char* kDrive = R"({"name":"cd","cdrom":{"bus":"sata"}})";
std::string plugged(const std::string& name, const std::string& claim) {
    return R"({"name":")" + name + R"(","persistentVolumeClaim":{"claimName":")" + claim + R"(","hotpluggable":true}})";
}

TEST_F(HotplugLifecycle, H02_H09_H10_AVolumeComesAndGoes) {
    run_with_claims({}, {"data"});
    EXPECT_EQ(add(kVm).code, 202);
    EXPECT_TRUE(becomes("data", "Ready"));
    EXPECT_EQ(send(kVm, "removevolume", R"({"name":"data","dryRun":["All"]})").code, 202);
    world.run_for(60s);
    EXPECT_EQ(status_of("data", "/phase"), "Ready") << "H-10";
    EXPECT_EQ(remove(kVm).code, 202);
    EXPECT_TRUE(leaves("data"));
    EXPECT_EQ(lists(), "root | root");
    EXPECT_FALSE(needs_restart());
}

TEST_F(HotplugLifecycle, H43_AVolumeInTheTemplate) {
    run_with_claims({}, {"data"});
    set_template(std::string(kRoot) + "," + plugged("data", "data"), R"({"name":"data","disk":{"bus":"scsi"}})");
    EXPECT_TRUE(becomes("data", "Ready"));
    EXPECT_EQ(lists(), "root data | root data");
    EXPECT_FALSE(needs_restart());
}

TEST_F(HotplugLifecycle, H46_AnotherClaimUnderOneName) {
    run_with_claims({}, {"c1", "c2"});
    const std::string disk = R"({"name":"data","disk":{"bus":"scsi"}})";
    set_template(std::string(kRoot) + "," + plugged("data", "c1"), disk);
    ASSERT_TRUE(becomes("data", "Ready"));
    EXPECT_EQ(claim_of("data"), "c1");
    const std::size_t before = world.history().size();
    set_template(std::string(kRoot) + "," + plugged("data", "c2"), disk);
    EXPECT_TRUE(world.until([&] { return status_of("data", "/phase") == "Ready" && claim_of("data") == "c2"; }, 360s));
    // The machine got the new claim only when nothing was left of the old one.
    bool was_absent = false;
    for (std::size_t i = before; i < world.history().size(); ++i) {
        const Seen& seen = world.history()[i];
        if (!(*seen.kind == api::kVmi)) continue;
        const json::Value* volumes = json::find(*seen.object, "/spec/volumes");
        const json::Value* entries = json::find(*seen.object, "/status/volumeStatus");
        const auto names_data = [](const json::Value& one) { return json::text_at(one, "/name") == "data"; };
        const bool in_spec = std::ranges::any_of(volumes->get_array(), names_data);
        const bool in_status = entries != nullptr && std::ranges::any_of(entries->get_array(), names_data);
        was_absent |= !in_spec && !in_status;
        if (!in_spec) continue;
        const auto volume = std::ranges::find_if(volumes->get_array(), names_data);
        const bool is_new = json::text_at(*volume, "/persistentVolumeClaim/claimName") == "c2";
        EXPECT_TRUE(!is_new || was_absent);
    }
    EXPECT_TRUE(was_absent);
    EXPECT_FALSE(needs_restart());
}

TEST_F(HotplugLifecycle, H47_PersistentVolumesSurviveARestart) {
    run_with_claims({}, {"a", "b"});
    EXPECT_EQ(add(kVm, {.name = "a", .claim = "a"}).code, 202);
    EXPECT_EQ(add(kVm, {.name = "b", .disk = R"({"disk":{"bus":"virtio"}})", .claim = "b"}).code, 202);
    ASSERT_TRUE(becomes("a", "Ready"));
    ASSERT_TRUE(becomes("b", "Ready"));
    stop_and_start();
    for (const char* name : {"a", "b"}) {
        EXPECT_TRUE(becomes(name, "Ready"));
        EXPECT_TRUE(is_plugged(name));
    }
    for (const char* name : {"a", "b"}) {
        EXPECT_EQ(remove(kVm, name).code, 202);
        EXPECT_TRUE(leaves(name));
    }
    EXPECT_EQ(lists(), "root | root");
}

TEST_F(HotplugLifecycle, H49_AMachineThatBootsFromAPluggedDisk) {
    ASSERT_TRUE(world.create(std::string_view(
        R"({"apiVersion":"cdi.kubevirt.io/v1beta1","kind":"DataVolume","metadata":{"name":"disk"},"spec":{"source":{"http":{"url":"http://images/a.raw"}},
           "pvc":{"storageClassName":"local","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}})"
    )));
    ASSERT_TRUE(world.create(std::string_view(
        R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":"web"},"spec":{"runStrategy":"Always","template":{
           "spec":{"domain":{"memory":{"guest":"256Mi"},"devices":{"disks":[{"name":"disk","disk":{"bus":"scsi"}}]}},
           "volumes":[{"name":"disk","dataVolume":{"name":"disk","hotpluggable":true}}]}}}})"
    )));
    EXPECT_TRUE(shows("Running", 360s));
    EXPECT_TRUE(becomes("disk", "Ready"));
    world.run_for(60s);
    EXPECT_EQ(attachment_pods(), 1u);
}

TEST_F(HotplugLifecycle, H51_H52_H53_ADriveAndItsMedia) {
    for (const char* claim : {"m1", "m2"}) ASSERT_TRUE(world.create(std::string_view(claim_text(claim))));
    make({.strategy = "Halted"});
    set_template(kRoot, std::string(kRootDisk) + "," + kDrive);
    EXPECT_EQ(world.machine_verb("web", "start"), 202);
    ASSERT_TRUE(shows("Running"));
    world.run_for(10s);
    EXPECT_EQ(status_of("cd", "/name"), "-") << "H-51: an empty drive has no status";
    const std::string disks = std::string(kRootDisk) + "," + kDrive;
    set_template(std::string(kRoot) + "," + plugged("cd", "m1"), disks);
    EXPECT_TRUE(becomes("cd", "Ready"));
    set_template(std::string(kRoot) + "," + plugged("cd", "m2"), disks);
    EXPECT_TRUE(world.until([&] { return status_of("cd", "/phase") == "Ready" && claim_of("cd") == "m2"; }, 360s));
    set_template(kRoot, disks);
    EXPECT_TRUE(leaves("cd"));
    EXPECT_EQ(lists(), "root | root cd") << "the drive stays";
    set_template(plugged("cd", "m1") + "," + kRoot, disks);
    EXPECT_TRUE(becomes("cd", "Ready"));
    EXPECT_FALSE(needs_restart()) << "H-52";
    EXPECT_EQ(remove(kVm, "cd").code, 202);
    EXPECT_TRUE(leaves("cd", 300s));
    EXPECT_TRUE(world.until([&] { return attachment_pods() == 0; }, 300s)) << "H-53";
    EXPECT_TRUE(world.until([&] { return needs_restart(); }, 90s)) << "H-53";
}

TEST_F(HotplugLifecycle, R34_TheLongestName) {
    SCOPED_TRACE("hotplug/R-34");
    const std::string name(63, 'v');
    run_with_claims({}, {"data"});
    EXPECT_EQ(add(kVm, {.name = name}).code, 202);
    EXPECT_TRUE(becomes(name, "Ready"));
    EXPECT_EQ(remove(kVm, name).code, 202);
    EXPECT_TRUE(leaves(name));
    expect_status(add(kVm, {.name = name + "v"}), 422, "Invalid");
}

}  // namespace
}  // namespace berth::sim
