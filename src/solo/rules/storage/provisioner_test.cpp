// Rows of our own provisioner: when it makes a volume and where, when it gives the choice back, and how volumes end.
#include "solo/rules/storage/provisioner.hpp"
#include "solo/rules/fixture.hpp"

namespace berth::solo {
namespace {

using namespace testing;

api::PersistentVolumeClaim asked(api::PersistentVolumeClaim claim) {
    claim.metadata.annotations[kAskedProvisioner] = "local.berth.dev";
    return claim;
}

struct Seen {
    ProvisionView view;

    explicit Seen(api::PersistentVolumeClaim claim, const char* mode = "WaitForFirstConsumer") {
        view.key = {&api::kClaim, "default", claim.metadata.name};
        view.storage_class = storage_class(class_of(claim), "local.berth.dev", mode);
        view.claim = std::move(claim);
        for (const char* name : {"n1", "n2", "n3"})
            view.nodes.push_back({.name = name, .capacity = 100_GiB, .directory = std::string("/d/nodes/") + name});
    }
    Seen& used(std::size_t node, Bytes bytes) {
        view.nodes[node].used = bytes;
        return *this;
    }
    Seen& cordoned(std::size_t node) {
        view.nodes[node].is_schedulable = false;
        return *this;
    }
    Seen& failed(const char* message, bool is_final_here = false) {
        view.failure = VolumeFailure{message, is_final_here};
        return *this;
    }
    Seen& made(api::PersistentVolume volume) {
        view.volume = std::move(volume);
        return *this;
    }
    Seen& with(auto change) {
        change(view);
        return *this;
    }
};

TEST(Provisioner, Rows) {
    const api::PersistentVolumeClaim plain = claim("a", "local", "10Gi");
    const api::PersistentVolumeClaim chosen = asked(selected(plain, "n1"));
    const char* clear =
        "patch persistentvolumeclaim/default/a "
        "{\"metadata\":{\"annotations\":{\"volume.kubernetes.io/selected-node\":null}}}\n";
    const std::string event = "event Warning ProvisioningFailed on persistentvolumeclaim/default/a: ";
    struct Row {
        const char* scenario;
        Seen seen;
        const char* rule;
        std::string intents;
    };
    const Row rows[] = {
        {"K-60 nobody asked", Seen(selected(plain, "n1")), "nobody-asked", ""},
        {"K-60 another's class",
         Seen(chosen).with([](auto& v) { v.storage_class->provisioner = "x"; }),
         "another-provisioners-class", ""},
        {"K-60 no node yet", Seen(asked(plain)), "no-node-was-chosen", ""},
        {"K-60 a population",
         Seen(chosen).with([](auto& v) {
             v.claim->spec.data_source_ref = api::TypedReference{"cdi.kubevirt.io", "VolumeImportSource", "x", ""};
         }),
         "nobody-asked", ""},
        {"K-60 named already", Seen(chosen).with([](auto& v) { v.claim->spec.volume_name = "v"; }), "nobody-asked", ""},
        {"K-61 made already",
         Seen(chosen).made(held(volume("pvc-uid-a", "local", "10Gi", "n1"), plain)),
         "made-already", ""},
        {"K-70 selector",
         Seen(chosen).with([](auto& v) { v.claim->spec.selector = api::LabelSelector{}; }),
         "selectors-are-not-for-us", event + "claim.Spec.Selector is not supported: remove it, or create a volume with these labels"},
        {"K-70 sharing",
         Seen(chosen).with([](auto& v) { v.claim->spec.access_modes = {"ReadWriteMany"}; }),
         "local-volumes-are-not-shared", event + "local volumes support only the access modes ReadWriteOnce and ReadWriteOncePod: ask for one of these"
        },
        {"P-50 R-17 node gone",
         Seen(asked(selected(plain, "n9"))),
         "chosen-node-is-gone", clear + event + "node \"n9\" does not exist: the scheduler chooses again"},
        {"P-48 R-16 node cannot",
         Seen(chosen).failed("no room for metadata", true),
         "chosen-node-cannot", clear + event + "no room for metadata: the scheduler chooses again"},
        {"K-63 node full",
         Seen(chosen).used(0, 95_GiB),
         "chosen-node-is-full", clear + event + "node \"n1\" has no room for 10Gi: the scheduler chooses again"},
        {"K-63 no room anywhere",
         Seen(asked(plain), "Immediate").used(0, 95_GiB).used(1, 95_GiB).used(2, 95_GiB),
         "no-node-has-room", event + "no node has 10Gi left for claims: delete some, or start with a larger --node-storage"},
        {"K-63 all cordoned",
         Seen(asked(plain), "Immediate").cordoned(0).cordoned(1).cordoned(2),
         "no-node-at-all", event + "no node can be scheduled to: uncordon one"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        const api::Plan plan = provision(row.seen.view);
        EXPECT_EQ(plan.rule, row.rule);
        EXPECT_EQ(print(plan.intents), row.intents);
    }
}

TEST(Provisioner, K61_MakesAnnouncesAndReserves) {
    const api::Plan plan = provision(Seen(asked(selected(claim("a", "local", "10Gi"), "n1"))).view);
    EXPECT_EQ(plan.rule, "volume-is-made-and-announced");
    EXPECT_EQ(
        print(plan.intents),
        "make volume pvc-uid-a on n1\n"
        "create persistentvolume/pvc-uid-a\n"
        "event Normal ProvisioningSucceeded on persistentvolumeclaim/default/a: Successfully provisioned volume "
        "pvc-uid-a"
    );
    const json::Value& args = std::get<api::Effect>(plan.intents[0]).args;
    EXPECT_EQ(json::integer_at(args, "/size"), (10_GiB).value);
    const json::Value& made = std::get<api::Create>(plan.intents[1]).document;
    EXPECT_EQ(json::text_at(made, "/spec/claimRef/uid"), "uid-a");
    EXPECT_EQ(json::text_at(made, "/spec/local/path"), "/d/nodes/n1/volumes/pvc-uid-a");
    EXPECT_EQ(json::text_at(made, "/spec/persistentVolumeReclaimPolicy"), "Delete");
    EXPECT_EQ(json::text_at(made, "/metadata/annotations/pv.kubernetes.io~1provisioned-by"), "local.berth.dev");
    EXPECT_EQ(json::text_at(made, "/metadata/finalizers/0"), kProvisionerFinalizer);
    EXPECT_EQ(node_of(api::decode<api::PersistentVolume>(made).value()), "n1") << "P-02";
}

TEST(Provisioner, P68_BlockVolumes) {
    api::PersistentVolumeClaim block = asked(selected(claim("a", "local", "10Gi"), "n2"));
    block.spec.volume_mode = "Block";
    const api::Plan plan = provision(Seen(block).view);
    EXPECT_TRUE(json::bool_at(std::get<api::Effect>(plan.intents[0]).args, "/block"));
    const json::Value& made = std::get<api::Create>(plan.intents[1]).document;
    EXPECT_EQ(json::text_at(made, "/spec/volumeMode"), "Block");
    EXPECT_EQ(json::text_at(made, "/spec/local/path"), "/d/nodes/n2/volumes/pvc-uid-a.dev");
}

TEST(Provisioner, P49_PlainErrorStaysOnItsNode) {
    const api::Plan plan =
        provision(Seen(asked(selected(claim("a", "local", "10Gi"), "n1"))).failed("read-only file system").view);
    EXPECT_EQ(plan.rule, "volume-is-made-and-announced") << "R-14: tried again, the choice stays";
    EXPECT_EQ(
        api::print(plan.intents[0]),
        "event Warning ProvisioningFailed on persistentvolumeclaim/default/a: read-only file system"
    );
    EXPECT_EQ(api::print(plan.intents[1]), "make volume pvc-uid-a on n1");
}

TEST(Provisioner, P18_ImmediateGoesWhereMostRoomIs) {
    const api::PersistentVolumeClaim imm = asked(claim("a", "local-immediate", "10Gi"));
    const auto target = [&](Seen seen) { return print(provision(seen.view).intents).substr(0, 27); };
    EXPECT_EQ(target(Seen(imm, "Immediate").used(0, 50_GiB)), "make volume pvc-uid-a on n2") << "then the name";
    EXPECT_EQ(target(Seen(imm, "Immediate").used(0, 50_GiB).used(1, 1_GiB)), "make volume pvc-uid-a on n3");
    EXPECT_EQ(target(Seen(imm, "Immediate").used(0, 50_GiB).cordoned(1).cordoned(2)), "make volume pvc-uid-a on n1");
}

TEST(Provisioner, GrownClaimGrowsItsVolume) {
    api::PersistentVolumeClaim grown = bound(claim("a", "local", "10Gi"), "v");
    grown.spec.resources.requests["storage"] = {"20Gi"};
    Seen seen = Seen(grown).made(held(volume("v", "local", "10Gi", "n1"), grown)).used(0, 10_GiB);
    EXPECT_EQ(
        print(provision(seen.view).intents),
        "grow volume v on n1\npatch persistentvolume/v {\"spec\":{\"capacity\":{\"storage\":\"20Gi\"}}}"
    );
    seen.view.volume->spec.capacity["storage"] = {"20Gi"};
    EXPECT_EQ(
        print(provision(seen.view).intents),
        "patch persistentvolumeclaim/default/a status {\"status\":{\"capacity\":{\"storage\":\"20Gi\"}}}"
    );
    seen.view.claim->status.capacity["storage"] = {"20Gi"};
    EXPECT_EQ(print(provision(seen.view).intents), "");
    seen.view.claim->spec.resources.requests["storage"] = {"200Gi"};
    EXPECT_TRUE(print(provision(seen.view).intents).ends_with("node \"n1\" has no room to grow the volume to 200Gi"));
    seen.view.storage_class->allow_volume_expansion = false;
    EXPECT_EQ(print(provision(seen.view).intents), "");
}

TEST(Provisioner, K64_Reclaim) {
    const api::PersistentVolumeClaim mine = claim("a", "local", "1Gi");
    const auto ours = [&](std::string_view phase, bool deleting) {
        api::PersistentVolume out = held(volume("v", "local", "1Gi", "n1"), mine, phase);
        out.metadata.annotations[kProvisionedBy] = "local.berth.dev";
        out.metadata.finalizers = {kProvisionerFinalizer, "kubernetes.io/pv-protection"};
        if (deleting) out.metadata.deletion_timestamp = at(0);
        return out;
    };
    api::PersistentVolume foreign = ours("Released", false);
    foreign.metadata.annotations[kProvisionedBy] = "rancher.io/local-path";
    api::PersistentVolume kept = ours("Released", false);
    kept.spec.reclaim_policy = "Retain";
    api::PersistentVolume kept_deleted = ours("Released", true);
    kept_deleted.spec.reclaim_policy = "Retain";
    const char* drop = "patch persistentvolume/v {\"metadata\":{\"finalizers\":[\"kubernetes.io/pv-protection\"]}}";
    const std::string remove = "delete volume v on n1\n";
    struct Row {
        const char* scenario;
        ReclaimView view;
        std::string intents;
    };
    const Row rows[] = {
        {"K-64 bound stays",                  {{}, ours("Bound", false), true, {}},     ""                                  },
        {"K-64 data, then the object",        {{}, ours("Released", false), true, {}},  remove + "delete persistentvolume/v"},
        {"K-64 killed in between",            {{}, ours("Released", true), true, {}},   remove + drop                       },
        {"K-74 node gone",                    {{}, ours("Released", false), false, {}}, "delete persistentvolume/v"         },
        {"P-70 retained",                     {{}, kept, true, {}},                     ""                                  },
        {"K-56 retained and deleted by hand", {{}, kept_deleted, true, {}},             drop                                },
        {"K-64 foreign",                      {{}, foreign, true, {}},                  ""                                  },
        {"K-91 deleted while bound",          {{}, ours("Bound", true), true, {}},      ""                                  },
        {"K-64 tried again",
         {{}, ours("Released", false), true, VolumeFailure{"busy", false}},
         "event Warning VolumeFailedDelete on persistentvolume/v: busy\n" + remove + "delete persistentvolume/v"            },
    };
    for (Row row : rows) {
        SCOPED_TRACE(row.scenario);
        row.view.key = {&api::kVolume, "", "v"};
        EXPECT_EQ(print(reclaim(row.view).intents), row.intents);
    }
}

}  // namespace
}  // namespace berth::solo
