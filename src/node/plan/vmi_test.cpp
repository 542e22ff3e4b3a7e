#include "node/plan/vmi.hpp"

#include <gtest/gtest.h>

#include <set>

#include "node/plan/volumes.hpp"

namespace berth::node {
namespace {

using namespace std::chrono_literals;

const Timestamp kNow{std::chrono::seconds(1'767'312'000)};

json::Value exited(int code) {
    return json::Object{
        {"terminated", json::Object{{"exitCode", code}}}
    };
}

// A machine of node n1 with its launcher, in one expression.
struct Seen : View {
    Seen() {
        key = {&api::kVmi, "default", "web"};
        node = "n1";
        now = kNow;
        vmi.emplace();
        vmi->metadata.name = "web";
        vmi->metadata.ns = "default";
        vmi->metadata.uid = Uid{"vmi-1"};
        vmi->status.phase = "Scheduled";
        vmi->status.node_name = "n1";
        launcher.emplace();
        launcher->metadata.name = "virt-launcher-web";
        launcher->metadata.uid = Uid{"pod-1"};
        launcher->status.phase = "Running";
    }
    Seen& phase(const char* name) {
        vmi->status.phase = name;
        return *this;
    }
    Seen& state(const char* name, const char* reason = "") {
        report.emplace().state = name;
        report->reason = reason;
        return *this;
    }
    Seen& error(const char* text) {
        report->error = text;
        return *this;
    }
    Seen& told() {
        synced = true;
        return *this;
    }
    Seen& deleted(Timestamp at) {
        vmi->metadata.deletion_timestamp = at;
        return *this;
    }
    Seen& grace(std::int64_t seconds) {
        vmi->spec.termination_grace_period_seconds = seconds;
        return *this;
    }
    Seen& shutdown_sent() {
        shutdown_sent_at = kNow;
        return *this;
    }
    Seen& compute_exited(int code) {
        launcher->status.container_statuses = {
            {.name = "compute", .state = exited(code)}
        };
        return *this;
    }
    Seen& pod_phase(const char* name) {
        launcher->status.phase = name;
        return *this;
    }
    Seen& claim(const char* name, const char* mode) {
        api::VmVolume volume{.name = name};
        volume.persistent_volume_claim = api::VmClaimSource{.claim_name = name};
        vmi->spec.volumes.push_back(volume);
        api::PersistentVolumeClaim one;
        one.metadata.name = name;
        one.spec.access_modes = {mode};
        one.status.capacity["storage"] = Quantity{"1Gi"};
        claims.push_back(one);
        return *this;
    }
    Seen& hotplug_claim(const char* name) {
        claim(name, "ReadWriteOnce");
        vmi->spec.volumes.back().persistent_volume_claim->hotpluggable = true;
        return *this;
    }
};

// "phase Running, Started, sync domain"
std::string shortened(const api::Plan& plan) {
    std::string text;
    for (const api::Intent& intent : plan.intents) {
        std::string one;
        if (const auto* patch = std::get_if<api::Patch>(&intent)) {
            const std::string_view phase = json::text_at(patch->patch, "/status/phase");
            one = phase.empty() ? "status" : "phase " + std::string(phase);
        } else if (const auto* event = std::get_if<api::Emit>(&intent)) {
            one = event->reason;
        } else {
            one = std::get<api::Effect>(intent).verb;
        }
        text += (text.empty() ? "" : ", ") + one;
    }
    return text;
}

struct Row {
    const char* scenario;
    const char* given;
    Seen seen;
    std::string_view rule;
    const char* intents;
};

Seen another_node() {
    Seen out;
    out.node = "n2";
    return out;
}

Seen left_behind() {
    Seen out = another_node();
    out.hotplug.left = {
        {Uid{"vmi-1"}, Uid{"pod-1"}}
    };
    return out;
}

std::vector<Row> rows() {
    return {
        {"H-40",
         "gone, its volumes still lie in its pod", left_behind(),
         "plugs-do-not-outlive-their-machine", "unplug all"},
        {"H-63",
         "a plugged volume is not in the pod yet", Seen().state("").hotplug_claim("data"),
         "plugged-volumes-come-before-the-start", "look at volumes, status"},
        {"2.6", "on another node", another_node(), "not-of-this-node", ""},
        {"2.6", "not handed over yet", Seen().phase("Scheduling"), "not-of-this-node", ""},
        {"2.6", "over", Seen().phase("Failed"), "not-of-this-node", ""},
        {"2.6", "no connection yet", Seen(), "launcher-answers-first", ""},
        {"2.6", "no guest yet", Seen().state(""), "guest-is-started", "sync domain"},
        {"2.6", "the guest is coming", Seen().state("starting").told(), "guest-is-started", ""},
        {"2.6",
         "the guest cannot be started", Seen().state("").error("no such file").told(),
         "guest-is-started", "status, SyncFailed"},
        {"P-01", "the guest runs", Seen().state("running").told(), "running-guest-is-told", "phase Running, Started"},
        {"2.6", "it runs on", Seen().phase("Running").state("running").told(), "running-guest-is-told", "status"},
        {"2.6",
         "a launcher that was started again is told again", Seen().phase("Running").state("running"),
         "running-guest-is-told", "sync domain, status"},
        {"P-27",
         "the guest shut itself down", Seen().phase("Running").state("shutoff", "guest"),
         "ended-guest-ends-its-machine", "phase Succeeded, Stopped"},
        {"2.6",
         "we shut it down", Seen().phase("Running").state("shutoff", "shutdown").deleted(kNow),
         "ended-guest-ends-its-machine", "phase Succeeded, Stopped"},
        {"2.6",
         "the guest crashed", Seen().phase("Running").state("crashed"),
         "crashed-guest-fails-its-machine", "phase Failed, Stopped"},
        {"2.6",
         "the emulator failed", Seen().phase("Running").state("shutoff", "failed"),
         "crashed-guest-fails-its-machine", "phase Failed, Stopped"},
        {"P-28",
         "the launcher was killed", Seen().phase("Running").pod_phase("Failed"),
         "failed-launcher-fails-its-machine", "phase Failed, Stopped"},
        {"2.6",
         "the launcher failed, a helper still runs", Seen().phase("Running").compute_exited(1),
         "failed-launcher-fails-its-machine", "phase Failed, Stopped"},
        {"2.6",
         "the launcher ended before it was heard", Seen().phase("Running").compute_exited(0),
         "ended-launcher-ends-its-machine", "phase Succeeded, Stopped"},
        {"2.6",
         "deleted", Seen().phase("Running").state("running").told().deleted(kNow),
         "deleted-machine-shuts-its-guest-off", "shutdown domain, ShuttingDown"},
        {"2.6",
         "deleted, the guest knows", Seen().phase("Running").state("running").told().deleted(kNow - 5s).shutdown_sent(),
         "deleted-machine-shuts-its-guest-off", ""},
        {"2.6",
         "deleted, its grace is over", Seen().phase("Running").state("running").told().deleted(kNow - 30s).shutdown_sent(),
         "deleted-machine-shuts-its-guest-off", "destroy domain, Deleted"},
        {"2.6",
         "deleted without grace", Seen().phase("Running").state("running").grace(0).deleted(kNow),
         "deleted-machine-shuts-its-guest-off", "destroy domain, Deleted"},
    };
}

TEST(NodeVmi, Rows) {
    std::set<std::string_view> reached;
    for (const Row& row : rows()) {
        SCOPED_TRACE(std::string(row.scenario) + ": " + row.given);
        const api::Plan got = sync(row.seen);
        reached.insert(got.rule);
        EXPECT_EQ(got.rule, row.rule);
        EXPECT_EQ(shortened(got), row.intents);
    }
    for (const api::Rule<View>& line : flow()) EXPECT_TRUE(reached.contains(line.name)) << line.name;
}

api::VmiStatus status_after(const Seen& seen) {
    json::Value patch;
    for (const api::Intent& intent : sync(seen).intents) {
        if (const auto* found = std::get_if<api::Patch>(&intent)) patch = found->patch;
    }
    api::VmiStatus out = seen.vmi->status;
    const json::Value* conditions = json::find(patch, "/status/conditions");
    if (conditions != nullptr) {
        out.conditions.clear();
        for (const json::Value& one : conditions->get_array()) {
            out.conditions.push_back({
                .type = std::string(json::text_at(one, "/type")),
                .status = std::string(json::text_at(one, "/status")),
                .reason = std::string(json::text_at(one, "/reason")),
                .message = std::string(json::text_at(one, "/message")),
            });
        }
    }
    if (const json::Value* volumes = json::find(patch, "/status/volumeStatus")) {
        out.volume_status.clear();
        for (const json::Value& one : volumes->get_array()) {
            out.volume_status.push_back(
                {.name = std::string(json::text_at(one, "/name")), .target = std::string(json::text_at(one, "/target"))}
            );
        }
    }
    return out;
}

TEST(NodeVmi, MigratableOnlyWithSharedClaims) {
    const auto migratable = [](const Seen& seen) {
        return *api::find_condition(status_after(seen).conditions, "LiveMigratable");
    };
    EXPECT_EQ(migratable(Seen().claim("a", "ReadWriteMany").state("running")).status, "True");
    const api::Condition got =
        migratable(Seen().claim("a", "ReadWriteMany").claim("b", "ReadWriteOnce").state("running"));
    EXPECT_EQ(got.reason, "DisksNotLiveMigratable");
    EXPECT_EQ(
        got.message,
        "cannot migrate VMI: PVC b is not shared, live migration requires that all PVCs must be shared (using "
        "ReadWriteMany access mode)"
    );
}

TEST(NodeVmi, DisksSyncErrorsAndPauses) {
    Seen seen = Seen().claim("root", "ReadWriteOnce").phase("Running").state("running").told();
    seen.report->disks = {
        {"root",  "vda", 5},
        {"extra", "sda", 0},
        {"other", "sdb", 0}
    };
    seen.vmi->spec.volumes.push_back({.name = "extra"});
    seen.vmi->status.volume_status = {{.name = "root"}};
    const auto volumes = status_after(seen).volume_status;
    ASSERT_EQ(volumes.size(), 2U) << "a disk that is no volume of the machine gets no entry";
    EXPECT_EQ(volumes[0].name, "extra");
    EXPECT_EQ(volumes[1].target, "vda");

    seen.error("disk \"root\": no space left on device");
    const api::Condition failed = *api::find_condition(status_after(seen).conditions, "Synchronized");
    EXPECT_EQ(failed.reason, "Synchronizing with the Domain failed.");
    EXPECT_EQ(failed.message, "disk \"root\": no space left on device");
    seen.vmi->status.conditions = {failed};
    EXPECT_EQ(shortened(sync(seen)), "status") << "the event is sent once";
    seen.error("");
    EXPECT_EQ(api::find_condition(status_after(seen).conditions, "Synchronized"), nullptr);

    seen.state("paused");
    EXPECT_EQ(api::find_condition(status_after(seen).conditions, "Paused")->reason, "PausedByUser");
}

TEST(NodeVmi, ASettledGuestIsNotWritten) {
    Seen seen = Seen().phase("Running").state("running").told();
    seen.vmi->status.conditions = {
        {.type = "LiveMigratable", .status = "True"}
    };
    seen.vmi->status.selinux_context = "none";
    EXPECT_EQ(shortened(sync(seen)), "");
}

TEST(NodeVolumes, P68_WhereTheLauncherFindsItsDisks) {
    Seen seen = Seen()
                    .claim("bare", "ReadWriteOnce")
                    .claim("filled", "ReadWriteOnce")
                    .claim("raw", "ReadWriteOnce")
                    .claim("plugged", "ReadWriteOnce");
    seen.claims[1].metadata.owner_references = {
        {.kind = "DataVolume", .name = "filled", .controller = true}
    };
    seen.claims[2].spec.volume_mode = "Block";
    seen.vmi->spec.volumes[3].persistent_volume_claim->hotpluggable = true;
    api::VmVolume image{.name = "image"};
    image.container_disk.emplace();
    seen.vmi->spec.volumes.push_back(image);
    api::VmVolume overlay{.name = "overlay"};
    overlay.ephemeral.emplace().persistent_volume_claim = api::VmClaimSource{.claim_name = "bare"};
    seen.vmi->spec.volumes.push_back(overlay);
    api::VmVolume host{.name = "host"};
    host.host_disk = api::HostDiskSource{.path = "/data/x.img", .type = "DiskOrCreate", .capacity = Quantity{"1Gi"}};
    seen.vmi->spec.volumes.push_back(host);
    api::VmVolume seed{.name = "seed"};
    seed.cloud_init_no_cloud.emplace();
    seen.vmi->spec.volumes.push_back(seed);

    const std::string disks = "/var/run/kubevirt-private/vmi-disks/";
    const std::int64_t gib = (1_GiB).value;
    const std::vector<agent::VolumePath> wanted = {
        {.name = "bare", .path = disks + "bare/disk.img", .create_if_absent = true, .size = gib},
        {.name = "filled", .path = disks + "filled/disk.img", .size = gib},
        {.name = "raw", .path = "/dev/raw", .block = true, .size = gib},
        {.name = "image", .path = "/var/run/kubevirt/container-disks/image.img", .format = ""},
        {.name = "overlay", .path = disks + "overlay/disk.img", .read_only = true, .size = gib},
        {.name = "host", .path = disks + "host/x.img", .create_if_absent = true, .size = gib},
    };
    EXPECT_EQ(volume_paths(*seen.vmi, seen.claims, {}), wanted);
}

}  // namespace
}  // namespace berth::node
