// Rows of a DataVolume's flow: what was seen, which rule decides, what it wants.
#include "datavolume/dv/sync.hpp"

#include <gtest/gtest.h>

#include "api/codec.hpp"
#include "datavolume/dv/status.hpp"
#include "datavolume/dv/wants.hpp"
#include "datavolume/names.hpp"

namespace berth::datavolume::dv {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kNow = Timestamp(std::chrono::seconds(1'760'000'000));

// A DataVolume "disk" of 1Gi on class "local", filled over HTTP; each call changes one thing about it.
struct Seen {
    View view;

    Seen() {
        view.now = kNow;
        view.dv.metadata.name = "disk";
        view.dv.metadata.ns = "t";
        view.dv.metadata.uid.value = "u1";
        api::HttpSource http;
        http.url = "http://images/raw.img";
        view.dv.spec.source = api::DataVolumeSource{.http = http};
        view.render.form = ClaimForm::pvc;
        view.render.document =
            json::parse(R"({"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}})").value();
        view.render.spec = api::decode<api::ClaimSpec>(view.render.document).value();
        view.dv.spec.pvc = view.render.spec;
    }
    Seen& phase(const char* phase) {
        view.dv.status.phase = phase;
        return *this;
    }
    Seen& blank() {
        view.dv.spec.source = api::DataVolumeSource{.blank = json::Value(json::Object())};
        return *this;
    }
    Seen& source(api::DataVolumeSource source) {
        view.dv.spec.source = std::move(source);
        return *this;
    }
    Seen& annotated(const char* key, const char* value) {
        view.dv.metadata.annotations[key] = value;
        return *this;
    }
    Seen& deleting() {
        view.dv.metadata.deletion_timestamp = kNow;
        return *this;
    }
    Seen& gate_off() {
        view.settings.honors_first_consumer = false;
        return *this;
    }
    /// The claim as our own create makes it.
    Seen& claim(const char* phase) {
        view.claim = api::decode<api::PersistentVolumeClaim>(claim_for(view)).value();
        view.claim->metadata.uid.value = "c1";
        view.claim->metadata.resource_version.value = "7";
        view.claim->status.phase = phase;
        return *this;
    }
    Seen& foreign_claim(const char* phase) {
        claim(phase);
        view.claim->metadata.owner_references.clear();
        view.claim->metadata.annotations.clear();
        return *this;
    }
    Seen& claim_says(const char* key, const char* value) {
        view.claim->metadata.annotations[key] = value;
        return *this;
    }
    Seen& claim_deleting() {
        view.claim->metadata.deletion_timestamp = kNow;
        return *this;
    }
    Seen& first_consumer_class() {
        view.claim_class = api::StorageClass{.volume_binding_mode = "WaitForFirstConsumer"};
        return *this;
    }
    Seen& refused(const char* message) {
        view.failed_create = FailedCreate{message};
        return *this;
    }
    /// As the API would show it after the plan's status patch.
    Seen& reported() {
        view.dv.status = status_of(view);
        return *this;
    }
};

Seen seen() { return {}; }

struct Row {
    const char* scenario;
    const char* given;
    Seen seen;
    const char* spec;
    const char* phase;
};

TEST(DataVolumeSync, Rows) {
    const Row rows[] = {
        {"D-30", "nothing yet", seen(), "D-01", "Pending"},
        {"D-30",
         "its claim waits for a consumer", seen().claim("Pending").first_consumer_class(),
         "D-10", "WaitForFirstConsumer"},
        {"D-31", "the gate is off", seen().claim("Pending").first_consumer_class().gate_off(), "D-10", "Pending"},
        {"D-01", "its claim waits for a volume", seen().claim("Pending"), "D-10", "Pending"},
        {"D-01", "bound, the worker is not up", seen().phase("Pending").claim("Bound"), "D-10", "ImportScheduled"},
        {"D-01",
         "the worker runs", seen().phase("ImportScheduled").claim("Bound").claim_says(kPodPhase, "Running"),
         "D-10", "ImportInProgress"},
        {"D-01",
         "the worker is done", seen().phase("ImportInProgress").claim("Bound").claim_says(kPodPhase, "Succeeded"),
         "D-10", "Succeeded"},
        {"D-10",
         "checksum mismatch", seen()
             .phase("ImportInProgress")
             .claim("Bound")
             .claim_says(kPodPhase, "Failed")
             .claim_says(kFatalError, "true"),
         "D-10", "Failed"},
        {"E-40",
         "the worker was evicted", seen().phase("ImportInProgress").claim("Bound").claim_says(kPodPhase, "Failed"),
         "D-10", "ImportScheduled"},
        {"D-44",
         "the volume is lost", seen().phase("Succeeded").claim("Lost").claim_says(kPodPhase, "Succeeded"),
         "D-10", "Failed"},
        {"E-03",
         "the claim is going", seen().phase("ImportInProgress").claim("Bound").claim_says(kPodPhase, "Succeeded").claim_deleting(),
         "E-03", "ImportInProgress"},
        {"D-36", "the claim of a finished one went", seen().phase("Succeeded"), "D-01", "Succeeded"},
        {"D-36", "and is made again", seen().phase("Succeeded").claim("Pending"), "D-10", "Pending"},
        {"E-36", "someone else's claim", seen().foreign_claim("Bound"), "D-02", ""},
        {"D-38",
         "a restored claim", seen().foreign_claim("Bound").claim_says(kPopulatedFor, "disk"),
         "D-02", "Succeeded"},
        {"D-39",
         "adoption is allowed", seen().annotated(kAllowAdoption, "true").foreign_claim("Pending"),
         "D-02", "Succeeded"},
        {"P-79",
         "half filled by another", seen().annotated(kAllowAdoption, "true").foreign_claim("Bound").claim_says(kPodPhase, "Running"),
         "D-02", ""},
        {"E-14",
         "its own claim is never adopted", seen().annotated(kAllowAdoption, "true").claim("Bound").claim_says(kPodPhase, "Running"),
         "D-10", "ImportInProgress"},
        {"D-38", "restored before its claim", seen().annotated(kPrePopulated, "disk"), "2.5", "Pending"},
        {"D-37",
         "deleted", seen().phase("ImportInProgress").deleting().claim("Bound").claim_says(kPodPhase, "Running"),
         "2.11", "ImportInProgress"},
        {"D-41", "the quota says no", seen().refused("forbidden: exceeded quota: q"), "E-30", "Pending"},
        {"D-11",
         "an archive", [] {
             Seen s;
             s.view.dv.spec.content_type = "archive";
             return s;
         }(),
         "2.7", "Pending"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(std::string(row.scenario) + ": " + row.given);
        const api::Plan plan = sync(row.seen.view);
        EXPECT_EQ(plan.spec, row.spec);
        EXPECT_EQ(status_of(row.seen.view).phase, row.phase);
        EXPECT_TRUE(!plan.intents.empty() || plan.wait) << "a plan that does nothing says why";
    }
}

TEST(DataVolumeSync, D01_ClaimCarriesTheRequest) {
    Seen s;
    s.view.dv.metadata.labels["team"] = "a";
    s.view.dv.metadata.annotations[kPopulatedFor] = "disk";
    s.view.dv.spec.source->http->secret_ref = "login";
    s.view.dv.spec.source->http->extra_headers = {"X-A: 1", "X-B: 2"};
    const api::Plan plan = sync(s.view);
    EXPECT_EQ(plan.rule, "the-claim-comes-first");
    ASSERT_EQ(plan.intents.size(), 1U);
    EXPECT_EQ(
        json::print(std::get<api::Create>(plan.intents[0]).document),
        R"({"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"disk","namespace":"t",)"
        R"("labels":{"team":"a","app":"containerized-data-importer","alerts.k8s.io/KubePersistentVolumeFillingUp":"disabled"},)"
        R"("annotations":{"cdi.kubevirt.io/storage.pod.restarts":"0","cdi.kubevirt.io/createdForDataVolume":"u1",)"
        R"("cdi.kubevirt.io/storage.contentType":"kubevirt","cdi.kubevirt.io/storage.preallocation.requested":"false",)"
        R"("cdi.kubevirt.io/storage.import.source":"http","cdi.kubevirt.io/storage.import.endpoint":"http://images/raw.img",)"
        R"("cdi.kubevirt.io/storage.import.secretName":"login","cdi.kubevirt.io/storage.import.extraHeaders.0":"X-A: 1",)"
        R"("cdi.kubevirt.io/storage.import.extraHeaders.1":"X-B: 2","cdi.kubevirt.io/storage.import.importPodName":"importer-disk",)"
        R"("cdi.kubevirt.io/storage.pod.phase":"Pending"},)"
        R"("ownerReferences":[{"apiVersion":"cdi.kubevirt.io/v1beta1","kind":"DataVolume","name":"disk","uid":"u1",)"
        R"("controller":true,"blockOwnerDeletion":true}]},)"
        R"("spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}})"
    );
}

