#include "placement/vmi/sync.hpp"

#include <gtest/gtest.h>

#include <set>

#include "placement/testing/seen_vmi.hpp"
#include "placement/vmi/facts.hpp"

namespace berth::placement::vmi {
namespace {

using namespace testing;

struct Row {
    const char* scenario;
    const char* given;
    SeenVmi seen;
    std::string_view rule;
    std::string intents;  ///< names shortened, one a line
};

// Names of pods carry a hash: rows say which pod, not its hash.
std::string shortened(const std::vector<api::Intent>& intents) {
    std::string text;
    for (const api::Intent& intent : intents) {
        if (!text.empty()) text += '\n';
        if (const auto* create = std::get_if<api::Create>(&intent)) {
            const bool is_temporary =
                json::find(create->document, "/metadata/annotations/kubevirt.io~1ephemeral-provisioning");
            text += is_temporary ? "create temp" : "create real";
        } else if (const auto* event = std::get_if<api::Emit>(&intent)) {
            text += event->reason;
        } else {
            text += api::print(intent);
        }
    }
    return text;
}

const std::string kDeleteTemp = "delete pod/default/virt-launcher-web-temp grace 0\nSuccessfulDelete";

std::vector<Row> rows() {
    return {
        {"P-01", "no disks", seen(), "then-the-launcher", "create real\nSuccessfulCreate"},
        {"P-01",
         "a disk waits for its consumer", seen().disk("root", "WaitForFirstConsumer"),
         "one-pod-places-all-disks", "create temp\nSuccessfulCreate"},
        {"P-22",
         "a claim volume whose DataVolume waits", seen().claimed_disk("root", "WaitForFirstConsumer"),
         "one-pod-places-all-disks", "create temp\nSuccessfulCreate"},
        {"P-10",
         "three disks wait", seen().disk("a", "WaitForFirstConsumer").disk("b", "WaitForFirstConsumer").disk("c", "WaitForFirstConsumer"),
         "one-pod-places-all-disks", "create temp\nSuccessfulCreate"},
        {"P-19",
         "one disk is filled, one waits", seen().disk("a", "Succeeded").disk("b", "WaitForFirstConsumer"),
         "one-pod-places-all-disks", "create temp\nSuccessfulCreate"},
        {"P-18",
         "an immediate disk is being filled", seen().disk("a", "ImportInProgress").disk("b", "WaitForFirstConsumer"),
         "disks-come-before-pods", ""},
        {"P-23",
         "the disk is filled", seen().disk("root", "Succeeded"),
         "then-the-launcher", "create real\nSuccessfulCreate"},
        {"P-21",
         "R-35: a bare claim binds through the launcher", seen().bare_claim("root"),
         "then-the-launcher", "create real\nSuccessfulCreate"},
        {"P-44",
         "R-36: a populated claim binds through the launcher", seen().disk("root", "PendingPopulation"),
         "then-the-launcher", "create real\nSuccessfulCreate"},
        {"P-46",
         "both kinds of waiting", seen().disk("a", "PendingPopulation").disk("b", "WaitForFirstConsumer"),
         "one-pod-places-all-disks", "create temp\nSuccessfulCreate"},
        {"I-06", "a phase nobody knows is not ready", seen().disk("root", "Dreaming"), "disks-come-before-pods", ""},
        {"I-06", "the disk failed", seen().disk("root", "Failed"), "disks-come-before-pods", ""},
        {"R-11",
         "the claim of an older DataVolume is going", seen().disk("root", "WaitForFirstConsumer").deleting_claim(),
         "disks-come-before-pods", ""},
        {"I-06",
         "a plugged claim that is missing does not matter", seen().plugged_claim("data"),
         "then-the-launcher", "create real\nSuccessfulCreate"},
        {"P-41", "the claim is missing", seen().missing_claim("c"), "missing-claim-blocks", "FailedPvcNotFound"},
        {"P-41",
         "and that is shown already", seen().missing_claim("c").has(condition("Synchronized", "False", "FailedPvcNotFound")),
         "missing-claim-blocks", ""},
        {"P-43",
         "the claim's DataVolume is missing", seen().ownerless_disk("root"),
         "missing-datavolume-blocks", "FailedPvcNotFound"},
        {"R-01",
         "the temp pod ended, the disk still waits", seen().disk("root", "WaitForFirstConsumer").temp_pod("Succeeded"),
         "provisioning-pod-binds-first", ""},
        {"P-39",
         "the temp pod runs", seen().disk("root", "WaitForFirstConsumer").temp_pod("Running"),
         "provisioning-pod-binds-first", ""},
        {"P-15",
         "the temp pod cannot be scheduled", seen().disk("root", "WaitForFirstConsumer").temp_pod("Pending"),
         "provisioning-pod-binds-first", ""},
        {"P-08",
         "the disk left its waiting", seen().disk("root", "PVCBound").temp_pod("Succeeded"),
         "provisioning-pod-makes-room", kDeleteTemp},
        {"R-03",
         "B-11: the temp pod failed after binding", seen().disk("root", "ImportScheduled").temp_pod("Failed"),
         "provisioning-pod-makes-room", kDeleteTemp},
        {"R-25",
         "P-71: a temp pod that never ran is left alone", seen().disk("root", "ImportScheduled").temp_pod("Pending"),
         "one-pod-at-a-time", ""},
        {"hotplug/R-10",
         "another machine has the claim of a plugged volume", seen().plugged_claim("data").held_by("data", "default/other"),
         "then-the-launcher", "create real\nSuccessfulCreate"},
        {"R-24",
         "the launcher comes after the temp pod is gone", seen().disk("root", "Succeeded").temp_pod("Pending"),
         "one-pod-at-a-time", ""},
        {"P-01",
         "the launcher is there", seen().disk("root", "Succeeded").launcher("Pending").phase("Scheduling"),
         "one-pod-at-a-time", ""},
        {"R-64",
         "its launcher is gone: never a second one", seen().disk("root", "Succeeded").phase("Scheduling"),
         "one-launcher-per-machine", ""},
        {"P-32",
         "deleted while its temp pod waits", seen().disk("root", "WaitForFirstConsumer").temp_pod("Pending").deleted(),
         "deleted-removes-its-pods", "delete pod/default/virt-launcher-web-temp\nSuccessfulDelete"},
        {"I-10",
         "deleted, and its pod is going", seen().launcher("Running").pod_deleting().deleted(),
         "deleted-removes-its-pods", ""},
        {"R-52",
         "deleted, and its ended pod is going", seen().temp_pod("Succeeded").pod_deleting().deleted(),
         "deleted-removes-its-pods", "delete pod/default/virt-launcher-web-temp\nSuccessfulDelete"},
        {"R-62",
         "P-77: over, with a temp pod", seen().disk("root", "Failed").temp_pod("Pending").phase("Failed"),
         "finished-drops-useless-pods", kDeleteTemp},
        {"I-11",
         "over, with its launcher", seen().launcher("Succeeded").phase("Succeeded"),
         "finished-drops-useless-pods", ""},
        {"I-11",
         "over, and a helper of its launcher still runs", seen().launcher("Running").compute(exited_state(0)).helper(true).phase("Succeeded"),
         "finished-drops-useless-pods", "delete pod/default/virt-launcher-web-real\nSuccessfulDelete"},
        {"P-62",
         "R-44: the last create was refused", seen().create_failed(ErrorKind::forbidden, "exceeded quota"),
         "then-the-launcher", "FailedCreate\ncreate real\nSuccessfulCreate"},
        {"design 9",
         "another machine has the claim", seen().bare_claim("root", "Bound").held_by("root", "default/a"),
         "one-machine-per-claim", "PVCInUse"},
        {"I-12", "state without a claim", seen().keeps_tpm(), "state-needs-a-claim", "FailedBackendStorageCreate"},
    };
}

TEST(VmiSync, Rows) {
    for (const Row& row : rows()) {
        SCOPED_TRACE(std::string(row.scenario) + ": " + row.given);
        const Outcome got = sync(row.seen.view());
        EXPECT_EQ(got.plan.rule, row.rule);
        EXPECT_EQ(shortened(got.plan.intents), row.intents);
    }
}

TEST(VmiSync, EveryLineIsReached) {
    std::set<std::string_view> reached;
    for (const Row& row : rows()) reached.insert(sync(row.seen.view()).plan.rule);
    // The pod of a machine that has a node is looked for there only.
    SeenVmi elsewhere = seen().temp_pod("Pending");
    elsewhere.vmi.status.node_name = "n9";
    reached.insert(sync(elsewhere.view()).plan.rule);
    for (const Line<View>& line : flow()) EXPECT_TRUE(reached.contains(line.name)) << line.name;
}

TEST(VmiSync, APlanThatDoesNothingSaysWhy) {
    for (const Row& row : rows()) {
        if (!row.intents.empty() || row.rule == "one-launcher-per-machine" || row.rule == "finished-drops-useless-pods")
            continue;
        SCOPED_TRACE(row.given);
        const Outcome got = sync(row.seen.view());
        ASSERT_TRUE(got.plan.wait.has_value());
        EXPECT_FALSE(got.plan.wait->who.empty());
        EXPECT_FALSE(got.plan.wait->why.empty());
    }
}

TEST(VmiSync, P41_TextsOfAMissingClaim) {
    const Outcome got = sync(seen().missing_claim("c").view());
    const std::string text = "PVC default/c does not exist, waiting for it to appear";
    EXPECT_EQ(got.error, (SyncError{"FailedPvcNotFound", text}));
    ASSERT_EQ(got.plan.intents.size(), 1u);
    EXPECT_EQ(
        api::print(got.plan.intents[0]), "event Normal FailedPvcNotFound on virtualmachineinstance/default/web: " + text
    );
}

TEST(VmiSync, P43_TextsOfAMissingDataVolume) {
    const Outcome got = sync(seen().ownerless_disk("root").view());
    ASSERT_TRUE(got.error.has_value());
    EXPECT_EQ(got.error->reason, "FailedDataVolumeImport");
    EXPECT_TRUE(got.error->message.starts_with("Error determining if volume is ready "));
    EXPECT_NE(api::print(got.plan.intents[0]).find("event Warning FailedPvcNotFound"), std::string::npos);
    EXPECT_NE(api::print(got.plan.intents[0]).find("Error determining if volume is ready: "), std::string::npos);
}

TEST(VmiSync, R44_R45_TextsOfARefusedPod) {
    Outcome got = sync(seen().create_failed(ErrorKind::forbidden, "exceeded quota: pods").view());
    EXPECT_EQ(got.error, (SyncError{"FailedCreate", "failed to create virtual machine pod: exceeded quota: pods"}));
    got = sync(seen().create_failed(ErrorKind::forbidden, "violates PodSecurity \"restricted\"").view());
    ASSERT_TRUE(got.error.has_value());
    EXPECT_EQ(
        got.error->message,
        "failed to create pod for vmi default/web, it needs a privileged namespace to run: violates PodSecurity "
        "\"restricted\""
    );
}

TEST(VmiSync, P08_EventsOfItsPods) {
    const Outcome made = sync(seen().disk("root", "WaitForFirstConsumer").view());
    const std::string name(json::text_at(std::get<api::Create>(made.plan.intents[0]).document, "/metadata/name"));
    EXPECT_TRUE(name.starts_with("virt-launcher-web-"));
    EXPECT_EQ(std::get<api::Emit>(made.plan.intents[1]).message, "Created virtual machine pod " + name);
    const Outcome removed = sync(seen().disk("root", "PVCBound").temp_pod("Succeeded").view());
    EXPECT_EQ(
        std::get<api::Emit>(removed.plan.intents[1]).message,
        "Deleted WaitForFirstConsumer temporary pod virt-launcher-web-temp"
    );
}

TEST(VmiSync, R53_PodsAreNamedAfterTheirMachine) {
    const auto name_of = [](const SeenVmi& what) {
        const Outcome made = sync(what.view());
        return std::string(json::text_at(std::get<api::Create>(made.plan.intents[0]).document, "/metadata/name"));
    };
    const std::string first = name_of(seen().disk("root", "WaitForFirstConsumer"));
    EXPECT_EQ(first, name_of(seen().disk("root", "WaitForFirstConsumer")))
        << "R-04: a repeated create meets its own pod";
    EXPECT_NE(first, name_of(seen().disk("root", "Succeeded"))) << "the launcher is another pod";
    SeenVmi again = seen().disk("root", "WaitForFirstConsumer");
    again.claims[0].metadata.uid = Uid{"claim-root-2"};
    EXPECT_NE(first, name_of(again)) << "R-55: another claim, another pod";
    again = seen().disk("root", "WaitForFirstConsumer");
    again.vmi.metadata.uid = Uid{"vmi-2"};
    EXPECT_NE(first, name_of(again)) << "a machine of the same name, made again";
}

TEST(VmiSync, R06_OnlyItsOwnPodsGo) {
    // The view holds the machine's own pods; what the flow deletes is from there.
    SeenVmi what = seen().disk("root", "PVCBound").temp_pod("Succeeded");
    const Outcome got = sync(what.view());
    for (const api::Intent& intent : got.plan.intents) {
        if (const auto* remove = std::get_if<api::Delete>(&intent)) EXPECT_EQ(remove->uid, what.pods[0].metadata.uid);
    }
}

TEST(VmiFacts, R46_TheCurrentPodIsTheNewestThenByName) {
    SeenVmi what = seen().temp_pod("Pending").launcher("Pending");
    EXPECT_EQ(current_pod(what.view())->metadata.name, "virt-launcher-web-temp");
    what.pods[1].metadata.creation_timestamp = kNow + 1s;
    EXPECT_EQ(current_pod(what.view())->metadata.name, "virt-launcher-web-real");
    std::swap(what.pods[0], what.pods[1]);
    EXPECT_EQ(current_pod(what.view())->metadata.name, "virt-launcher-web-real");
}

TEST(VmiFacts, ReadinessOfADisk) {
    const auto of = [](const SeenVmi& what) { return readiness_of(what.view().disks.at(0)); };
    EXPECT_EQ(of(seen().missing_claim("c")), Readiness::claim_missing) << "I-01";
    EXPECT_EQ(of(seen().bare_claim("c", "Lost")), Readiness::ready) << "I-02: whatever its phase";
    SeenVmi foreign = seen().bare_claim("c");
    give_owner(foreign.claims[0].metadata, "StatefulSet", "s", "s-1");
    EXPECT_EQ(of(foreign), Readiness::ready) << "I-02: an owner of another kind";
    EXPECT_EQ(of(seen().ownerless_disk("c")), Readiness::owner_missing) << "I-03";
    EXPECT_EQ(of(seen().disk("c", "Succeeded")), Readiness::ready) << "I-04";
    EXPECT_EQ(of(seen().disk("c", "PendingPopulation")), Readiness::ready) << "I-04";
    EXPECT_EQ(of(seen().disk("c", "WaitForFirstConsumer")), Readiness::awaits_consumer) << "I-05";
    for (const char* phase : {"", "Pending", "PVCBound", "ImportScheduled", "Failed", "Unknown"}) {
        EXPECT_EQ(of(seen().disk("c", phase)), Readiness::not_ready) << "I-06 " << phase;
    }
}

}  // namespace
}  // namespace berth::placement::vmi
