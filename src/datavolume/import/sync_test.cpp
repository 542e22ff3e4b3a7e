// Rows of a claim that a worker fills.
#include "datavolume/import/sync.hpp"

#include <gtest/gtest.h>

#include "api/codec.hpp"
#include "datavolume/import/pod.hpp"
#include "datavolume/import/report.hpp"
#include "datavolume/names.hpp"

namespace berth::datavolume::import {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kNow = Timestamp(std::chrono::seconds(1'760'000'000));

// The claim "disk" of 1Gi with an HTTP request; each call changes one thing.
struct Seen {
    View view;

    explicit Seen(const char* phase) {
        view.now = kNow;
        view.claim.metadata.name = "disk";
        view.claim.metadata.ns = "t";
        view.claim.metadata.uid.value = "c1";
        view.claim.metadata.annotations = {
            {kImportSource,   "http"                 },
            {kImportEndpoint, "http://images/raw.img"},
            {kPodPhase,       "Pending"              },
            {kPodRestarts,    "0"                    },
            {kImportPod,      "importer-disk"        },
        };
        api::OwnerReference owner;
        owner.kind = "DataVolume";
        owner.uid.value = "u1";
        view.claim.metadata.owner_references = {owner};
        view.claim.spec.resources.requests["storage"] = Quantity{"1Gi"};
        view.claim.status.phase = phase;
    }
    Seen& says(const std::string& key, const char* value) {
        view.claim.metadata.annotations[key] = value;
        return *this;
    }
    Seen& lacks(const char* key) {
        view.claim.metadata.annotations.erase(key);
        return *this;
    }
    Seen& deleting() {
        view.claim.metadata.deletion_timestamp = kNow;
        return *this;
    }
    Seen& asks_for(const char* size) {
        view.claim.spec.resources.requests["storage"] = Quantity{size};
        return *this;
    }
    Seen& gate_off() {
        view.settings.honors_first_consumer = false;
        return *this;
    }
    Seen& used_by(const char* pod, bool is_provisioning = false) {
        view.users.push_back({pod, is_provisioning});
        return *this;
    }
    Seen& pod(const char* phase) {
        view.pod = api::decode<api::Pod>(worker_pod_for(view)).value();
        view.pod->metadata.uid.value = "p1";
        view.pod->status.phase = phase;
        return *this;
    }
    Seen& pod_deleting() {
        view.pod->metadata.deletion_timestamp = kNow;
        return *this;
    }
    Seen& pod_of_another() {
        view.pod->metadata.owner_references.clear();
        return *this;
    }
    Seen& container(const char* state, const char* last = "{}", int restarts = 0) {
        api::ContainerStatus status;
        status.name = "importer";
        status.restart_count = restarts;
        status.state = json::parse(state).value();
        status.last_state = json::parse(last).value();
        view.pod->status.container_statuses = {status};
        return *this;
    }
};

Seen bound() { return Seen("Bound"); }
Seen pending() { return Seen("Pending"); }

constexpr const char* kRunningLong = R"({"running":{"startedAt":"2025-10-09T08:00:00Z"}})";
constexpr const char* kRunningNow = R"({"running":{"startedAt":"2025-10-09T08:53:15Z"}})";
constexpr const char* kBackoff = R"({"waiting":{"reason":"CrashLoopBackOff","message":"back-off 10s"}})";
constexpr const char* kFailedEnd =
    R"({"terminated":{"exitCode":1,"reason":"Error","message":"expected status code 200, got 404"}})";
constexpr const char* kSmallEnd =
    R"({"terminated":{"exitCode":2,"reason":"Error","message":"virtual image size 2147483648 is larger than the reported available storage 1073741824. A larger PVC is required"}})";
constexpr const char* kMismatchEnd =
    R"({"terminated":{"exitCode":2,"reason":"Error","message":"checksum mismatch: sha256 is a, not b"}})";
constexpr const char* kGoodEnd =
    R"({"terminated":{"exitCode":0,"reason":"Completed","message":"{\"message\":\"Import Complete\",\"preallocationApplied\":true,\"labels\":{\"a.kubevirt.io/b\":\"c\"}}"}})";

struct Row {
    const char* scenario;
    const char* given;
    Seen seen;
    const char* spec;
    const char* intents;
};

constexpr const char* kSuccess =
    R"(patch persistentvolumeclaim/t/disk {"metadata":{"annotations":{"cdi.kubevirt.io/storage.condition.running":"false",)"
    R"("cdi.kubevirt.io/storage.condition.running.message":"Import Complete","cdi.kubevirt.io/storage.condition.running.reason":"Completed",)"
    R"("cdi.kubevirt.io/storage.pod.phase":"Succeeded","cdi.kubevirt.io/storage.preallocation":"true"},"labels":{"a.kubevirt.io/b":"c"}}})"
    "\nevent Normal ImportSucceeded on persistentvolumeclaim/t/disk: Import Successful";

TEST(ImportSync, Rows) {
    const std::string success_and_removal = std::string(kSuccess) + "\ndelete pod/t/importer-disk";
    const Row rows[] = {
        {"D-30", "unbound, gate on", pending(), "D-11", ""},
        {"D-31", "unbound, gate off", pending().gate_off(), "D-11", "create pod/t/importer-disk"},
        {"D-29",
         "unbound, bound at once on request", pending().says(kImmediateBinding, ""),
         "D-11", "create pod/t/importer-disk"},
        {"D-30",
         "used by a pod", bound().used_by("shell"),
         "D-11", "event Warning ImportTargetInUse on persistentvolumeclaim/t/disk: pod t/shell using PersistentVolumeClaim disk"
        },
        {"P-01", "used by the pod that binds it", bound().used_by("launcher", true), "D-11", ""},
        {"D-30", "its user is gone", bound(), "D-11", "create pod/t/importer-disk"},
        {"D-01", "scheduled", bound().pod("Pending"), "D-13", ""},
        {"D-01",
         "creating", bound().pod("Pending").container(R"({"waiting":{"reason":"ContainerCreating"}})"),
         "D-13", ""},
        {"D-01", "succeeded", bound().pod("Succeeded").container(kGoodEnd), "2.9", success_and_removal.c_str()},
        {"D-45",
         "succeeded, its pod is kept", bound().says(kRetainPod, "true").pod("Succeeded").container(kGoodEnd),
         "2.9", kSuccess},
        {"D-01", "recorded", bound().says(kPodPhase, "Succeeded").pod("Succeeded"), "2.9", "delete pod/t/importer-disk"
        },
        {"D-45",
         "recorded, its pod is kept", bound().says(kPodPhase, "Succeeded").says(kRetainPod, "true").pod("Succeeded"),
         "2.9", ""},
        {"D-49", "long done", bound().says(kPodPhase, "Succeeded"), "2.9", ""},
        {"D-37", "the claim is going", bound().deleting().pod("Running"), "2.9", "delete pod/t/importer-disk"},
        {"D-37", "both are going", bound().deleting().pod("Running").pod_deleting(), "2.9", ""},
        {"E-40", "deleted by a user", bound().pod("Running").pod_deleting(), "2.9", ""},
        {"E-40", "evicted", bound().says(kPodPhase, "Failed").pod("Failed"), "E-40", "delete pod/t/importer-disk"},
        {"2.9", "a foreign pod", bound().pod("Running").pod_of_another(), "2.9", ""},
        {"D-10", "after a checksum mismatch", bound().says(kPodPhase, "Failed").says(kFatalError, "true"), "2.9", ""},
        {"2.9", "no request", bound().lacks(kImportSource).lacks(kImportEndpoint), "2.9", ""},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(std::string(row.scenario) + ": " + row.given);
        const api::Plan plan = sync(row.seen.view);
        EXPECT_EQ(plan.spec, row.spec);
        EXPECT_EQ(api::print(plan.intents), row.intents);
    }
}

TEST(ImportSync, D05_AGrownClaimIsTriedAtOnce) {
    const auto small = [] { return bound().pod("Running").container(kBackoff, kSmallEnd, 1); };
    EXPECT_EQ(sync(small().view).spec, "D-13") << "the same request waits";
    Seen injected = small();
    injected.view.pod->spec.containers.front().env.push_back({.name = "HTTP_PROXY", .value = "http://proxy"});
    EXPECT_EQ(sync(injected.view).spec, "D-13") << "what a webhook has added is not another request";
    const api::Plan grown = sync(small().asks_for("3Gi").view);
    EXPECT_EQ(grown.spec, "9");
    EXPECT_EQ(api::print(grown.intents), "delete pod/t/importer-disk");
    const Seen again = bound().pod("Running").container(kRunningNow, kSmallEnd, 1).asks_for("3Gi");
    EXPECT_EQ(sync(again.view).spec, "D-13") << "a worker that runs is left to its end";
}

std::string said(const Seen& seen) {
    const auto report = report_of(seen.view);
    const auto at = [&](const std::string& key) {
        const auto it = report.find(key);
        return it == report.end() ? std::string("-") : it->second;
    };
    const std::string running = kRunning;
    return at(running) + "|" + at(running + ".reason") + "|" + at(running + ".message") + "|" + at(kPodRestarts);
}

TEST(ImportSync, D05_D06_E20_WhatTheClaimSaysOfItsWorker) {
    struct Row {
        const char* given;
        Seen seen;
        const char* expected;
    };
    const Row rows[] = {
        {"runs", bound().pod("Running").container(kRunningLong), "true|Pod is running||0"},
        {"ended with 404",
         bound().pod("Running").container(kFailedEnd),
         "false|Error|expected status code 200, got 404|0"},
        {"waits after a 404",
         bound().pod("Running").container(kBackoff, kFailedEnd, 1),
         "false|Error|expected status code 200, got 404|1"},
        {"has just started again",
         bound().pod("Running").container(kRunningNow, kFailedEnd, 1),
         "false|Error|expected status code 200, got 404|1"},
        {"has been running for long",
         bound().pod("Running").container(kRunningLong, kFailedEnd, 1),
         "true|Pod is running||1"},
        {"too small",
         bound().pod("Running").container(kBackoff, kSmallEnd, 4),
         "false|Error|DataVolume too small to contain image: virtual image size 2147483648 is larger than the reported "
         "available storage 1073741824. A larger PVC is required|4"},
        {"restarts never go down",
         bound().says(kPodRestarts, "9").pod("Running").container(kRunningLong),
         "true|Pod is running||9"},
        {"a certificate is missing",
         bound().pod("Pending").container(
             R"({"waiting":{"reason":"ContainerCreating","message":"configmap \"x\" not found"}})"
         ), "false|ContainerCreating|configmap \"x\" not found|0"},
        {"a secret is missing",
         bound().pod("Pending").container(
             R"({"waiting":{"reason":"CreateContainerConfigError","message":"secret \"x\" not found"}})"
         ), "false|CreateContainerConfigError|secret \"x\" not found|0"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.given);
        EXPECT_EQ(said(row.seen), row.expected);
        EXPECT_NE(report_of(row.seen.view).at(kPodPhase), "Failed") << "E-20";
    }
    const api::Plan retry = sync(bound().pod("Running").container(kRunningNow, kFailedEnd, 1).view);
    EXPECT_EQ(retry.look_again_at, kNow - 5s + kSettlingTime);
}