// One disk from nothing to Succeeded: every patch and event, exactly.
TEST(DataVolumeSync, D01_WordsOfAnImport) {
    Seen s = seen().blank().claim("Pending").first_consumer_class();
    const auto step = [&](const char* what) {
        const std::string text = api::print(sync(s.view).intents);
        s.reported();
        EXPECT_EQ(api::print(sync(s.view).intents), "") << what << ": said once, then quiet (D-49)";
        return text;
    };
    EXPECT_EQ(
        step("waits"),
        R"(patch datavolume/t/disk status {"status":{"claimName":"disk","phase":"WaitForFirstConsumer","progress":"N/A","conditions":[)"
        R"({"type":"Bound","status":"False","reason":"Pending","message":"PVC disk Pending","lastTransitionTime":"2025-10-09T08:53:20Z","lastHeartbeatTime":"2025-10-09T08:53:20Z"},)"
        R"({"type":"Ready","status":"False","lastTransitionTime":"2025-10-09T08:53:20Z","lastHeartbeatTime":"2025-10-09T08:53:20Z"},)"
        R"({"type":"Running","status":"False","lastTransitionTime":"2025-10-09T08:53:20Z","lastHeartbeatTime":"2025-10-09T08:53:20Z"}]}})"
        "\nevent Normal Pending on datavolume/t/disk: PVC disk Pending"
    );
    const auto events = [](const std::string& text) { return text.substr(text.find("\nevent") + 1); };
    s.view.claim->status.phase = "Bound";
    EXPECT_EQ(
        events(step("bound")),
        "event Normal ImportScheduled on datavolume/t/disk: Import into disk scheduled\n"
        "event Normal Bound on datavolume/t/disk: PVC disk Bound"
    );
    s.claim_says(kPodPhase, "Running")
        .claim_says(kRunning, "true")
        .claim_says((std::string(kRunning) + ".reason").c_str(), "Pod is running");
    EXPECT_EQ(events(step("runs")), "event Normal ImportInProgress on datavolume/t/disk: Import into disk in progress");
    EXPECT_EQ(api::find_condition(s.view.dv.status.conditions, "Ready")->reason, "TransferRunning");
    s.claim_says(kPodPhase, "Succeeded")
        .claim_says(kRunning, "false")
        .claim_says((std::string(kRunning) + ".reason").c_str(), "Completed");
    s.claim_says((std::string(kRunning) + ".message").c_str(), "Import Complete");
    EXPECT_EQ(
        events(step("done")), "event Normal ImportSucceeded on datavolume/t/disk: Successfully imported into PVC disk"
    );
    EXPECT_EQ(s.view.dv.status.progress, "100.0%");
    s.view.now += 1h;
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(sync(s.view).intents.empty()) << "D-49";
}

