// Rows of a pod's volumes: what they wait for, and what the node is asked to make.
#include "solo/rules/kubelet/fixture.hpp"

namespace berth::solo::kubelet {
namespace {

using namespace testing;

Seen claiming(api::PersistentVolumeClaim claim) {
    Seen seen(with_claim(never(), claim.metadata.name));
    seen.view.claims[claim.metadata.name] = std::move(claim);
    return seen;
}

TEST(KubeletVolumes, K94_WhatIsMissing) {
    const api::PersistentVolumeClaim ready = bound(claim("a", "local", "1Gi"), "v");
    api::PersistentVolumeClaim deleting = ready;
    deleting.metadata.deletion_timestamp = at(0);
    const api::PersistentVolume here = held(volume("v", "local", "1Gi", "n1"), ready);
    api::PersistentVolume foreign = here;
    foreign.spec.claim_ref->uid = {"other"};
    api::PersistentVolume csi = here;
    csi.spec.local.reset();
    const auto has = [](api::PersistentVolume volume) { return [volume](View& v) { v.volumes["v"] = volume; }; };
    api::Pod configured = never();
    configured.spec.volumes.push_back({.name = "c", .config_map = api::ConfigMapVolumeSource{.name = "cm"}});
    api::Pod secretive = never();
    secretive.spec.volumes.push_back({.name = "s", .secret = api::SecretVolumeSource{.secret_name = "se"}});
    struct Row {
        const char* scenario;
        Seen seen;
        const char* message;
    };
    const Row rows[] = {
        {"K-94 no claim", Seen(with_claim(never(), "a")), "persistentvolumeclaim \"a\" not found"},
        {"K-94 R-61 not bound", claiming(claim("a", "local", "1Gi")), "persistentvolumeclaim \"a\" is not bound yet"},
        {"K-94 being deleted", claiming(deleting), "persistentvolumeclaim \"a\" is being deleted"},
        {"K-94 no volume", claiming(ready), "persistentvolume \"v\" not found"},
        {"K-94 another's volume", claiming(ready).with(has(foreign)), "persistentvolume \"v\" is bound to another claim"
        },
        {"K-94 another node's",
         claiming(ready).with(has(held(volume("v", "local", "1Gi", "n2"), ready))),
         "persistentvolume \"v\" lies on another node: leave spec.nodeName to the scheduler"},
        {"K-94 another kind",
         claiming(ready).with(has(csi)),
         "persistentvolume \"v\" is neither local nor hostPath: this node cannot mount it"},
        {"K-94 no configmap", Seen(configured), "configmap \"cm\" not found"},
        {"K-94 no secret", Seen(secretive), "secret \"se\" not found"},
        {"K-94 mount failed",
         claiming(ready).with(has(here)).with([](View& v) {
             v.volume_failures["a"] = {"FailedMount", "device busy", 1, at(95)};
         }),
         "device busy"},
    };
    for (const Row& row : rows) {
        SCOPED_TRACE(row.scenario);
        const api::Plan plan = sync(row.seen.view);
        EXPECT_EQ(plan.rule, "volumes-come-before-containers");
        EXPECT_EQ(acts(plan), "");
        EXPECT_EQ(
            event_of(plan),
            "FailedMount: MountVolume.SetUp failed for volume \"" + row.seen.view.pod->spec.volumes[0].name +
                "\": " + row.message
        );
        EXPECT_EQ(plan.wait->why, row.message);
        const json::Value status = status_patch(plan)->patch;
        const std::string waiting = "/status/containerStatuses/0/state/waiting";
        EXPECT_EQ(json::text_at(status, waiting + "/reason"), "ContainerCreating")
            << "P-71: Pending, not Unschedulable";
        EXPECT_EQ(json::text_at(status, waiting + "/message"), row.message);
    }
}

TEST(KubeletVolumes, EverythingIsPreparedOnce) {
    const api::PersistentVolumeClaim ready = bound(claim("a", "local", "1Gi"), "v");
    Seen seen = claiming(ready);
    seen.view.volumes["v"] = held(volume("v", "local", "1Gi", "n1"), ready);
    seen.view.pod->spec.volumes.push_back({.name = "tmp", .empty_dir = api::EmptyDirSource{}});
    EXPECT_EQ(acts(sync(seen.view)), "prepare volume pod/default/tp a; prepare volume pod/default/tp tmp");
    seen.view.prepared = {
        {"a", "/disks/v"}
    };
    EXPECT_EQ(acts(sync(seen.view)), "prepare volume pod/default/tp tmp");
    seen.view.prepared["tmp"] = "/pods/tmp";
    EXPECT_EQ(sync(seen.view).rule, "containers-start-in-order");
    seen.view.prepared.clear();
    seen.running("compute");
    EXPECT_EQ(sync(seen.view).rule, "running-pod-is-watched") << "a restart of the kubelet disturbs nothing";
}

TEST(KubeletVolumes, Requests) {
    Seen seen(never());
    seen.view.pod->spec.security_context = json::parse(R"({"fsGroup":107})").value();
    seen.view.pod->metadata.labels = {
        {"app", "vm"}
    };
    api::ConfigMap map;
    map.metadata.name = "cm";
    map.data = {
        {"a", "1"},
        {"b", "2"}
    };
    map.binary_data = {
        {"c", "AAE="}
    };
    seen.view.config_maps["cm"] = map;
    api::Secret secret;
    secret.metadata.name = "se";
    secret.data = {
        {"key", "c2VjcmV0"}
    };
    seen.view.secrets["se"] = secret;

    const auto files_of = [&](const api::PodVolume& volume) { return volume_request(seen.view, volume).value().files; };
    using Files = std::map<std::string, std::string>;
    EXPECT_EQ(
        files_of({
            .name = "v", .config_map = api::ConfigMapVolumeSource{.name = "cm"}
    }),
        (Files{{"a", "1"}, {"b", "2"}, {"c", std::string("\0\1", 2)}})
    );
    EXPECT_EQ(
        files_of({
            .name = "v", .config_map = api::ConfigMapVolumeSource{.name = "cm", .items = {{"a", "dir/x", {}}}}
    }),
        (Files{{"dir/x", "1"}})
    );
    EXPECT_EQ(
        volume_request(
            seen.view,
            {
                .name = "v", .config_map = api::ConfigMapVolumeSource{.name = "cm", .items = {{"z", "x", {}}}}
    }
        )
            .error()
            .message,
        "references non-existent key: z"
    );
    EXPECT_EQ(
        files_of({
            .name = "v", .config_map = api::ConfigMapVolumeSource{.name = "none", .optional = true}
    }),
        Files()
    );
    EXPECT_EQ(
        files_of({
            .name = "v", .secret = api::SecretVolumeSource{.secret_name = "se"}
    }),
        (Files{{"key", "secret"}})
    );
    EXPECT_EQ(
        files_of({
            .name = "v",
            .downward_api =
                json::parse(R"({"items":[{"path":"labels","fieldRef":{"fieldPath":"metadata.labels"}}]})").value()
    }),
        (Files{{"labels", "app=\"vm\"\n"}})
    );
    EXPECT_EQ(
        files_of({
            .name = "v",
            .projected =
                json::parse(
                    R"({"sources":[{"secret":{"name":"se"}},{"configMap":{"name":"cm","items":[{"key":"b","path":"b"}]}}]})"
                )
                    .value()
    }),
        (Files{{"b", "2"}, {"key", "secret"}})
    );
    EXPECT_FALSE(volume_request(
        seen.view, {.name = "v", .projected = json::parse(R"({"sources":[{"serviceAccountToken":{}}]})").value()}
    ));

    const auto memory =
        volume_request(seen.view, {.name = "v", .empty_dir = api::EmptyDirSource{.medium = "Memory"}}).value();
    EXPECT_TRUE(memory.in_memory && !memory.propagates);
    EXPECT_EQ(memory.group, 107);
    seen.view.pod->spec.containers[0].volume_mounts = {
        {.name = "hot", .mount_path = "/x", .mount_propagation = "HostToContainer"}
    };
    EXPECT_TRUE(volume_request(seen.view, {.name = "hot", .empty_dir = api::EmptyDirSource{}})->propagates);
    const auto host = volume_request(
                          seen.view,
                          {
                              .name = "v", .host_path = api::HostPathSource{"/srv", "Directory"}
    }
    )
                          .value();
    EXPECT_EQ(host.path + " " + host.type, "/srv Directory");
    EXPECT_FALSE(host.group) << "what is the host's stays the host's";
}

}  // namespace
}  // namespace berth::solo::kubelet
