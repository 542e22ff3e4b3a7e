// Rows of the scheduler: which node, which volumes, which words, and what is kept in mind.
#include "solo/rules/fixture.hpp"
#include "solo/rules/scheduler/facts.hpp"

namespace berth::solo::scheduler {
namespace {

using namespace testing;

// A view is built step by step; pods and volumes live as long as the case.
struct Seen {
    View view;
    std::list<api::Pod> pods;
    std::list<api::PersistentVolume> volumes;
    std::list<api::CsiStorageCapacity> capacities;

    explicit Seen(api::Pod asking) {
        view.key = {&api::kPod, asking.metadata.ns, asking.metadata.name};
        view.pod = std::move(asking);
        view.now = at(0);
        for (const auto& one :
             {storage_class("dyn", "rancher.io/local-path"),
              storage_class("static", "kubernetes.io/no-provisioner"),
              storage_class("local", "local.berth.dev"),
              storage_class("imm", "rancher.io/local-path", "Immediate"),
              storage_class("csi", "csi.example")}) {
            view.classes[one.metadata.name] = one;
        }
    }
    Seen& on(api::Node node) {
        NodeView one;
        one.room = {
            .name = node.metadata.name, .capacity = bytes_or_zero(node.status.allocatable["local.berth.dev/storage"])
        };
        one.node = std::move(node);
        view.nodes.push_back(std::move(one));
        return *this;
    }
    Seen& three() { return on(node("n1")).on(node("n2")).on(node("n3")); }
    Seen& with(api::PersistentVolumeClaim claim) {
        view.claims[claim.metadata.name] = std::move(claim);
        return *this;
    }
    Seen& with(api::PersistentVolume volume) {
        volumes.push_back(std::move(volume));
        view.volumes.push_back(&volumes.back());
        return *this;
    }
    Seen& with(api::Pod other) {
        pods.push_back(std::move(other));
        for (NodeView& one : view.nodes) {
            if (one.node.metadata.name == pods.back().spec.node_name) one.pods.push_back(&pods.back());
        }
        return *this;
    }
    Seen& used(const std::string& name, Bytes bytes) {
        for (NodeView& one : view.nodes) {
            if (one.room.name == name) one.room.used = bytes;
        }
        return *this;
    }
    Seen& assumed(
        std::string name, std::set<std::string> its_volumes, std::set<std::string> its_claims = {}, int since = 0
    ) {
        view.assumed = Assumed{std::move(name), at(since), std::move(its_volumes), std::move(its_claims)};
        return *this;
    }
    api::Node& node_of(std::size_t i) { return view.nodes[i].node; }
};

std::string told(const Decision& got) {
    for (const api::Intent& intent : got.plan.intents) {
        if (const auto* event = std::get_if<api::Emit>(&intent)) return event->message;
    }
    return {};
}

std::string chosen(const Decision& got) { return got.assume ? got.assume->node : ""; }

api::Pod vm_pod() { return asks(pod("vm"), "100m", "512Mi"); }

// --- placing ---

TEST(Scheduler, P11_SelectorDecides) {
    api::Pod asking = with_claim(with_claim(vm_pod(), "a"), "b");
    asking.spec.node_selector = {
        {"kubernetes.io/hostname", "n2"}
    };
    Seen seen(asking);
    seen.three().with(claim("a", "dyn", "1Gi")).with(claim("b", "dyn", "1Gi"));
    const Decision got = sync(seen.view);
    EXPECT_EQ(chosen(got), "n2");
    EXPECT_EQ(got.plan.spec, "K-28");
    ASSERT_EQ(got.plan.intents.size(), 2U);
    for (const api::Intent& intent : got.plan.intents) {
        const json::Value& patch = std::get<api::Patch>(intent).patch;
        const json::Value& annotations = *json::find(patch, "/metadata/annotations");
        EXPECT_EQ(json::text_at(annotations, "/volume.kubernetes.io~1selected-node"), "n2");
        EXPECT_EQ(json::text_at(annotations, "/volume.kubernetes.io~1storage-provisioner"), "rancher.io/local-path");
    }
    EXPECT_EQ(got.assume->claims, (std::set<std::string>{"a", "b"}));
}

TEST(Scheduler, P11_CordonsLeaveOneNode) {
    Seen seen(with_claim(vm_pod(), "a"));
    seen.three().with(claim("a", "dyn", "1Gi"));
    seen.node_of(0).spec.unschedulable = true;
    seen.node_of(2).spec.unschedulable = true;
    EXPECT_EQ(chosen(sync(seen.view)), "n2");
}

TEST(Scheduler, P12_TolerationAndAffinity) {
    Seen refused(vm_pod());
    refused.on(node("n3"));
    refused.node_of(0).spec.taints = {
        {"disk", "slow", "NoSchedule"}
    };
    EXPECT_EQ(told(sync(refused.view)), "0/1 nodes are available: 1 node(s) had untolerated taint {disk: slow}.");

    api::Pod asking = vm_pod();
    asking.spec.tolerations = {
        {.key = "disk", .op = "Exists", .effect = "NoSchedule"}
    };
    api::NodeSelectorTerm term;
    term.match_fields = {
        {"metadata.name", "In", {"n3"}}
    };
    asking.spec.affinity = api::Affinity{
        .node_affinity = api::NodeAffinity{api::NodeSelector{{term}}, {}}
    };
    Seen seen(asking);
    seen.three();
    seen.node_of(2).spec.taints = {
        {"disk", "slow", "NoSchedule"}
    };
    const Decision got = sync(seen.view);
    EXPECT_EQ(
        print(got.plan.intents),
        "bind pod/default/vm to n3\nevent Normal Scheduled on pod/default/vm: Successfully assigned default/vm to n3"
    );
}

TEST(Scheduler, P13_StaticVolumeDecidesTheNode) {
    Seen seen(with_claim(vm_pod(), "a"));
    seen.three()
        .with(claim("a", "static", "10Gi"))
        .with(volume("small", "static", "5Gi", "n1"))
        .with(volume("big", "static", "20Gi", "n2"));
    const Decision got = sync(seen.view);
    EXPECT_EQ(chosen(got), "n2");
    EXPECT_EQ(got.assume->volumes, (std::set<std::string>{"big"}));
    ASSERT_EQ(got.plan.intents.size(), 1U);
    const auto& patch = std::get<api::Patch>(got.plan.intents[0]);
    EXPECT_EQ(api::print(patch.key), "persistentvolume/big");
    EXPECT_EQ(patch.at, ResourceVersion{"9"});
    EXPECT_EQ(json::text_at(patch.patch, "/spec/claimRef/uid"), "uid-a");
    EXPECT_EQ(json::text_at(patch.patch, "/metadata/annotations/pv.kubernetes.io~1bound-by-controller"), "yes");
}

TEST(Scheduler, P14_SmallestFirst) {
    Seen seen(with_claim(with_claim(vm_pod(), "eight"), "four"));
    seen.on(node("n1")).on(node("n2")).with(claim("four", "static", "4Gi")).with(claim("eight", "static", "8Gi"));
    seen.with(volume("v10", "static", "10Gi", "n1"))
        .with(volume("v5", "static", "5Gi", "n1"))
        .with(volume("w10", "static", "10Gi", "n2"));
    std::string why;
    const auto bindings = bindings_on(seen.view, seen.view.nodes[0], why);
    ASSERT_TRUE(bindings.has_value()) << why;
    EXPECT_EQ((*bindings)[0].claim + " " + (*bindings)[0].volume, "four v5");
    EXPECT_EQ((*bindings)[1].claim + " " + (*bindings)[1].volume, "eight v10");
    EXPECT_EQ(chosen(sync(seen.view)), "n1");
}

TEST(Scheduler, P15_NoNodeHasBothVolumes) {
    Seen seen(with_claim(with_claim(vm_pod(), "a"), "b"));
    seen.on(node("n1")).on(node("n2")).with(claim("a", "static", "1Gi")).with(claim("b", "static", "1Gi"));
    seen.with(volume("v1", "static", "1Gi", "n1")).with(volume("v2", "static", "1Gi", "n2"));
    const Decision got = sync(seen.view);
    EXPECT_EQ(got.plan.rule, "no-node-says-why");
    EXPECT_EQ(told(got), "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.");
    EXPECT_EQ(got.plan.intents.size(), 2U) << "the condition and the event, no claimRef";
    EXPECT_EQ(got.plan.look_again_at, at(300)) << "K-07";
    EXPECT_EQ(got.not_before, at(0) + std::chrono::milliseconds(50));

    seen.with(volume("v3", "static", "1Gi", "n2"));
    EXPECT_EQ(chosen(sync(seen.view)), "n2");
}

TEST(Scheduler, P16_NothingIsWrittenForWhatCannotRun) {
    Seen seen(with_claim(asks(pod("vm"), "1", "16Gi"), "a"));
    seen.three().with(claim("a", "dyn", "1Gi"));
    const Decision got = sync(seen.view);
    EXPECT_EQ(told(got), "0/3 nodes are available: 3 Insufficient memory.");
    EXPECT_FALSE(got.assume);
    const auto& patch = std::get<api::Patch>(got.plan.intents[0]);
    EXPECT_EQ(api::print(patch.key), "pod/default/vm");
    EXPECT_EQ(json::text_at(patch.patch, "/status/conditions/0/reason"), "Unschedulable");
    EXPECT_EQ(got.plan.wait->who, "user");
}

TEST(Scheduler, P17_SilentWhileNothingChanges) {
    Seen seen(asks(pod("vm"), "1", "16Gi"));
    seen.three();
    seen.view.pod->status.conditions = {
        {.type = "PodScheduled",
         .status = "False",
         .reason = "Unschedulable",
         .message = "0/3 nodes are available: 3 Insufficient memory."}
    };
    EXPECT_EQ(print(sync(seen.view).plan.intents), "");
    seen.view.pod->metadata.deletion_timestamp = at(0);
    EXPECT_EQ(sync(seen.view).plan.rule, "pod-needs-no-node");
}

TEST(Scheduler, P20_BoundElsewhereAndSelectedHere) {
    api::Pod asking = with_claim(with_claim(vm_pod(), "done"), "new");
    asking.spec.node_selector = {
        {"kubernetes.io/hostname", "n2"}
    };
    Seen seen(asking);
    seen.three().with(bound(claim("done", "imm", "1Gi"), "v1")).with(claim("new", "dyn", "1Gi"));
    seen.with(held(volume("v1", "imm", "1Gi", "n1"), seen.view.claims["done"]));
    EXPECT_EQ(
        told(sync(seen.view)),
        "0/3 nodes are available: 1 node(s) had volume node affinity conflict, 2 node(s) didn't match Pod's node "
        "affinity/selector."
    );
}

TEST(Scheduler, P19_WaitingClaimJoinsTheBoundOne) {
    Seen seen(with_claim(with_claim(vm_pod(), "done"), "new"));
    seen.three().with(bound(claim("done", "imm", "1Gi"), "v1")).with(claim("new", "dyn", "1Gi"));
    seen.with(held(volume("v1", "imm", "1Gi", "n1"), seen.view.claims["done"]));
    EXPECT_EQ(chosen(sync(seen.view)), "n1");
}

TEST(Scheduler, P47_CapacityObjectsOfADriver) {
    Seen seen(with_claim(vm_pod(), "a"));
    seen.on(node("n1")).on(node("n2")).with(claim("a", "csi", "10Gi"));
    seen.view.counting_drivers = {"csi.example"};
    const auto promise = [&](const char* name, const char* size) {
        api::CsiStorageCapacity one;
        one.storage_class_name = "csi";
        one.capacity = {size};
        one.node_topology = api::LabelSelector{{{"kubernetes.io/hostname", name}}, {}};
        seen.capacities.push_back(one);
        seen.view.capacities.push_back(&seen.capacities.back());
    };
    promise("n1", "1Gi");
    EXPECT_EQ(told(sync(seen.view)), "0/2 nodes are available: 2 node(s) did not have enough free storage.");
    promise("n2", "100Gi");
    EXPECT_EQ(chosen(sync(seen.view)), "n2");
}

TEST(Scheduler, P51_FirstBoundHereSecondFindsNoRoom) {
    Seen seen(with_claim(with_claim(vm_pod(), "first"), "second"));
    seen.three().with(bound(claim("first", "local", "60Gi"), "v1")).with(claim("second", "local", "60Gi"));
    seen.with(held(volume("v1", "local", "60Gi", "n1"), seen.view.claims["first"])).used("n1", 60_GiB);
    const Decision got = sync(seen.view);
    EXPECT_EQ(
        told(got),
        "0/3 nodes are available: 1 node(s) did not have enough free storage, 2 node(s) had volume node affinity "
        "conflict."
    );
    EXPECT_EQ(got.plan.intents.size(), 2U) << "R-15: nothing is deleted, nothing is written to claims";
}

TEST(Scheduler, K65_TheSumOfClaimsMustFit) {
    Seen seen(with_claim(with_claim(vm_pod(), "a"), "b"));
    seen.on(node("n1", "4", "8Gi", "50Gi"))
        .on(node("n2", "4", "8Gi", "100Gi"))
        .with(claim("a", "local", "40Gi"))
        .with(claim("b", "local", "40Gi"));
    EXPECT_EQ(chosen(sync(seen.view)), "n2");
    seen.used("n2", 30_GiB);
    EXPECT_EQ(told(sync(seen.view)), "0/2 nodes are available: 2 node(s) did not have enough free storage.");
}

TEST(Scheduler, K65_PodsThatSpoolCountToo) {
    api::Pod asking = with_claim(vm_pod(), "a");
    asking.spec.containers[0].resources.requests["local.berth.dev/storage"] = {"70Gi"};
    Seen seen(asking);
    seen.on(node("n1")).with(claim("a", "local", "40Gi"));
    EXPECT_EQ(told(sync(seen.view)), "0/1 nodes are available: 1 node(s) did not have enough free storage.");
    seen.used("n1", 50_GiB);
    EXPECT_EQ(told(sync(seen.view)), "0/1 nodes are available: 1 Insufficient local.berth.dev/storage.");
}

// --- claims ---

TEST(Scheduler, K10_ClaimsThatNoNodeCures) {
    api::PersistentVolumeClaim lost = bound(claim("a", "dyn", "1Gi"), "v1");
    lost.status.phase = "Lost";
    api::PersistentVolumeClaim deleting = claim("a", "dyn", "1Gi");
    deleting.metadata.deletion_timestamp = at(0);
    api::PersistentVolumeClaim prebound = claim("a", "dyn", "1Gi");
    prebound.spec.volume_name = "v1";
    struct Row {
        const char* scenario;
        std::optional<api::PersistentVolumeClaim> claim;
        const char* message;
    };
    const Row rows[] = {
        {"K-10 missing", {}, "persistentvolumeclaim \"a\" not found"},
        {"K-10 lost", lost, "persistentvolumeclaim \"a\" bound to non-existent persistentvolume \"v1\""},
        {"K-10 deleting", deleting, "persistentvolumeclaim \"a\" is being deleted"},
        {"K-11 immediate", claim("a", "imm", "1Gi"), "pod has unbound immediate PersistentVolumeClaims"},
        {"K-11 prebound", prebound, "pod has unbound immediate PersistentVolumeClaims"},
        {"K-11 no class", claim("a", "", "1Gi"), "pod has unbound immediate PersistentVolumeClaims"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        Seen seen(with_claim(vm_pod(), "a"));
        seen.three();
        if (row.claim) seen.with(*row.claim);
        EXPECT_EQ(print(sync(seen.view).plan.intents), "") << "not a word the first time";
        seen.view.failures = 1;
        const Decision got = sync(seen.view);
        EXPECT_EQ(got.plan.rule, "claim-cannot-be-used");
        EXPECT_EQ(told(got), "0/3 nodes are available: " + std::string(row.message) + ".");
    }
}

TEST(Scheduler, K20_BoundToAVolumeThatIsGone) {
    Seen seen(with_claim(vm_pod(), "a"));
    seen.on(node("n1")).with(bound(claim("a", "dyn", "1Gi"), "v1"));
    EXPECT_EQ(
        told(sync(seen.view)),
        "0/1 nodes are available: 1 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)."
    );
}

TEST(Scheduler, K23_SelectedNodeIsSticky) {
    Seen seen(with_claim(vm_pod(), "a"));
    seen.three().with(selected(claim("a", "dyn", "1Gi"), "n3"));
    const Decision got = sync(seen.view);
    EXPECT_EQ(chosen(got), "n3") << "P-56: found again after a restart";
    EXPECT_EQ(print(got.plan.intents), "") << "it is written already";
    seen.node_of(2).spec.unschedulable = true;
    EXPECT_EQ(
        told(sync(seen.view)),
        "0/3 nodes are available: 1 node(s) were unschedulable, 2 node(s) didn't find available persistent volumes to "
        "bind."
    );
}

TEST(Scheduler, K24_VolumesThatDoNotDo) {
    const api::PersistentVolumeClaim wanted = claim("a", "static", "10Gi");
    api::PersistentVolumeClaim other = claim("other", "static", "10Gi");
    api::PersistentVolumeClaim namesake = wanted;
    namesake.metadata.uid = {"an-older-one"};
    const api::PersistentVolume fits = volume("v1", "static", "10Gi", "n1");
    const auto changed = [&](auto change) {
        api::PersistentVolume out = fits;
        change(out);
        return out;
    };
    struct Row {
        const char* scenario;
        api::PersistentVolume volume;
        const char* node;
    };
    const Row rows[] = {
        {"K-24 fits", fits, "n1"},
        {"K-24 too small", changed([](auto& v) { v.spec.capacity["storage"] = {"9Gi"}; }), ""},
        {"K-24 block", changed([](auto& v) { v.spec.volume_mode = "Block"; }), ""},
        {"K-24 filesystem said so", changed([](auto& v) { v.spec.volume_mode = "Filesystem"; }), "n1"},
        {"K-24 deleting", changed([](auto& v) { v.metadata.deletion_timestamp = at(0); }), ""},
        {"K-24 other class", changed([](auto& v) { v.spec.storage_class_name = "fast"; }), ""},
        {"K-24 modes", changed([](auto& v) { v.spec.access_modes = {"ReadOnlyMany"}; }), ""},
        {"R-39 released", held(fits, namesake, "Released"), ""},
        {"K-24 another's", held(fits, other), ""},
        {"P-53 pre-bound to it", held(fits, wanted, "Available"), "n1"},
        {"K-24 attributes class", changed([](auto& v) { v.spec.volume_attributes_class_name = "gold"; }), ""},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        Seen seen(with_claim(vm_pod(), "a"));
        seen.on(node("n1")).with(wanted).with(row.volume);
        EXPECT_EQ(chosen(sync(seen.view)), row.node);
    }
}

TEST(Scheduler, R20_AssumedVolumesAreTaken) {
    Seen seen(with_claim(vm_pod(), "a"));
    seen.on(node("n1")).on(node("n2")).with(claim("a", "static", "1Gi"));
    seen.with(volume("v1", "static", "1Gi", "n1")).with(volume("v2", "static", "1Gi", "n2"));
    seen.view.taken_volumes = {"v1"};
    EXPECT_EQ(chosen(sync(seen.view)), "n2") << "K-33, P-53";
}

TEST(Scheduler, R21_PreBoundVolumePinsThePod) {
    const api::PersistentVolumeClaim a = claim("a", "static", "1Gi");
    Seen seen(with_claim(vm_pod(), "a"));
    seen.on(node("n1"))
        .on(node("n2"))
        .with(a)
        .with(held(volume("v1", "static", "1Gi", "n2"), a, "Available"))
        .with(volume("v2", "static", "1Gi", "n1"));
    EXPECT_EQ(chosen(sync(seen.view)), "n2");
    seen.node_of(1).spec.unschedulable = true;
    EXPECT_EQ(
        told(sync(seen.view)),
        "0/2 nodes are available: 1 node(s) didn't find available persistent volumes to bind, 1 node(s) were "
        "unschedulable."
    );
}

TEST(Scheduler, K25_TopologiesOfAClass) {
    Seen seen(with_claim(vm_pod(), "a"));
    seen.three().with(claim("a", "dyn", "1Gi"));
    seen.view.classes["dyn"].allowed_topologies = {{{{"kubernetes.io/hostname", "", {"n2", "n9"}}}}};
    EXPECT_EQ(chosen(sync(seen.view)), "n2");
}

TEST(Scheduler, K26_MatchedAndProvisionedTogether) {
    Seen seen(with_claim(with_claim(vm_pod(), "s"), "d"));
    seen.three()
        .with(claim("s", "static", "1Gi"))
        .with(claim("d", "dyn", "1Gi"))
        .with(volume("v2", "static", "1Gi", "n2"));
    const Decision got = sync(seen.view);
    EXPECT_EQ(chosen(got), "n2");
    ASSERT_EQ(got.plan.intents.size(), 2U);
    EXPECT_EQ(api::print(std::get<api::Patch>(got.plan.intents[0]).key), "persistentvolume/v2")
        << "K-29: volumes first";
    EXPECT_EQ(api::print(std::get<api::Patch>(got.plan.intents[1]).key), "persistentvolumeclaim/default/d");
}

// --- binding ---

TEST(Scheduler, K30_WaitAndItsEnds) {
    const api::PersistentVolumeClaim a = claim("a", "dyn", "1Gi");
    const auto waiting = [&](api::PersistentVolumeClaim c) {
        Seen seen(with_claim(vm_pod(), "a"));
        seen.three().with(std::move(c)).assumed("n1", {}, {"a"});
        return seen;
    };
    {
        Seen seen = waiting(selected(a, "n1"));
        Decision got = sync(seen.view);
        EXPECT_EQ(got.plan.rule, "volumes-come-before-the-pod");
        EXPECT_EQ(got.plan.look_again_at, at(601));
        EXPECT_FALSE(got.forget);
        seen.view.now = at(601);
        got = sync(seen.view);
        SCOPED_TRACE("R-19, P-74 timeout");
        EXPECT_EQ(told(got), "binding volumes: context deadline exceeded");
        EXPECT_TRUE(got.forget);
        EXPECT_EQ(got.not_before, at(602));
    }
    {
        SCOPED_TRACE("R-15, P-48 reschedule");
        const Decision got = sync(waiting(a).view);
        EXPECT_EQ(got.plan.rule, "failed-binding-starts-over");
        EXPECT_EQ(told(got), "provisioning failed for PVC \"a\"");
        EXPECT_EQ(
            json::text_at(std::get<api::Patch>(got.plan.intents[0]).patch, "/status/conditions/0/reason"),
            "SchedulerError"
        ) << "K-32";
    }
    {
        SCOPED_TRACE("K-30 moved");
        EXPECT_EQ(told(sync(waiting(selected(a, "n2")).view)), "selectedNode annotation reset for PVC \"a\"");
    }
    {
        SCOPED_TRACE("R-17 node gone");
        Seen seen = waiting(selected(a, "n1"));
        seen.view.nodes.erase(seen.view.nodes.begin());
        EXPECT_EQ(told(sync(seen.view)), "node \"n1\" not found");
    }
    {
        SCOPED_TRACE("R-18 pod gone");
        Seen seen = waiting(selected(a, "n1"));
        seen.view.pod.reset();
        const Decision got = sync(seen.view);
        EXPECT_TRUE(got.forget);
        EXPECT_EQ(print(got.plan.intents), "") << "no Binding is posted";
    }
    {
        SCOPED_TRACE("R-22 static volume let go");
        Seen seen(with_claim(vm_pod(), "a"));
        seen.three().with(claim("a", "static", "1Gi")).with(volume("v1", "static", "1Gi", "n1")).assumed("n1", {"v1"});
        EXPECT_EQ(told(sync(seen.view)), "ClaimRef got reset for pv \"v1\"");
    }
    {
        SCOPED_TRACE("K-30 volume elsewhere");
        Seen seen = waiting(bound(a, "v1"));
        seen.with(held(volume("v1", "dyn", "1Gi", "n2"), a));
        EXPECT_EQ(told(sync(seen.view)), "pv \"v1\" node affinity doesn't match node \"n1\"");
    }
    {
        SCOPED_TRACE("K-34 all bound");
        Seen seen = waiting(bound(a, "v1"));
        seen.with(held(volume("v1", "dyn", "1Gi", "n1"), a));
        const Decision got = sync(seen.view);
        EXPECT_EQ(got.plan.spec, "K-34");
        EXPECT_EQ(api::print(got.plan.intents[0]), "bind pod/default/vm to n1");
        EXPECT_EQ(got.assume, seen.view.assumed) << "counted until the API shows it";
    }
}

TEST(Scheduler, K07_PausesDouble) {
    Seen seen(with_claim(vm_pod(), "a"));
    seen.three().with(claim("a", "dyn", "1Gi")).assumed("n1", {}, {"a"});
    for (const auto& [failures, seconds] : {
             std::pair{0,  1 },
             {1,  2 },
             {3,  8 },
             {4,  10},
             {30, 10}
    }) {
        seen.view.failures = failures;
        EXPECT_EQ(sync(seen.view).not_before, at(seconds)) << failures;
    }
    seen.view.assumed.reset();
    seen.view.not_before = at(1);
    Decision got = sync(seen.view);
    EXPECT_EQ(got.plan.rule, "pause-after-an-attempt");
    EXPECT_EQ(got.plan.look_again_at, at(1));
    seen.view.now = at(1);
    EXPECT_EQ(sync(seen.view).plan.rule, "pod-and-claims-go-together");
}

TEST(Scheduler, K05_WhoseTurnItIsNot) {
    Seen seen(vm_pod());
    seen.three();
    seen.view.pod->spec.scheduler_name = "mine";
    EXPECT_EQ(sync(seen.view).plan.rule, "another-schedulers-pod");
    seen.view.pod->spec.scheduler_name = "default-scheduler";
    seen.view.pod->spec.node_name = "n1";
    EXPECT_EQ(sync(seen.view).plan.rule, "pod-needs-no-node") << "R-61";
    seen.view.pod->spec.node_name.clear();
    seen.view.pod->spec.scheduling_gates = json::parse(R"([{"name":"wait"}])").value();
    EXPECT_EQ(sync(seen.view).plan.rule, "gated-pod-waits");
}

TEST(Scheduler, K06_NoNodes) {
    Seen seen(vm_pod());
    EXPECT_EQ(told(sync(seen.view)), "no nodes available to schedule pods");
}

}  // namespace
}  // namespace berth::solo::scheduler