TEST(DataVolumeSync, D05_FailureIsAWarningOnceAndClearsWhenItRuns) {
    Seen s = seen().claim("Bound").claim_says(kPodPhase, "Running").reported();
    s.claim_says(kRunning, "false").claim_says((std::string(kRunning) + ".reason").c_str(), "Error");
    s.claim_says((std::string(kRunning) + ".message").c_str(), "DataVolume too small to contain image")
        .claim_says(kPodRestarts, "3");
    const std::string text = api::print(sync(s.view).intents);
    EXPECT_TRUE(text.ends_with("\nevent Warning Error on datavolume/t/disk: DataVolume too small to contain image"))
        << text;
    s.reported();
    EXPECT_EQ(s.view.dv.status.phase, "ImportInProgress");
    EXPECT_EQ(s.view.dv.status.restart_count, 3);
    EXPECT_TRUE(sync(s.view).intents.empty());
}

TEST(DataVolumeSync, E12_UnschedulableBeatsAStaleRunning_D50) {
    Seen s = seen().claim("Bound").claim_says(kRunning, "true").claim_says(kPodSchedulable, "false");
    const api::DataVolumeStatus status = status_of(s.view);
    const api::Condition& running = *api::find_condition(status.conditions, "Running");
    EXPECT_EQ(running.status + running.reason + running.message, "FalseUnschedulableImporter pod cannot be scheduled");
}

