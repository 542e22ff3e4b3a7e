// Rows of the volume binder: what a claim gets, what becomes of a volume, and a crash between any two writes.
#include "solo/rules/storage/binder.hpp"
#include "json/diff.hpp"
#include "solo/rules/fixture.hpp"

namespace berth::solo {
namespace {

using namespace testing;

// --- claims ---

struct ClaimCase {
    ClaimView view;
    std::vector<std::shared_ptr<api::PersistentVolume>> volumes;  // shared: a case is copied into its row
    std::vector<std::shared_ptr<api::Pod>> pods;

    explicit ClaimCase(api::PersistentVolumeClaim claim) {
        view.key = {&api::kClaim, claim.metadata.ns, claim.metadata.name};
        view.storage_class = storage_class("dyn", "rancher.io/local-path");
        if (claim.spec.storage_class_name == "static")
            view.storage_class = storage_class("static", "kubernetes.io/no-provisioner", "Immediate");
        if (claim.spec.storage_class_name == "imm")
            view.storage_class = storage_class("imm", "rancher.io/local-path", "Immediate");
        if (claim.spec.storage_class_name == "local") view.storage_class = storage_class("local", "local.berth.dev");
        if (claim.spec.storage_class_name.value_or("").empty() || claim.spec.storage_class_name == "none")
            view.storage_class.reset();
        view.claim = std::move(claim);
    }
    ClaimCase& with(api::PersistentVolume volume) {
        volumes.push_back(std::make_shared<api::PersistentVolume>(std::move(volume)));
        view.volumes.push_back(volumes.back().get());
        return *this;
    }
    ClaimCase& with(api::Pod pod) {
        pods.push_back(std::make_shared<api::Pod>(std::move(pod)));
        view.pods.push_back(pods.back().get());
        return *this;
    }
};

std::string words(const api::Plan& plan) {
    for (const api::Intent& intent : plan.intents) {
        if (const auto* event = std::get_if<api::Emit>(&intent)) return event->reason + ": " + event->message;
    }
    return {};
}

api::PersistentVolumeClaim naming(api::PersistentVolumeClaim claim, const std::string& volume) {
    claim.spec.volume_name = volume;
    return claim;
}

TEST(ClaimBinder, Rows) {
    const api::PersistentVolumeClaim wffc = claim("a", "dyn", "1Gi");
    const api::PersistentVolumeClaim imm = claim("a", "imm", "1Gi");
    api::PersistentVolumeClaim other = claim("b", "static", "1Gi");
    api::PersistentVolumeClaim classless = claim("a", "", "1Gi");
    classless.spec.storage_class_name.reset();
    api::PersistentVolumeClaim deleting = wffc;
    deleting.metadata.deletion_timestamp = at(0);
    api::Pod unplaced = with_claim(pod("tp"), "a");
    unplaced.status.conditions = {
        {.type = "PodScheduled", .status = "False"}
    };
    ClaimCase defaulted(classless);
    defaulted.view.default_class = "local";
    struct Row {
        const char* scenario;
        ClaimCase seen;
        const char* rule;
        const char* words;
    };
    const Row rows[] = {
        {"K-41 WFFC waits",
         ClaimCase(wffc),
         "class-waits-for-a-consumer", "WaitForFirstConsumer: waiting for first consumer to be created before binding"},
        {"K-41 an unplaced pod",
         ClaimCase(wffc).with(unplaced),
         "class-waits-for-a-consumer", "WaitForPodScheduled: waiting for pod tp to be scheduled"},
        {"K-41 a pod nobody looked at yet",
         ClaimCase(wffc).with(with_claim(pod("tp"), "a")),
         "class-waits-for-a-consumer", "WaitForFirstConsumer: waiting for first consumer to be created before binding"},
        {"K-40 WFFC takes nothing free",
         ClaimCase(wffc).with(volume("v", "dyn", "1Gi")),
         "class-waits-for-a-consumer", "WaitForFirstConsumer: waiting for first consumer to be created before binding"},
        {"K-40 WFFC takes what is reserved",
         ClaimCase(wffc).with(held(volume("v", "dyn", "1Gi"), wffc, "Available")),
         "a-volume-fits", ""},
        {"K-42 nothing fits",
         ClaimCase(claim("a", "static", "1Gi")),
         "class-has-no-provisioner", "ProvisioningFailed: no volume of class \"static\" fits, and the class has no provisioner"},
        {"K-42 unknown class",
         ClaimCase(claim("a", "none", "1Gi")),
         "class-has-no-provisioner", "ProvisioningFailed: storageclass.storage.k8s.io \"none\" not found"},
        {"K-42 no class",
         ClaimCase(claim("a", "", "1Gi")),
         "nothing-fits-and-no-class", "FailedBinding: no persistent volumes available for this claim and no storage class is set"},
        {"K-04 a default comes later", defaulted, "default-class-is-given-later", ""},
        {"K-43 the named one is absent", ClaimCase(naming(wffc, "v")), "named-volume-is-absent", ""},
        {"K-43 the named one is new",
         ClaimCase(naming(imm, "v")).with([] {
             auto v = volume("v", "imm", "1Gi");
             v.status.phase = "";
             return v;
         }()),
         "named-volume-is-not-ready", ""},
        {"K-43 the named one is taken",
         ClaimCase(naming(wffc, "v")).with(held(volume("v", "dyn", "1Gi"), other)),
         "named-volume-is-taken", "FailedBinding: volume \"v\" already bound to a different claim."},
        {"K-43 the named one is too small",
         ClaimCase(naming(imm, "v")).with(volume("v", "imm", "1Mi")),
         "named-volume-does-not-fit", "VolumeMismatch: Cannot bind to requested volume \"v\": its size, mode, class or access modes differ"},
        {"K-43 the named one fits", ClaimCase(naming(imm, "v")).with(volume("v", "imm", "1Gi")), "a-volume-fits", ""},
        {"K-45 volume gone",
         ClaimCase(bound(imm, "v")),
         "bound-claim-lost-its-volume", "ClaimLost: Bound claim has lost its PersistentVolume. Data on the volume is lost!"},
        {"K-45 name gone",
         ClaimCase(bound(imm, "")),
         "bound-claim-lost-its-volume", "ClaimLost: Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"},
        {"K-46 another has it",
         ClaimCase(bound(imm, "v")).with(held(volume("v", "imm", "1Gi"), other)),
         "volume-belongs-to-another", "ClaimMisbound: Two claims are bound to the same volume, this one is bound incorrectly"},
        {"K-46 reference lost",
         ClaimCase(bound(imm, "v")).with(volume("v", "imm", "1Gi")),
         "bound-claim-stays-consistent", ""},
        {"K-92 deleted while pending", ClaimCase(deleting), "deleted-claim-binds-nothing", ""},
        {"R-39 a released namesake is not its",
         ClaimCase(claim("a", "static", "1Gi"))
             .with(held(
                 volume("v", "static", "1Gi"),
         [] {
                     auto c = claim("a", "static", "1Gi");
                     c.metadata.uid = {"old"};
                     return c;
                 }(),
         "Released"
             )),
         "class-has-no-provisioner", "ProvisioningFailed: no volume of class \"static\" fits, and the class has no provisioner"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        const api::Plan plan = bind_claim(row.seen.view);
        EXPECT_EQ(plan.rule, row.rule);
        EXPECT_EQ(words(plan), row.words);
    }
}

TEST(ClaimBinder, K42_AsksTheProvisionerOnce) {
    ClaimCase seen(selected(claim("a", "dyn", "1Gi"), "n1"));
    api::Plan plan = bind_claim(seen.view);
    EXPECT_EQ(plan.rule, "provisioner-is-asked");
    EXPECT_EQ(
        json::text_at(
            std::get<api::Patch>(plan.intents[0]).patch,
            "/metadata/annotations/volume.beta.kubernetes.io~1storage-provisioner"
        ),
        "rancher.io/local-path"
    );
    EXPECT_TRUE(
        words(plan).starts_with("ExternalProvisioning: Waiting for a volume to be created either by the external "
                                "provisioner 'rancher.io/local-path'")
    );
    seen.view.claim->metadata.annotations[kAskedProvisioner] = "rancher.io/local-path";
    plan = bind_claim(seen.view);
    EXPECT_EQ(plan.intents.size(), 1U) << "the event alone";
    EXPECT_EQ(plan.wait->who, "provisioner rancher.io/local-path");
}

TEST(ClaimBinder, K40_SmallestThatFits) {
    ClaimCase seen(claim("a", "static", "4Gi"));
    seen.with(volume("v10", "static", "10Gi")).with(volume("v5", "static", "5Gi")).with(volume("v1", "static", "1Gi"));
    EXPECT_EQ(api::print(std::get<api::Patch>(bind_claim(seen.view).intents[0]).key), "persistentvolume/v5");
}

TEST(ClaimBinder, K44_InThisOrder) {
    ClaimCase seen(claim("a", "static", "4Gi"));
    seen.with(volume("v", "static", "5Gi"));
    const api::Plan plan = bind_claim(seen.view);
    ASSERT_EQ(plan.intents.size(), 4U);
    std::string order;
    for (const api::Intent& intent : plan.intents) {
        const auto& patch = std::get<api::Patch>(intent);
        order += api::print(patch.key) + (patch.part == api::Part::status ? " status; " : "; ");
    }
    EXPECT_EQ(
        order,
        "persistentvolume/v; persistentvolume/v status; persistentvolumeclaim/default/a; "
        "persistentvolumeclaim/default/a status; "
    );
    EXPECT_EQ(std::get<api::Patch>(plan.intents[0]).at, ResourceVersion{"9"}) << "two claims must not take one volume";
    EXPECT_EQ(json::text_at(std::get<api::Patch>(plan.intents[3]).patch, "/status/capacity/storage"), "5Gi")
        << "K-83, R-50";
}

// What is in the API: every patch changes a document, and rules see it decoded again.
struct Documents {
    json::Value claim, volume;

    Documents() {
        claim = api::encode(solo::testing::claim("a", "static", "1Gi"));
        volume = api::encode(solo::testing::volume("v", "static", "2Gi"));
    }
    void apply(const api::Intent& intent) {
        const auto& patch = std::get<api::Patch>(intent);
        json::apply_merge_patch(patch.key.kind == &api::kClaim ? claim : volume, patch.patch);
    }
    [[nodiscard]] std::vector<api::Intent> claim_intents() const {
        ClaimCase seen(api::decode<api::PersistentVolumeClaim>(claim).value());
        seen.with(api::decode<api::PersistentVolume>(volume).value());
        return bind_claim(seen.view).intents;
    }
    [[nodiscard]] std::vector<api::Intent> volume_intents() const {
        VolumeView view;
        view.key = {&api::kVolume, "", "v"};
        view.volume = api::decode<api::PersistentVolume>(volume).value();
        view.claim = api::decode<api::PersistentVolumeClaim>(claim).value();
        return bind_volume(view).intents;
    }
};

TEST(ClaimBinder, P57_KilledBetweenAnyTwoWrites) {
    for (int writes = 0; writes <= 4; ++writes) {
        SCOPED_TRACE(std::to_string(writes) + " writes before the crash");
        Documents api;
        const std::vector<api::Intent> first = api.claim_intents();
        for (int i = 0; i < writes && i < static_cast<int>(first.size()); ++i)
            api.apply(first[static_cast<std::size_t>(i)]);
        // Both loops start over, the volume's first.
        for (int round = 0; round < 4; ++round) {
            for (const api::Intent& intent : api.volume_intents()) api.apply(intent);
            for (const api::Intent& intent : api.claim_intents()) api.apply(intent);
        }
        EXPECT_EQ(json::text_at(api.claim, "/status/phase"), "Bound");
        EXPECT_EQ(json::text_at(api.claim, "/spec/volumeName"), "v");
        EXPECT_EQ(json::text_at(api.claim, "/metadata/annotations/pv.kubernetes.io~1bind-completed"), "yes");
        EXPECT_EQ(json::text_at(api.volume, "/spec/claimRef/uid"), "uid-a");
        EXPECT_EQ(json::text_at(api.volume, "/status/phase"), "Bound");
        EXPECT_TRUE(api.claim_intents().empty() && api.volume_intents().empty()) << "and then nothing more";
    }
}

TEST(ClaimBinder, K04_NewestDefaultThenName) {
    api::StorageClass old = storage_class("old", "x"), fresh = storage_class("new", "x"),
                      twin = storage_class("anew", "x"), plain = storage_class("plain", "x");
    for (api::StorageClass* one : {&old, &fresh, &twin})
        one->metadata.annotations["storageclass.kubernetes.io/is-default-class"] = "true";
    old.metadata.creation_timestamp = at(0);
    fresh.metadata.creation_timestamp = twin.metadata.creation_timestamp = plain.metadata.creation_timestamp = at(9);
    EXPECT_EQ(default_class({&fresh, &old, &plain}), "new");
    EXPECT_EQ(default_class({&fresh, &twin, &old}), "anew");
    EXPECT_EQ(default_class({&plain}), "");
}

// --- volumes ---

TEST(VolumeBinder, Rows) {
    const api::PersistentVolumeClaim mine = claim("a", "dyn", "1Gi");
    api::PersistentVolumeClaim namesake = mine;
    namesake.metadata.uid = {"another"};
    api::PersistentVolume by_name = held(volume("v", "dyn", "1Gi"), mine, "");
    by_name.spec.claim_ref->uid = {};
    api::PersistentVolume fresh = volume("v", "dyn", "1Gi");
    fresh.status.phase = "";
    api::PersistentVolume provisioned = held(volume("v", "dyn", "1Gi"), mine, "Available");
    provisioned.metadata.annotations[kProvisionedBy] = "rancher.io/local-path";
    api::PersistentVolume by_controller = held(volume("v", "dyn", "1Gi"), mine, "Bound");
    by_controller.metadata.annotations[kBoundByController] = "yes";
    api::PersistentVolume going = held(volume("v", "dyn", "1Gi"), mine, "Bound");
    going.metadata.deletion_timestamp = at(0);
    struct Row {
        const char* scenario;
        api::PersistentVolume volume;
        std::optional<api::PersistentVolumeClaim> claim;
        bool confirmed;
        const char* rule;
        const char* intents;
    };
    const char* released = "patch persistentvolume/v status {\"status\":{\"phase\":\"Released\"}}";
    const Row rows[] = {
        {"K-50",
         fresh, {},
         false, "unclaimed-is-available",
         "patch persistentvolume/v status {\"status\":{\"phase\":\"Available\"}}"},
        {"K-51",
         by_name, {},
         false, "reserved-by-name-is-available",
         "patch persistentvolume/v status {\"status\":{\"phase\":\"Available\"}}"},
        {"K-52 asks first", held(fresh, mine, "Bound"), {}, false, "its-claim-is-looked-for", "look for claim default/a"
        },
        {"K-52 R-22 gone", held(fresh, mine, "Bound"), {}, true, "its-claim-is-gone", released},
        {"K-52 a namesake", held(fresh, mine, "Bound"), namesake, true, "its-claim-is-gone", released},
        {"P-70 stays released", held(fresh, mine, "Released"), namesake, false, "its-claim-is-gone", ""},
        {"K-52 failed stays failed", held(fresh, mine, "Failed"), {}, true, "its-claim-is-gone", ""},
        {"K-52 deleted while bound", going, {}, true, "its-claim-is-gone", released},
        {"K-53", held(fresh, mine, ""), mine, false, "its-claim-will-find-it", ""},
        {"K-54",
         held(fresh, mine, ""),
         bound(mine, "v"),
         false, "bound",
         "patch persistentvolume/v status {\"status\":{\"phase\":\"Bound\"}}"},
        {"K-54 settled", held(fresh, mine, "Bound"), bound(mine, "v"), false, "bound", ""},
        {"K-55 superfluous", provisioned, bound(mine, "w"), false, "superfluous-volume-is-reclaimed", released},
        {"K-55 binder's",
         by_controller, bound(mine, "w"),
         false, "its-claim-chose-another",
         "patch persistentvolume/v {\"spec\":{\"claimRef\":null}}\npatch persistentvolume/v status "
         "{\"status\":{\"phase\":\"Available\"}}"},
        {"K-55 user's",
         held(fresh, mine, "Bound"),
         bound(mine, "w"),
         false, "its-claim-chose-another",
         "patch persistentvolume/v {\"spec\":{\"claimRef\":{\"uid\":null,\"resourceVersion\":null}}}\npatch "
         "persistentvolume/v status {\"status\":{\"phase\":\"Available\"}}"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        const api::Plan plan = bind_volume({
            {&api::kVolume, "", "v"},
            row.volume, row.claim, row.confirmed
        });
        EXPECT_EQ(plan.rule, row.rule);
        EXPECT_EQ(print(plan.intents), row.intents);
    }
}

}  // namespace
}  // namespace berth::solo
