// Volumes come to running machines and leave them: what the machine's status, its pods, its folder and its guest show.
#include "hotplug_attach_world.hpp"

namespace berth::sim {
namespace {

class HotplugAttach : public AttachWorld {};

std::uint64_t version(const Seen& seen) { return std::stoull(seen.text("/metadata/resourceVersion")); }

TEST_F(HotplugAttach, H21_H25_H30_AClaimIsPluggedIn) {
    run_machine();
    make_claim("data");
    add("data");
    ASSERT_TRUE(is("data", "Ready"));
    world.run_for(1s);  // what watchers still have to hear
    EXPECT_EQ(phases("data"), (std::vector<std::string>{"-", "Pending", "AttachedToNode", "MountedToPod", "Ready"}));
    ASSERT_EQ(attachment_pods().size(), 1U);
    const json::Value& pod = *attachment_pods().front();
    EXPECT_EQ(json::text_at(pod, "/metadata/ownerReferences/0/uid"), world.launcher_of("web")->pod.value);
    EXPECT_EQ(json::text_at(pod, "/spec/nodeName"), "n1");
    EXPECT_EQ(entry("data", "/hotplugVolume/attachPodName"), json::text_at(pod, "/metadata/name"));
    EXPECT_EQ(entry("data", "/hotplugVolume/attachPodUID"), json::text_at(pod, "/metadata/uid"));
    EXPECT_EQ(entry("data", "/persistentVolumeClaimInfo/claimName"), "data");
    EXPECT_EQ(entry("data", "/reason"), "VolumeReady");
    EXPECT_EQ(entry("data", "/message"), "Successfully attach hotplugged volume data to VM");
    EXPECT_NE(entry("data", "/target"), "");
    EXPECT_EQ(world.text(api::kClaim, "data", "/status/phase"), "Bound") << "through the attachment pod";
    EXPECT_EQ(created_pods(), 1U);
    EXPECT_EQ(attaches("data"), 1);
    for (const char* reason : {"SuccessfulCreate", "VolumeMountedToPod", "VolumeReady"}) {
        EXPECT_TRUE(has_event("web", reason)) << reason;
    }
}

TEST_F(HotplugAttach, H26_AnotherVolumeLeavesTheFirstAlone) {
    run_machine();
    make_claim("one");
    make_claim("two");
    add("one");
    ASSERT_TRUE(is("one", "Ready"));
    world.run_for(1s);
    const std::size_t from = world.history().size();
    const std::string target = entry("one", "/target");
    std::map<std::string, kube::Document> pods;
    for (const kube::Document& pod : attachment_pods()) pods[std::string(json::text_at(*pod, "/metadata/name"))] = pod;
    add("two");
    ASSERT_TRUE(is("two", "Ready"));
    ASSERT_TRUE(world.until([&] { return attachment_pods().size() == 1; }, 2min));
    EXPECT_TRUE(mentions(*attachment_pods().front(), "one") && mentions(*attachment_pods().front(), "two"));
    for (std::size_t i = from; i < world.history().size(); ++i) {
        const Seen& seen = world.history()[i];
        if (*seen.kind == api::kVmi) {
            EXPECT_EQ(entry_of(*seen.object, "one", "/target"), target);
            EXPECT_EQ(entry_of(*seen.object, "one", "/phase"), "Ready");
        }
        if (*seen.kind != api::kPod || !is_attachment(*seen.object)) continue;
        if (seen.type == "DELETED") {
            pods.erase(seen.name());
        } else {
            pods[seen.name()] = seen.object;
        }
        EXPECT_TRUE(std::ranges::any_of(pods, [](const auto& one) {
            return runs(*one.second) && mentions(*one.second, "one");
        })) << "no running pod has the first claim";
    }
    EXPECT_EQ(created_pods(), 3U) << "one a volume, one for both";
    EXPECT_EQ(attaches("one"), 1);
    EXPECT_EQ(detaches("one"), 0);
}

TEST_F(HotplugAttach, H28_AnImportIsWaitedFor) {
    world.machines.sources["http://images/slow.raw"].takes = 30s;
    make_disk("data", "http://images/slow.raw", R"("cdi.kubevirt.io/storage.bind.immediate.requested":"true")");
    ASSERT_TRUE(world.until([&] { return disk_phase("data") == "ImportInProgress"; }));
    run_machine("web", volume_node("data"));
    ASSERT_EQ(disk_phase("data"), "ImportInProgress");
    add_disk("data");
    world.run_for(5s);
    ASSERT_EQ(disk_phase("data"), "ImportInProgress");
    EXPECT_EQ(phase("data"), "Bound");
    EXPECT_TRUE(attachment_pods().empty());
    ASSERT_TRUE(is("data", "Ready"));
    EXPECT_EQ(disk_phase("data"), "Succeeded");
}

TEST_F(HotplugAttach, H29_ATriggerPodIsTheFirstConsumer) {
    run_machine("web", "n2");
    make_disk("data", "http://images/a.raw");
    ASSERT_TRUE(world.until([&] { return disk_phase("data") == "WaitForFirstConsumer"; }));
    add_disk("data");
    ASSERT_TRUE(is("data", "Ready"));
    std::set<std::string> triggers;
    std::set<std::string> nodes;
    for (const Seen& seen : world.history()) {
        if (*seen.kind != api::kPod || !seen.name().starts_with("hp-volume-")) continue;
        if (seen.text("/metadata/annotations/kubevirt.io~1ephemeral-provisioning") != "true") continue;
        triggers.insert(seen.name());
        if (!seen.text("/spec/nodeName").empty()) nodes.insert(seen.text("/spec/nodeName"));
    }
    EXPECT_EQ(triggers.size(), 1U);
    EXPECT_EQ(nodes, std::set<std::string>{"n2"}) << "where the launcher is";
    EXPECT_TRUE(is_gone(api::kPod, *triggers.begin()));
    EXPECT_EQ(world.machines.volumes.begin()->second.content, "image");
}

TEST_F(HotplugAttach, H31_TheNodeLetsGoBeforeThePodGoes) {
    run_machine();
    make_claim("data");
    add("data");
    ASSERT_TRUE(is("data", "Ready"));
    world.run_for(1s);
    const std::size_t from = world.history().size();
    drop("data");
    ASSERT_TRUE(is_gone_from("data"));
    world.run_for(1s);
    EXPECT_EQ(phases("data", from), (std::vector<std::string>{"Ready", "UnMountedFromPod", "Detaching", "-"}));
    std::uint64_t unmounted = 0, asked = 0, deleted = 0, vanished = 0;
    for (std::size_t i = from; i < world.history().size(); ++i) {
        const Seen& seen = world.history()[i];
        if (*seen.kind == api::kVmi) {
            if (unmounted == 0 && entry_of(*seen.object, "data", "/phase") == "UnMountedFromPod")
                unmounted = version(seen);
            if (vanished == 0 && entry_of(*seen.object, "data", "/name").empty()) vanished = version(seen);
        }
        if (*seen.kind != api::kPod || !is_attachment(*seen.object)) continue;
        if (seen.type == "DELETED") deleted = version(seen);
        if (asked == 0 && !seen.text("/metadata/deletionTimestamp").empty()) asked = version(seen);
    }
    EXPECT_GT(unmounted, 0U);
    if (asked != 0) EXPECT_LT(unmounted, asked);
    EXPECT_LT(unmounted, deleted);
    EXPECT_LT(deleted, vanished);
    EXPECT_EQ(detaches("data"), 1);
    EXPECT_TRUE(has_event("web", "SuccessfulDelete"));
    const auto unplugged = std::ranges::count_if(world.events_of("web"), [](const std::string& event) {
        return event.starts_with("VolumeUnplugged");
    });
    EXPECT_EQ(unplugged, 1);
    ASSERT_TRUE(world.remove(api::kClaim, "data"));
    EXPECT_TRUE(world.until([&] { return is_gone(api::kClaim, "data"); })) << "nobody uses it any more";
}

TEST_F(HotplugAttach, H32_OneOfTwoLeaves) {
    run_machine();
    for (const char* name : {"one", "two"}) make_claim(name);
    for (const char* name : {"one", "two"}) add(name);
    ASSERT_TRUE(is("one", "Ready") && is("two", "Ready"));
    ASSERT_TRUE(world.until([&] { return attachment_pods().size() == 1; }, 2min));
    const std::size_t from = world.history().size();
    drop("one");
    ASSERT_TRUE(is_gone_from("one"));
    ASSERT_EQ(attachment_pods().size(), 1U);
    EXPECT_TRUE(mentions(*attachment_pods().front(), "two"));
    EXPECT_EQ(phases("two", from), std::vector<std::string>{"Ready"});
    EXPECT_EQ(detaches("two"), 0);
}

TEST_F(HotplugAttach, H33_RemovedBeforeItsPodFoundANode) {
    run_machine("web", "n1");
    make_claim("data");
    run_machine("far", "n2");
    add("data", "data", "far");
    ASSERT_TRUE(is("data", "Ready", "far"));
    drop("data", "far");
    ASSERT_TRUE(is_gone_from("data", "far"));
    add("data");  // its volume is on n2, the machine on n1
    ASSERT_TRUE(is("data", "AttachedToNode"));
    world.run_for(10s);
    EXPECT_EQ(json::text_at(*attachment_pods().front(), "/spec/nodeName"), "");
    EXPECT_EQ(entry("data", "/hotplugVolume/attachPodUID"), "");
    drop("data");
    ASSERT_TRUE(is_gone_from("data"));
    EXPECT_EQ(attaches("data"), 0);
    EXPECT_EQ(detaches("data"), 0);
}

TEST_F(HotplugAttach, H34_R06_AClaimThatComesLater) {
    run_machine();
    make_claim("a");
    make_claim("c");
    add("a");
    ASSERT_TRUE(is("a", "Ready"));
    add("late");
    ASSERT_TRUE(is("late", "Pending"));
    EXPECT_EQ(entry("late", "/reason"), "FailedPvcNotFound");
    EXPECT_EQ(entry("late", "/message"), "PVC late not found");
    add("c");
    drop("a");
    ASSERT_TRUE(is("c", "Ready")) << "R-06: it is not held up by the other";
    ASSERT_TRUE(is_gone_from("a"));
    EXPECT_EQ(phase("late"), "Pending");
    make_claim("late");
    ASSERT_TRUE(is("late", "Ready"));
}

TEST_F(HotplugAttach, H35_R17_AttachmentPodsAreTakenAway) {
    run_machine();
    make_claim("data");
    add("data");
    ASSERT_TRUE(is("data", "Ready"));
    for (int i = 0; i < 10; ++i) {
        SCOPED_TRACE(i);
        const std::string pod(json::text_at(*attachment_pods().front(), "/metadata/name"));
        const std::string pod_uid = uid(api::kPod, pod);
        const std::size_t from = world.history().size();
        ASSERT_TRUE(world.remove(api::kPod, pod, {.grace_seconds = 0}));
        ASSERT_TRUE(world.until([&] {
            const auto pods = attachment_pods();
            return pods.size() == 1 && runs(*pods.front()) &&
                   json::text_at(*pods.front(), "/metadata/uid") != pod_uid &&
                   entry("data", "/hotplugVolume/attachPodUID") == json::text_at(*pods.front(), "/metadata/uid");
        }));
        EXPECT_EQ(phases("data", from), std::vector<std::string>{"Ready"});
        EXPECT_TRUE(is_in_guest("data"));
        EXPECT_TRUE(in_place().contains("data"));
    }
    EXPECT_EQ(attaches("data"), 1);
    EXPECT_EQ(detaches("data"), 0);
}

TEST_F(HotplugAttach, H37_SeventyFiveAtOnce) {
    constexpr int kCount = 75;
    run_machine();
    const std::string machine = uid(api::kVmi, "web");
    const std::string launcher = world.launcher_of("web")->pod.value;
    const auto name = [](int i) { return "v" + std::to_string(i); };
    for (int i = 0; i < kCount; ++i) make_claim(name(i));
    for (int i = 0; i < kCount; ++i) add(name(i));
    const auto ready = [&] {
        const auto found = world.get(api::kVmi, "default", "web");
        int count = 0;
        for (const json::Value& one : json::find(**found, "/status/volumeStatus")->get_array()) {
            if (json::text_at(one, "/phase") == "Ready") ++count;
        }
        return count;
    };
    world.until([&] { return ready() == kCount; }, 6min);
    EXPECT_EQ(ready(), kCount);
    EXPECT_TRUE(world.until([&] { return attachment_pods().size() == 1; }, 6min)) << attachment_pods().size();
    EXPECT_EQ(uid(api::kVmi, "web"), machine);
    EXPECT_EQ(world.launcher_of("web")->pod.value, launcher);
    EXPECT_LE(created_pods(), static_cast<std::size_t>(kCount) + 1) << "H-86";
}

TEST_F(HotplugAttach, H38_H39_FiveComeAndGo) {
    run_machine();
    for (const char* name : {"e", "a", "d", "b", "c"}) {
        make_claim(name);
        add(name);
        ASSERT_TRUE(is(name, "Ready"));
    }
    for (const char* name : {"a", "e", "c", "b", "d"}) {
        drop(name);
        ASSERT_TRUE(is_gone_from(name));
    }
    EXPECT_FALSE(has_event("web", "SyncFailed"));
    EXPECT_TRUE(attachment_pods().empty());
    for (const Seen& seen : world.history()) {
        const json::Value* list = *seen.kind == api::kVmi ? json::find(*seen.object, "/status/volumeStatus") : nullptr;
        if (list == nullptr) continue;
        std::vector<std::string> names;
        for (const json::Value& one : list->get_array()) {
            names.emplace_back(json::text_at(one, "/name"));
            EXPECT_NE(json::find(one, "/target"), nullptr) << names.back();
        }
        EXPECT_TRUE(std::ranges::is_sorted(names));
        EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
    }
}

TEST_F(HotplugAttach, H40_ADeletedMachineLeavesNothing) {
    run_machine();
    for (const char* name : {"one", "two"}) make_claim(name);
    for (const char* name : {"one", "two"}) add(name);
    ASSERT_TRUE(is("one", "Ready") && is("two", "Ready"));
    const Uid launcher = world.launcher_of("web")->pod;
    ASSERT_TRUE(world.remove(api::kVmi, "web"));
    ASSERT_TRUE(world.until([&] { return is_gone(api::kVmi, "web") && attachment_pods().empty(); }, 90s));
    EXPECT_TRUE(world.until([&] { return world.node("n1").plugs().in_place(launcher).empty(); }, 10s));
    EXPECT_TRUE(world.until([&] { return world.wait(world.node("n1").plugs().hosts())->empty(); }, 10s))
        << "the record is gone";
}

// A VM whose machine is made anew: the volume of its template is in the first domain of each.
TEST_F(HotplugAttach, H41_AKilledLauncherAndTheNextMachine) {
    make_claim("data");
    const VmText text{.strategy = "RerunOnFailure"};
    json::Value vm = *json::parse(text.json());
    json::Value& spec = *json::find(vm, "/spec/template/spec");
    spec.as_object()["volumes"].as_array().push_back(
        *json::parse(R"({"name":"data","persistentVolumeClaim":{"claimName":"data","hotpluggable":true}})")
    );
    spec.as_object()["domain"].as_object()["devices"].as_object()["disks"] =
        *json::parse(R"([{"name":"root","disk":{"bus":"virtio"}},{"name":"data","disk":{"bus":"scsi"}}])");
    ASSERT_TRUE(world.create(std::move(vm)).has_value());
    ASSERT_TRUE(is("data", "Ready", "web", 2min));
    ASSERT_TRUE(shows("Running"));
    const std::string first = uid(api::kVmi, "web");
    const std::string pod(json::text_at(*attachment_pods().front(), "/metadata/name"));
    world.node(vmi("/status/nodeName")).kill_launcher("virt-launcher-web-");
    ASSERT_TRUE(world.until([&] { return uid(api::kVmi, "web") != first; }, 2min));
    EXPECT_TRUE(contains(world.values(api::kVmi, "web", "/status/phase"), std::string("Failed")));
    ASSERT_TRUE(is("data", "Ready", "web", 2min));
    EXPECT_TRUE(is_gone(api::kPod, pod));
    EXPECT_EQ(attachment_pods().size(), 1U);
    EXPECT_TRUE(is_in_guest("data"));
}

TEST_F(HotplugAttach, H75_AnUnsharedClaimKeepsTheMachineWhereItIs) {
    run_machine();
    ASSERT_EQ(condition("LiveMigratable"), "True");
    make_claim("data");
    add("data");
    ASSERT_TRUE(is("data", "Ready"));
    EXPECT_TRUE(world.until([&] { return condition("LiveMigratable") == "False DisksNotLiveMigratable"; }, 5s));
    drop("data");
    ASSERT_TRUE(is_gone_from("data"));
    EXPECT_TRUE(world.until([&] { return condition("LiveMigratable") == "True"; }, 5s));
}

// H-27: a second volume comes, and the pods of both become one. The first never leaves its place for a moment.
TEST_F(HotplugAttach, H27_TheFirstVolumeStaysWhereItIs) {
    SCOPED_TRACE("hotplug/H-27");
    run_machine();
    for (const char* name : {"first", "second"}) make_claim(name);
    add("first");
    ASSERT_TRUE(is("first", "Ready"));
    world.run_for(1s);
    const std::string target = entry("first", "/target");
    const std::string pod(json::text_at(*attachment_pods().front(), "/metadata/name"));
    const std::size_t from = world.history().size();
    const std::size_t acts = world.machines.trace.size();
    add("second");
    ASSERT_TRUE(is("second", "Ready"));
    const auto is_merged = [&] {
        const auto pods = attachment_pods();
        return pods.size() == 1 && mentions(*pods.front(), "first") && mentions(*pods.front(), "second");
    };
    ASSERT_TRUE(world.until(
        [&] {
            EXPECT_EQ(in_place()["first"], "first");
            return is_merged();
        },
        2min
    ));
    EXPECT_NE(json::text_at(*attachment_pods().front(), "/metadata/name"), pod) << "its first pod was replaced";
    for (std::size_t i = from; i < world.history().size(); ++i) {
        if (*world.history()[i].kind != api::kVmi) continue;
        EXPECT_EQ(entry_of(*world.history()[i].object, "first", "/phase"), "Ready");
        EXPECT_EQ(entry_of(*world.history()[i].object, "first", "/target"), target);
    }
    for (std::size_t i = acts; i < world.machines.trace.size(); ++i) {
        EXPECT_EQ(world.machines.trace[i].find("first"), std::string::npos) << world.machines.trace[i];
    }
}

}  // namespace
}  // namespace berth::sim