TEST(DataVolumeSync, D38_ForeignClaimIsLeftAloneAndNamed) {
    Seen s = seen().phase("Pending").foreign_claim("Bound");
    const std::string text = api::print(sync(s.view).intents);
    EXPECT_TRUE(
        text.ends_with("event Warning ErrResourceExists on datavolume/t/disk: Resource \"disk\" already exists and is "
                       "not managed by DataVolume")
    ) << text;
    EXPECT_EQ(text.find("claimName"), std::string::npos);
    s.reported();
    EXPECT_TRUE(sync(s.view).intents.empty());
    s.claim_says(kPopulatedFor, "disk");
    EXPECT_TRUE(
        api::print(sync(s.view).intents)
            .starts_with(
                R"(patch persistentvolumeclaim/t/disk {"metadata":{"ownerReferences":[{"apiVersion":"cdi.kubevirt.io/v1beta1")"
            )
    );
    EXPECT_EQ(status_of(s.view).progress, "N/A");
}

TEST(DataVolumeSync, UnsupportedSourceSaysWhatIs) {
    Seen s = seen().source({.upload = json::Value(json::Object())});
    const std::string text = api::print(sync(s.view).intents);
    EXPECT_TRUE(
        text.ends_with("event Warning SourceNotSupported on datavolume/t/disk: source upload is not supported: use "
                       "source http or blank with "
                       "content type kubevirt")
    ) << text;
    s.reported();
    EXPECT_TRUE(sync(s.view).intents.empty());
    EXPECT_EQ(api::find_condition(s.view.dv.status.conditions, "Running")->reason, "SourceNotSupported");
}

TEST(DataVolumeSync, D41_QuotaIsSaidAndTriedAgain) {
    Seen s = seen().refused("persistentvolumeclaims \"disk\" is forbidden: exceeded quota: none");
    const api::Plan plan = sync(s.view);
    const std::string text = api::print(plan.intents);
    EXPECT_NE(text.find("event Warning ErrExceededQuota"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("create persistentvolumeclaim/t/disk")) << text;
    const api::DataVolumeStatus status = status_of(s.view);
    EXPECT_EQ(api::find_condition(status.conditions, "Ready")->reason, "ErrExceededQuota");
}

TEST(DataVolumeSync, D77_ProgressIsTheWorkersUntilItIsDone) {
    Seen s = seen().claim("Bound").claim_says(kPodPhase, "Running");
    s.view.progress = "37.52%";
    EXPECT_EQ(status_of(s.view).progress, "37.52%");
    s.reported();
    s.view.progress.reset();
    EXPECT_EQ(status_of(s.view).progress, "37.52%");
    s.claim_says(kPodPhase, "Succeeded");
    EXPECT_EQ(status_of(s.view).progress, "100.0%");
}

}  // namespace
}  // namespace berth::datavolume::dv