TEST(ImportSync, D06_OneEventForEachFailure) {
    Seen s = bound().says(kPodPhase, "Running").pod("Running").container(kBackoff, kFailedEnd, 1);
    const std::string text = api::print(sync(s.view).intents);
    EXPECT_TRUE(text.ends_with(
        "event Warning ErrImportFailed on persistentvolumeclaim/t/disk: expected status code 200, got 404"
    )) << text;
    for (const auto& [key, value] : report_of(s.view)) s.says(key, value.c_str());
    EXPECT_TRUE(sync(s.view).intents.empty());
    s.container(kBackoff, kFailedEnd, 2);
    EXPECT_NE(api::print(sync(s.view).intents).find("ErrImportFailed"), std::string::npos);
}

TEST(ImportSync, D10_ChecksumMismatchIsFinal) {
    Seen s = bound().says(kPodPhase, "Running").pod("Running").container(kMismatchEnd);
    EXPECT_EQ(
        api::print(sync(s.view).intents),
        R"(patch persistentvolumeclaim/t/disk {"metadata":{"annotations":{"cdi.kubevirt.io/storage.condition.running":"false",)"
        R"("cdi.kubevirt.io/storage.condition.running.message":"checksum mismatch: sha256 is a, not b",)"
        R"("cdi.kubevirt.io/storage.condition.running.reason":"ChecksumError","cdi.kubevirt.io/storage.import.fatalError":"true",)"
        R"("cdi.kubevirt.io/storage.pod.phase":"Failed"}}})"
        "\nevent Warning ErrImportFailed on persistentvolumeclaim/t/disk: checksum mismatch: sha256 is a, not b"
        "\ndelete pod/t/importer-disk"
    );
}

