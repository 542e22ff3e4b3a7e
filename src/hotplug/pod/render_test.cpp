#include "hotplug/pod/render.hpp"

#include <gtest/gtest.h>

#include "hotplug/testing/seen_plugs.hpp"

namespace berth::hotplug {
namespace {

using namespace testing;

struct Made {
    SeenPlugs seen = testing::seen();
    std::vector<api::PersistentVolumeClaim> claims;

    Made() {
        seen.launcher.spec.containers.front().image = "registry/launcher:1";
        claims = {claim("files", "Bound"), claim("raw", "Bound")};
        claims.back().spec.volume_mode = "Block";
    }
    [[nodiscard]] RenderInput input() const {
        return {.vmi = seen.vmi, .launcher = seen.launcher, .config = seen.config, .selinux_level = "s0"};
    }
    [[nodiscard]] std::vector<Mounted> both() const {
        return {
            {"f", &claims[0]},
            {"b", &claims[1]}
        };
    }
};

json::Value text(std::string_view json_text) { return *json::parse(json_text); }

// 6.1, field by field.
TEST(AttachmentPod, H21_TheWholePod) {
    const Made made;
    const api::Pod pod = attachment_pod(made.input(), made.both());
    json::Value got = api::encode(pod);
    EXPECT_EQ(pod.metadata.name, pod_name(Uid{"launcher-1"}, Purpose::attach, made.both(), {}));
    EXPECT_TRUE(pod.metadata.name.starts_with("hp-volume-"));
    got.as_object()["metadata"].as_object().erase("name");
    got.as_object()["spec"].as_object().erase("tolerations");
    got.as_object().erase("status");
    const json::Value wanted = text(R"({
        "metadata": {
            "namespace": "default",
            "labels": {"kubevirt.io": "hotplug-disk"},
            "annotations": {"kubevirt.io/owner-vmi-name": "web", "kubevirt.io/owner-vmi-uid": "vmi-1"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "virt-launcher-web", "uid": "launcher-1",
                                 "controller": true, "blockOwnerDeletion": true}]
        },
        "spec": {
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}]}]}}},
            "terminationGracePeriodSeconds": 0,
            "volumes": [
                {"name": "hotplug-disks", "emptyDir": {}},
                {"name": "f", "persistentVolumeClaim": {"claimName": "files"}},
                {"name": "b", "persistentVolumeClaim": {"claimName": "raw"}}
            ],
            "containers": [{
                "name": "hotplug-disk",
                "image": "registry/launcher:1",
                "command": ["/bin/sh", "-c", "/usr/bin/container-disk --copy-path /path/hp"],
                "resources": {"requests": {"cpu": "10m", "memory": "2M"}, "limits": {"cpu": "100m", "memory": "80M"}},
                "volumeMounts": [
                    {"name": "hotplug-disks", "mountPath": "/path", "mountPropagation": "HostToContainer"},
                    {"name": "f", "mountPath": "/hotplug/f"}
                ],
                "volumeDevices": [{"name": "b", "devicePath": "/path/b/claim-raw"}],
                "securityContext": {
                    "allowPrivilegeEscalation": false, "runAsNonRoot": true, "runAsUser": 107,
                    "seccompProfile": {"type": "RuntimeDefault"}, "capabilities": {"drop": ["ALL"]},
                    "seLinuxOptions": {"level": "s0"}
                }
            }]
        }
    })");
    EXPECT_EQ(got, wanted) << json::print(got);
}

TEST(AttachmentPod, H22_SelinuxLevel) {
    const auto level = [](const char* context, const char* migration = "null") {
        api::VirtualMachineInstance vmi = machine();
        vmi.status.selinux_context = context;
        vmi.status.migration_state = text(migration);
        return selinux_level(vmi).value_or("-");
    };
    EXPECT_EQ(level("system_u:system_r:container_file_t:s0:c1,c2"), "s0:c1,c2");
    EXPECT_EQ(level("none"), "s0");
    EXPECT_EQ(level(""), "-");
    EXPECT_EQ(level("a:b:c"), "-");
    EXPECT_EQ(level("", R"({"sourceState":{"selinuxContext":"a:b:c:s0:c9"}})"), "s0:c9");
}

TEST(AttachmentPod, H23_Tolerations) {
    Made made;
    const api::Toleration built_in{.key = "node.kubernetes.io/disk-pressure", .op = "Exists", .effect = "NoSchedule"};
    const api::Toleration custom{.key = "example.com/gpu", .op = "Exists"};
    made.seen.launcher.spec.tolerations = {built_in, custom};
    const std::vector<api::Toleration> got = attachment_pod(made.input(), made.both()).spec.tolerations;
    EXPECT_EQ(std::ranges::count(got, built_in), 1);
    EXPECT_EQ(std::ranges::count(got, custom), 1);
    EXPECT_EQ(got.size(), 6U);
    EXPECT_TRUE(std::ranges::is_sorted(got, {}, &api::Toleration::key));
}

