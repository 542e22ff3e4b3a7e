// Plugged volumes: what the node does about each, and what it writes of it.
#include <gtest/gtest.h>

#include "api/codec.hpp"
#include "base/ranges.hpp"
#include "node/plan/phases.hpp"
#include "node/plan/plugs.hpp"
#include "node/plan/records.hpp"
#include "node/plan/volumes.hpp"

namespace berth::node {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow{std::chrono::seconds(1'767'312'000)};

api::Pod attachment_pod(const std::string& uid) {
    api::Pod pod;
    pod.metadata.name = "hp-volume-" + uid;
    pod.metadata.uid = Uid{uid};
    return pod;
}

// A running machine whose launcher is connected, in one expression. Names double as UIDs: volume "v", claim "c-v".
struct Seen : View {
    Seen() {
        key = {&api::kVmi, "default", "web"};
        node = "n1";
        now = kNow;
        vmi.emplace();
        vmi->metadata = {.name = "web", .ns = "default", .uid = Uid{"vmi-1"}};
        vmi->status.phase = "Running";
        vmi->status.node_name = "n1";
        vmi->status.selinux_context = "none";
        launcher.emplace();
        launcher->metadata.name = "virt-launcher-web";
        launcher->metadata.uid = Uid{"pod-1"};
        report.emplace().state = "running";
        synced = true;
        hotplug.plugs.emplace();
        hotplug.has_caught_up = true;
    }
    Seen& in_spec(const std::string& volume, const std::string& claim_name = "") {
        const std::string name = claim_name.empty() ? "c-" + volume : claim_name;
        api::VmVolume one{.name = volume};
        one.persistent_volume_claim = api::VmClaimSource{.claim_name = name, .hotpluggable = true};
        vmi->spec.volumes.push_back(one);
        api::PersistentVolumeClaim claim;
        claim.metadata.name = name;
        claim.metadata.uid = Uid{name};
        claims.push_back(claim);
        return *this;
    }
    /// An entry of volumeStatus; `pod` is the UID it publishes.
    Seen& shows(const std::string& volume, const std::string& phase, const std::string& pod = "") {
        api::VmVolumeStatus one{.name = volume, .phase = phase, .reason = "Before"};
        one.hotplug_volume = api::HotplugVolumeStatus{.attach_pod_uid = Uid{pod}};
        vmi->status.volume_status.push_back(one);
        return *this;
    }
    Seen& of_claim(const std::string& claim) {
        vmi->status.volume_status.back().persistent_volume_claim_info = api::ClaimSummary{.claim_name = claim};
        return *this;
    }
    Seen& pod(const std::string& uid, const std::string& volume, const std::string& claim_name = "") {
        api::Pod one = attachment_pod(uid);
        api::PodVolume claim{.name = volume};
        claim.persistent_volume_claim.emplace().claim_name = claim_name.empty() ? "c-" + volume : claim_name;
        one.spec.volumes.push_back(claim);
        hotplug.attachment_pods.push_back(one);
        return *this;
    }
    Seen& plugged(const std::string& volume, const std::string& claim = "") { return recorded(volume, claim, true); }
    Seen& recorded(const std::string& volume, const std::string& claim = "", bool in_place = false) {
        hotplug.plugs->push_back(
            {.volume = volume, .claim = Uid{claim.empty() ? "c-" + volume : claim}, .in_place = in_place}
        );
        return *this;
    }
    Seen& live(const std::string& volume) {
        report->disks.push_back({volume, "sda", 0});
        return *this;
    }
    Seen& told(const std::string& volume) {
        report->told.push_back(volume);
        return *this;
    }
    Seen& detaching(const std::string& volume, std::int64_t requests) {
        report->detaching.push_back({volume, kNow - 5s, requests});
        return *this;
    }
    Seen& failed(const std::string& volume, ErrorKind kind, const std::string& text, Duration ago) {
        hotplug.failures.push_back({
            volume, {kind, text},
             kNow - ago, 1
        });
        return *this;
    }
    Seen& busy(const std::string& volume) {
        hotplug.busy.push_back(volume);
        return *this;
    }
    Seen& not_connected() {
        report.reset();
        return *this;
    }
};

// "plug volume a@p-1; unplug volume b; Warning HotplugFailed"
std::string work(const View& view) {
    std::string out;
    for (const api::Intent& intent : sync(view).intents) {
        std::string one;
        if (const auto* effect = std::get_if<api::Effect>(&intent)) {
            one = effect->verb;
            const std::string volume(json::text_at(effect->args, "/volume"));
            const std::string pod(json::text_at(effect->args, "/attachmentPod"));
            if (!volume.empty()) one += " " + volume + (pod.empty() ? "" : "@" + pod);
        } else if (const auto* event = std::get_if<api::Emit>(&intent); event != nullptr && event->is_warning) {
            one = "Warning " + event->reason;
        } else {
            continue;
        }
        out += (out.empty() ? "" : "; ") + one;
    }
    return out;
}

TEST(NodeHotplug, WorkOnVolumes) {
    struct Row {
        const char* scenario;
        const char* given;
        Seen seen;
        const char* wanted;
    };
    const Row rows[] = {
        {"7.7",
         "nobody has looked", [] {
             Seen s;
             s.in_spec("v");
             s.hotplug.plugs.reset();
             return s;
         }(),
         "look at volumes"},
        {"9.16",
         "the agent is new: the guest keeps what it has until somebody has looked", [] {
             Seen s = Seen().in_spec("v").shows("v", "Ready").live("v");
             s.hotplug.plugs.reset();
             s.synced = false;
             return s;
         }(),
         "look at volumes"},
        {"7.3",
         "its pod is ready", Seen().in_spec("v").shows("v", "AttachedToNode", "p").pod("p", "v"),
         "plug volume v@p"},
        {"7.3",
         "its pod has no container that is ready", Seen().in_spec("v").shows("v", "AttachedToNode").pod("p", "v"),
         ""},
        {"hotplug/R-15",
         "the second of three has no pod yet", Seen()
             .in_spec("a")
             .in_spec("b")
             .in_spec("c")
             .shows("a", "AttachedToNode", "p")
             .shows("b", "Bound")
             .shows("c", "AttachedToNode", "q")
             .pod("p", "a")
             .pod("p", "b")
             .pod("q", "c"),
         "plug volume a@p; plug volume c@q"},
        {"H-61", "in the status and not in the spec", Seen().shows("v", "AttachedToNode", "p").pod("p", "v"), ""},
        {"hotplug/R-01",
         "removed and let go, its entry stays", Seen().shows("v", "Ready", "p").pod("p", "v").plugged("v"),
         "unplug volume v"},
        {"hotplug/R-01",
         "removed and gone, its entry stays", Seen().shows("v", "UnMountedFromPod", "p").pod("p", "v"),
         ""},
        {"7.5", "removed, the guest has it", Seen().shows("v", "Ready", "p").plugged("v").live("v"), ""},
        {"7.5", "removed, the guest was asked", Seen().shows("v", "Ready").plugged("v").detaching("v", 1), ""},
        {"7.5", "removed, the launcher may be attaching it", Seen().shows("v", "Ready").plugged("v").told("v"), ""},
        {"7.5",
         "removed, the launcher has not heard it yet", [] {
             Seen s = Seen().shows("v", "Ready").plugged("v");
             s.hotplug.has_caught_up = false;
             return s;
         }(),
         ""},
        {"7.5", "removed, nobody answers", Seen().shows("v", "Ready").plugged("v").not_connected(), ""},
        {"hotplug/R-29", "recorded, never mounted, removed", Seen().shows("v", "Ready").recorded("v"), "unplug volume v"
        },
        {"hotplug/R-29",
         "recorded, never mounted, wanted", Seen().in_spec("v").shows("v", "AttachedToNode", "p").pod("p", "v").recorded("v"),
         "plug volume v@p"},
        {"hotplug/R-08",
         "another claim under the name: the old one goes first", Seen().in_spec("v", "c2").shows("v", "Ready", "p").pod("p", "v").plugged("v", "c1"),
         "unplug volume v"},
        {"hotplug/R-08",
         "another claim, the pod is of the old one", Seen().in_spec("v", "c2").shows("v", "Ready", "p").pod("p", "v", "c1"),
         ""},
        {"hotplug/R-12",
         "busy a moment ago", Seen().shows("v", "Ready").plugged("v").failed("v", ErrorKind::io, "busy", 500ms),
         "Warning SyncFailed"},
        {"hotplug/R-12",
         "busy a second ago, the other goes at once", Seen()
             .shows("v", "Ready")
             .shows("w", "Ready")
             .plugged("v")
             .plugged("w")
             .failed("v", ErrorKind::io, "busy", 1s),
         "unplug volume v; unplug volume w; Warning SyncFailed"},
        {"H-60",
         "no disk.img", Seen()
             .in_spec("v")
             .shows("v", "AttachedToNode", "p")
             .pod("p", "v")
             .failed("v", ErrorKind::not_found, "no", 0s),
         "Warning HotplugFailed"},
        {"H-60",
         "no disk.img a second ago", Seen()
             .in_spec("v")
             .shows("v", "AttachedToNode", "p")
             .pod("p", "v")
             .failed("v", ErrorKind::not_found, "no", 1s),
         "plug volume v@p; Warning HotplugFailed"},
        {"7.2",
         "one broken volume holds up no other", Seen()
             .in_spec("a")
             .in_spec("b")
             .shows("a", "AttachedToNode", "p")
             .shows("b", "AttachedToNode", "p2")
             .pod("p", "a")
             .pod("p2", "b")
             .failed("a", ErrorKind::not_found, "no", 0s),
         "plug volume b@p2; Warning HotplugFailed"},
        {"7.2",
         "a moment early", Seen()
             .in_spec("v")
             .shows("v", "AttachedToNode", "p")
             .pod("p", "v")
             .failed("v", ErrorKind::unavailable, "not yet", 5ms),
         ""},
        {"7.2",
         "a moment later", Seen()
             .in_spec("v")
             .shows("v", "AttachedToNode", "p")
             .pod("p", "v")
             .failed("v", ErrorKind::unavailable, "not yet", 10ms),
         "plug volume v@p"},
        {"7.2", "it is being plugged", Seen().in_spec("v").shows("v", "AttachedToNode", "p").pod("p", "v").busy("v"), ""
        },
        {"hotplug/R-30",
         "two launcher pods of the machine live here", [] {
             Seen s = Seen().in_spec("v").shows("v", "AttachedToNode", "p").pod("p", "v").plugged("old");
             s.hotplug.is_ambiguous = true;
             return s;
         }(),
         ""},
        {"7.7",
         "the record was damaged: whose claim it is must be seen", [] {
             Seen s = Seen().in_spec("v").shows("v", "Ready", "p").pod("p", "v").plugged("v").live("v");
             s.hotplug.plugs->back().claim = {};
             return s;
         }(),
         "plug volume v@p"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(std::string(row.scenario) + ": " + row.given);
        EXPECT_EQ(work(row.seen), row.wanted);
    }
}

TEST(NodeHotplug, TroubleIsSaidOnce) {
    Seen seen = Seen().in_spec("v").shows("v", "MountedToPod", "p").pod("p", "v").plugged("v");
    seen.report->disk_errors = {
        {"v", "no free port for bus virtio"}
    };
    EXPECT_EQ(work(seen), "Warning SyncFailed");
    seen.hotplug.said = {troubles(seen).front().text};
    EXPECT_EQ(work(seen), "");
    EXPECT_EQ(sync(seen).wait->why, "volume v: no free port for bus virtio");
    seen.report->disk_errors.front().message = "something else";
    EXPECT_EQ(work(seen), "Warning SyncFailed");
}

/// "phase reason" of the first entry that the node would write, and the event it sends.
std::string phase_after(const View& view) {
    api::VmiStatus status = view.vmi->status;
    set_volume_status(view, status);
    const api::VmVolumeStatus& entry = status.volume_status.front();
    api::Plan plan;
    add_phase_events(view, plan, status);
    std::string out = entry.phase;
    if (entry.reason != "Before") out += " " + entry.reason;
    if (plan.intents.empty() != (entry.reason == "Before")) out += " (event missing)";
    return out + (entry.target.empty() ? "" : " " + entry.target);
}

TEST(NodeHotplug, H62_EveryPhaseTargetMountAndSpec) {
    const std::string_view phases[] = {
        "",
        "Pending",
        "Bound",
        "AttachedToNode",
        "MountedToPod",
        "Ready",
        "UnMountedFromPod",
        "Detaching",
    };
    for (const std::string_view phase : phases) {
        for (int bits = 0; bits < 8; ++bits) {
            const bool in = (bits & 1) != 0;
            const bool mounted = (bits & 2) != 0;
            const bool target = (bits & 4) != 0;
            Seen seen;
            if (in) seen.in_spec("v");
            seen.shows("v", std::string(phase), "p");
            if (mounted) seen.plugged("v");
            if (target) seen.live("v");
            // 7.9 and 9.0, the node's lines.
            std::string wanted(phase);
            const auto is_one_of = [&](std::initializer_list<std::string_view> list) { return contains(list, phase); };
            if (target && !in && phase == "Ready") {
                wanted = "Ready";  // removed, the guest was not asked yet
            } else if (target) {
                wanted = "Ready VolumeReady";
            } else if (in && mounted && is_one_of({"", "Pending", "Bound", "AttachedToNode"})) {
                wanted = "MountedToPod VolumeMountedToPod";
            } else if (!in && !mounted && is_one_of({"Ready", "MountedToPod", "AttachedToNode"})) {
                wanted = "UnMountedFromPod VolumeUnMountedFromPod";
            }
            if (target) wanted += " sda";
            EXPECT_EQ(phase_after(seen), wanted)
                << "phase " << phase << " in " << in << " mounted " << mounted << " target " << target;
        }
    }
}

TEST(NodeHotplug, PhasesAtTheEdges) {
    struct Row {
        const char* scenario;
        const char* given;
        Seen seen;
        const char* wanted;
    };
    const Row rows[] = {
        {"2.8",
         "the guest was asked", Seen().shows("v", "Ready").plugged("v").live("v").detaching("v", 3),
         "Ready DetachPending sda"},
        {"hotplug/R-08",
         "the old claim is live under the name", Seen().in_spec("v", "c2").shows("v", "Ready").plugged("v", "c1").live("v").detaching("v", 1),
         "Ready DetachPending sda"},
        {"hotplug/R-08",
         "the old claim is out", Seen().in_spec("v", "c2").shows("v", "Ready").of_claim("c1"),
         "UnMountedFromPod VolumeUnMountedFromPod"},
        {"9.0", "removed, recorded and not in place", Seen().shows("v", "Ready").recorded("v"), "Ready"},
        {"9.0", "removed while it is plugged", Seen().shows("v", "AttachedToNode").busy("v"), "AttachedToNode"},
        {"9.0",
         "removed, nobody has looked", [] {
             Seen s = Seen().shows("v", "Ready");
             s.hotplug.plugs.reset();
             return s;
         }(),
         "Ready"},
        {"hotplug/R-36",
         "attached, and still MountedToPod", Seen().in_spec("v").shows("v", "MountedToPod").plugged("v").live("v"),
         "Ready VolumeReady sda"},
        {"hotplug/R-04",
         "added again while it goes", Seen().in_spec("v").shows("v", "Ready").plugged("v").live("v").detaching("v", 1),
         "Ready VolumeReady sda"},
        {"7.9",
         "no launcher is connected", Seen().in_spec("v").shows("v", "Bound").plugged("v").not_connected(),
         "MountedToPod VolumeMountedToPod"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(std::string(row.scenario) + ": " + row.given);
        EXPECT_EQ(phase_after(row.seen), row.wanted);
    }
}

TEST(NodeHotplug, DetachPendingSaysSinceAndHowOften) {
    Seen seen = Seen().shows("v", "Ready").plugged("v").live("v").detaching("v", 3);
    api::VmiStatus status = seen.vmi->status;
    set_volume_status(seen, status);
    EXPECT_EQ(
        status.volume_status.front().message,
        "waiting for the guest to release v since " + to_rfc3339(kNow - 5s) + ", 3 requests"
    );
    seen.vmi->status = status;
    seen.report->detaching.front().requests = 4;
    set_volume_status(seen, status);
    api::Plan plan;
    add_phase_events(seen, plan, status);
    EXPECT_TRUE(plan.intents.empty()) << "one event, however often the guest is asked";
}

TEST(NodeHotplug, R16_StatusIsWrittenOnTheVersionThatWasRead) {
    Seen seen = Seen().in_spec("v").shows("v", "AttachedToNode", "p").pod("p", "v").plugged("v");
    seen.vmi->metadata.resource_version = ResourceVersion{"7"};
    int patches = 0;
    for (const api::Intent& intent : sync(seen).intents) {
        const auto* patch = std::get_if<api::Patch>(&intent);
        if (patch == nullptr) continue;
        ++patches;
        EXPECT_EQ(patch->at, ResourceVersion{"7"}) << "another writer came between: a conflict, and a new decision";
    }
    EXPECT_EQ(patches, 1);
}

std::vector<std::string> told_names(const View& view) {
    std::vector<std::string> out;
    for (const agent::VolumePath& path : volume_paths(*view.vmi, view.claims, told_plugs(view)))
        out.push_back(path.name + " " + path.path);
    return out;
}

TEST(NodeHotplug, R31_LauncherIsToldOnlyOfWhatIsInPlaceAndWanted) {
    Seen seen = Seen().in_spec("file").in_spec("raw").in_spec("late").in_spec("swapped", "c2").in_spec("unsure");
    seen.plugged("file").plugged("raw").recorded("late").plugged("swapped", "c1").plugged("removed").plugged("unsure");
    seen.hotplug.plugs->at(1).block = true;
    seen.hotplug.plugs->back().claim = {};
    EXPECT_EQ(
        told_names(seen),
        (std::vector<std::string>{
            "file /var/run/kubevirt/hotplug-disks/file.img",
            "raw /var/run/kubevirt/hotplug-disks/raw",
            "unsure /var/run/kubevirt/hotplug-disks/unsure.img"
        })
    );
    seen.live("late").live("swapped").live("removed");
    EXPECT_EQ(told_names(seen).size(), 4U) << "the guest has it already: a missing mount is no reason to take it away";
}

TEST(NodeHotplug, H63_StartWaitsForPluggedVolumes) {
    Seen seen = Seen().in_spec("v").shows("v", "AttachedToNode", "p").pod("p", "v");
    seen.vmi->status.phase = "Scheduled";
    seen.report->state = "";
    seen.synced = false;
    EXPECT_EQ(work(seen), "plug volume v@p") << "the launcher is told nothing";
    EXPECT_EQ(sync(seen).wait->why, "the guest starts when volume v is in its pod");
    seen.plugged("v");
    EXPECT_EQ(work(seen), "sync domain");
    EXPECT_EQ(told_names(seen).size(), 1U);
}

TEST(NodeHotplug, SelinuxContextIsPublishedBeforeThePods) {
    Seen seen = Seen().in_spec("v").not_connected();
    seen.vmi->status.phase = "Scheduled";
    seen.vmi->status.selinux_context.clear();
    std::string written;
    for (const api::Intent& intent : sync(seen).intents) {
        if (const auto* patch = std::get_if<api::Patch>(&intent))
            written = json::text_at(patch->patch, "/status/selinuxContext");
    }
    EXPECT_EQ(written, "none");
}

TEST(NodeHotplug, H40_TheEndTakesAllAway) {
    Seen seen = Seen().in_spec("v").shows("v", "Ready").plugged("v").live("v");
    seen.report->state = "shutoff";
    EXPECT_EQ(work(seen), "unplug all");
    seen.hotplug.plugs->clear();
    EXPECT_EQ(work(seen), "");
}

TEST(NodeHotplug, RecordsOfMachinesThatAreNoMore) {
    // "look at records", "pod-1"
    const auto work_on = [](const RecordsView& view) {
        std::string out;
        for (const api::Intent& intent : clean_records(view).intents) {
            const auto& effect = std::get<api::Effect>(intent);
            const std::string pod(json::text_at(effect.args, "/pod"));
            out += effect.verb + (pod.empty() ? "" : " " + pod) + ";";
        }
        return out;
    };
    const api::Key node{&api::kNode, "", "n1"};
    const PlugHost alive{Uid{"vmi-1"}, Uid{"pod-1"}};
    const PlugHost gone{Uid{"vmi-2"}, Uid{"pod-2"}};
    const PlugHost damaged{Uid{"vmi-1"}, {}};
    EXPECT_EQ(work_on({.key = node}), "look at records;");
    EXPECT_EQ(work_on({.key = node, .recorded = {{alive, damaged}}, .living = {alive}}), "");
    EXPECT_EQ(work_on({.key = node, .recorded = {{alive, gone}}, .living = {alive}}), "unplug all pod-2;");
}

}  // namespace
}  // namespace berth::node