TEST(ImportSync, D50_UnschedulableIsSaidAndTakenBack) {
    Seen s = bound().pod("Pending");
    s.view.pod->status.conditions = {
        {.type = "PodScheduled", .status = "False", .reason = "Unschedulable"}
    };
    EXPECT_EQ(report_of(s.view).at(kPodSchedulable), "false");
    s.says(kPodSchedulable, "false");
    s.view.pod->status.conditions.clear();
    EXPECT_EQ(report_of(s.view).at(kPodSchedulable), "true");
}

TEST(ImportSync, E30_RefusedPodIsSaidAndTriedAgain) {
    Seen s = bound();
    s.view.failed_create = "pods \"importer-disk\" is forbidden: exceeded quota: q";
    const std::string text = api::print(sync(s.view).intents);
    EXPECT_NE(text.find("event Warning ErrExceededQuota"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("create pod/t/importer-disk")) << text;
}

TEST(WorkerPod, D08_D09_D47_D48_P78_AsRendered) {
    Seen s = bound().says(kImportSecret, "login").says(kImportCertConfigMap, "ca").says(kImportChecksum, "sha256:00");
    s.says(std::string(kImportHeader) + "0", "X-A: 1").says(std::string(kImportSecretHeader) + "0", "tokens");
    s.says(kPriorityClass, "high")
        .says(kServiceAccount, "robot")
        .says("k8s.v1.cni.cncf.io/networks", "net")
        .says("x/y", "z");
    s.view.claim.metadata.labels["team"] = "a";
    const json::Value pod = worker_pod_for(s.view);
    EXPECT_EQ(
        json::print(*json::find(pod, "/metadata")),
        R"({"name":"importer-disk","namespace":"t","labels":{"team":"a","app":"containerized-data-importer","cdi.kubevirt.io":"importer",)"
        R"("prometheus.cdi.kubevirt.io":"true"},"annotations":{"cdi.kubevirt.io/storage.createdByController":"yes",)"
        R"("berth.dev/permanent-exit-code":"2",)"
        R"("k8s.v1.cni.cncf.io/networks":"net","sidecar.istio.io/inject":"false","linkerd.io/inject":"disabled"},)"
        R"("ownerReferences":[{"apiVersion":"v1","kind":"PersistentVolumeClaim","name":"disk","uid":"c1","controller":true,"blockOwnerDeletion":true}]})"
    );
    EXPECT_EQ(
        json::print(*json::find(pod, "/spec/containers/0/env")),
        R"([{"name":"IMPORTER_SOURCE","value":"http"},{"name":"IMPORTER_ENDPOINT","value":"http://images/raw.img"},)"
        R"({"name":"IMPORTER_CONTENTTYPE","value":"kubevirt"},{"name":"IMPORTER_IMAGE_SIZE","value":"1Gi"},)"
        R"({"name":"FILESYSTEM_OVERHEAD","value":"0.06"},{"name":"OWNER_UID","value":"u1"},{"name":"BERTH_CLAIM_UID","value":"c1"},)"
        R"({"name":"PREALLOCATION","value":"false"},{"name":"INSECURE_TLS","value":"false"},{"name":"IMPORTER_CHECKSUM","value":"sha256:00"},)"
        R"({"name":"IMPORTER_ACCESS_KEY_ID","valueFrom":{"secretKeyRef":{"name":"login","key":"accessKeyId"}}},)"
        R"({"name":"IMPORTER_SECRET_KEY","valueFrom":{"secretKeyRef":{"name":"login","key":"secretKey"}}},)"
        R"({"name":"IMPORTER_CERT_DIR","value":"/certs"},{"name":"IMPORTER_EXTRA_HEADER_0","value":"X-A: 1"}])"
    );
    EXPECT_EQ(
        json::print(*json::find(pod, "/spec/containers/0/volumeMounts")),
        R"([{"name":"cdi-data-vol","mountPath":"/data"},{"name":"berth-worker","mountPath":"/var/run/berth"},)"
        R"({"name":"berth-scratch","mountPath":"/scratch"},{"name":"cdi-cert-vol","mountPath":"/certs"},)"
        R"({"name":"cdi-secret-header-0","mountPath":"/extraheaders/0"}])"
    );
    EXPECT_EQ(
        json::print(*json::find(pod, "/spec/containers/0/securityContext")),
        R"({"runAsNonRoot":true,"runAsUser":107,"allowPrivilegeEscalation":false,"capabilities":{"drop":["ALL"]},)"
        R"("seccompProfile":{"type":"RuntimeDefault"}})"
    );
    EXPECT_EQ(json::print(*json::find(pod, "/spec/tolerations")), R"([{"operator":"Exists"}])");
    EXPECT_EQ(json::text_at(pod, "/spec/priorityClassName"), "high");
    EXPECT_EQ(json::text_at(pod, "/spec/serviceAccountName"), "robot");
    EXPECT_EQ(json::text_at(pod, "/spec/nodeName"), "") << "a worker follows its volume (R-61)";
    EXPECT_FALSE(json::bool_at(pod, "/spec/enableServiceLinks", true));
}

TEST(WorkerPod, D04_BlockClaimIsADevice) {
    Seen s = bound();
    s.view.claim.spec.volume_mode = "Block";
    const json::Value pod = worker_pod_for(s.view);
    EXPECT_EQ(
        json::print(*json::find(pod, "/spec/containers/0/volumeDevices")),
        R"([{"name":"cdi-data-vol","devicePath":"/dev/cdi-block-volume"}])"
    );
    EXPECT_NE(json::print(pod).find(R"({"name":"FILESYSTEM_OVERHEAD","value":"0"})"), std::string::npos);
}

// A volume of our own class is as large as its claim says, whatever room its file system shows.
TEST(WorkerPod, D23_AVolumeOfTheNodeIsThin) {
    Seen s = bound();
    EXPECT_EQ(json::print(worker_pod_for(s.view)).find("BERTH_THIN_VOLUME"), std::string::npos);
    s.view.claim.metadata.annotations[kProvisionedBy] = kLocalProvisioner;
    EXPECT_NE(
        json::print(worker_pod_for(s.view)).find(R"({"name":"BERTH_THIN_VOLUME","value":"true"})"), std::string::npos
    );
    s.view.claim.spec.volume_mode = "Block";
    EXPECT_EQ(json::print(worker_pod_for(s.view)).find("BERTH_THIN_VOLUME"), std::string::npos);
}

TEST(WorkerPod, NamesStayWithin253Bytes) {
    EXPECT_EQ(importer_name("disk"), "importer-disk");
    const std::string name = importer_name(std::string(253, 'a'));
    EXPECT_EQ(name.size(), 253U);
    EXPECT_NE(name, importer_name(std::string(252, 'a')));
}

}  // namespace
}  // namespace berth::datavolume::import