TEST(AttachmentPod, H24_ResourcesOneByOne) {
    Made made;
    api::ResourceRequirements given;
    given.requests["cpu"] = Quantity{"20m"};
    given.limits["memory"] = Quantity{"90M"};
    made.seen.config.support_resources = {
        {"hotplug-disk", given}
    };
    const api::ResourceRequirements got = attachment_pod(made.input(), made.both()).spec.containers.front().resources;
    const std::map<std::string, Quantity> requests = {
        {"cpu",    Quantity{"20m"}},
        {"memory", Quantity{"2M"} }
    };
    const std::map<std::string, Quantity> limits = {
        {"cpu",    Quantity{"100m"}},
        {"memory", Quantity{"90M"} }
    };
    EXPECT_EQ(got.requests, requests);
    EXPECT_EQ(got.limits, limits);
}

// hotplug/R-22: a volume called like a directory of the image.
TEST(AttachmentPod, R22_NamesOfDirectories) {
    const Made made;
    for (const char* name : {"path", "usr", "bin", "etc", "dev", "proc"}) {
        const api::Pod pod = attachment_pod(
            made.input(),
            {
                {name, &made.claims[0]}
        }
        );
        EXPECT_EQ(pod.spec.containers.front().volume_mounts.back().mount_path, std::string("/hotplug/") + name);
    }
}

TEST(TriggerPod, H29_Fields) {
    Made made;
    made.seen.launcher.spec.tolerations = {
        {.key = "example.com/gpu", .op = "Exists"}
    };
    const api::Pod pod = trigger_pod(made.input(), made.both()[0]);
    EXPECT_EQ(*pod.metadata.annotation("kubevirt.io/ephemeral-provisioning"), "true");
    EXPECT_EQ(*pod.metadata.annotation("kubevirt.io/owner-vmi-uid"), "vmi-1");
    EXPECT_EQ(pod.spec.tolerations, made.seen.launcher.spec.tolerations);
    ASSERT_TRUE(pod.spec.affinity->pod_affinity.has_value());
    EXPECT_FALSE(pod.spec.affinity->node_affinity.has_value());
    const api::PodAffinityTerm& term = pod.spec.affinity->pod_affinity->required.front();
    EXPECT_EQ(term.label_selector->match_labels, made.seen.launcher.metadata.labels);
    EXPECT_EQ(term.topology_key, "kubernetes.io/hostname");
    const api::Container& container = pod.spec.containers.front();
    EXPECT_EQ(container.command, (std::vector<std::string>{"/bin/bash", "-c", "exit", "0"}));
    EXPECT_EQ(container.volume_mounts.back().mount_path, "/pvc");
    EXPECT_EQ(pod.spec.restart_policy, "");
    const api::Pod block = trigger_pod(made.input(), made.both()[1]);
    EXPECT_EQ(block.spec.containers.front().volume_devices.front().device_path, "/dev/hotplugblockdevice");
    EXPECT_EQ(json::integer_at(block.spec.security_context, "/runAsUser"), 0);
}

TEST(HotplugNames, R34_AFunctionOfWhatThePodIs) {
    const Made made;
    const Uid launcher{"launcher-1"};
    const std::string name = pod_name(launcher, Purpose::attach, made.both(), {});
    EXPECT_EQ(pod_name(launcher, Purpose::attach, {made.both()[1], made.both()[0]}, {}), name) << "in any order";
    EXPECT_NE(pod_name(Uid{"launcher-2"}, Purpose::attach, made.both(), {}), name);
    EXPECT_NE(pod_name(launcher, Purpose::attach, {made.both()[0]}, {}), name);
    EXPECT_NE(pod_name(launcher, Purpose::trigger, made.both(), {}), name);
    const std::string second = pod_name(launcher, Purpose::attach, made.both(), {name});
    EXPECT_NE(second, name) << "a namesake that goes is not in the way";
    EXPECT_EQ(pod_name(launcher, Purpose::attach, made.both(), {second}), name);
    EXPECT_LE(
        pod_name(
            launcher,
            Purpose::attach,
            {
                {std::string(63, 'v'), &made.claims[0]}
    },
            {}
        )
            .size(),
        63U
    );
}

}  // namespace
}  // namespace berth::hotplug
