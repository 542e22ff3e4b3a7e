#include "placement/pod/render.hpp"

#include <gtest/gtest.h>

#include "base/ranges.hpp"
#include "placement/pod/resources.hpp"
#include "placement/testing/seen_vmi.hpp"

namespace berth::placement {
namespace {

using namespace testing;

api::Pod rendered(const SeenVmi& what, Role role) {
    std::vector<const api::PersistentVolumeClaim*> claims;
    for (const api::PersistentVolumeClaim& one : what.claims) claims.push_back(&one);
    const RenderInput input{
        .vmi = what.vmi, .claims = claims, .backend = what.backend ? &*what.backend : nullptr, .config = what.config
    };
    Result<api::Pod> pod = render(input, role);
    EXPECT_TRUE(pod.has_value()) << (pod ? "" : pod.error().message);
    return pod ? *pod : api::Pod{};
}

const api::Container& compute(const api::Pod& pod) { return pod.spec.containers.front(); }

std::string mount_path(const api::Pod& pod, std::string_view volume) {
    const auto& mounts = compute(pod).volume_mounts;
    const auto it = std::ranges::find(mounts, volume, &api::VolumeMount::name);
    return it == mounts.end() ? "" : it->mount_path;
}

// A machine that uses what the contract names: claims of both modes, a container disk, probes, affinity, devices.
SeenVmi rich() {
    SeenVmi what = seen().disk("root", "WaitForFirstConsumer").bare_claim("raw").plugged_claim("later");
    what.claims[1].spec.volume_mode = "Block";
    api::VmVolume image{.name = "cd"};
    image.container_disk = api::ContainerDiskSource{.image = "berth.local/guest", .image_pull_secret = "login"};
    what.vmi.spec.volumes.push_back(image);
    what.vmi.metadata.labels = {
        {"app", "db"}
    };
    what.vmi.metadata.annotations["note"] = "kept";
    what.vmi.metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"] = "{}";
    what.vmi.spec.node_selector = {
        {"zone", "a"}
    };
    what.vmi.spec.tolerations = {
        {.key = "only-vms", .op = "Exists"}
    };
    what.vmi.spec.priority_class_name = "high";
    what.vmi.spec.scheduler_name = "own";
    what.vmi.spec.topology_spread_constraints = {
        {.topology_key = "zone", .when_unsatisfiable = "DoNotSchedule"}
    };
    what.vmi.spec.readiness_probe = json::Object{
        {"tcpSocket",           json::Object{{"port", 22}}},
        {"initialDelaySeconds", 5                         }
    };
    what.vmi.spec.domain.devices.interfaces = json::Array{json::Object{{"name", "default"}}};
    what.config = Config{};
    return what;
}

TEST(Render, P03_WhatTheTwoPodsRun) {
    const api::Pod temp = rendered(seen().disk("root", "WaitForFirstConsumer"), Role::temp);
    EXPECT_EQ(temp.metadata.annotations.at("kubevirt.io/ephemeral-provisioning"), "true");
    EXPECT_EQ(compute(temp).command, (std::vector<std::string>{"/bin/bash"}));
    EXPECT_EQ(compute(temp).args, (std::vector<std::string>{"-c", "echo", "bound PVCs"}));
    ASSERT_NE(temp.metadata.controller(), nullptr);
    EXPECT_EQ(temp.metadata.controller()->kind, "VirtualMachineInstance");
    EXPECT_EQ(temp.metadata.controller()->uid, Uid{"vmi-1"});
    EXPECT_TRUE(temp.metadata.controller()->block_owner_deletion);
    EXPECT_EQ(temp.spec.node_name, "") << "R-61: the scheduler chooses";
    const api::Pod real = rendered(seen().disk("root", "Succeeded"), Role::real);
    EXPECT_FALSE(real.metadata.annotations.contains("kubevirt.io/ephemeral-provisioning"));
    EXPECT_EQ(compute(real).command, (std::vector<std::string>{"/usr/bin/virt-launcher-monitor"}));
    EXPECT_EQ(real.spec.node_name, "");
}

// Section 3.6: whatever the scheduler, quota and admission look at is the same.
TEST(Render, P04_ThePodsDifferOnlyInWhatTheyRun) {
    const SeenVmi what = rich();
    api::Pod temp = rendered(what, Role::temp);
    api::Pod real = rendered(what, Role::real);
    EXPECT_NE(temp.metadata.name, real.metadata.name);
    temp.metadata.name = real.metadata.name;
    temp.metadata.annotations.erase(kTempPod);
    temp.spec.containers[0].command = real.spec.containers[0].command;
    temp.spec.containers[0].args = real.spec.containers[0].args;
    EXPECT_EQ(api::patch_between(temp, real), std::nullopt);
}

TEST(Render, P76_Resources) {
    SeenVmi what = seen();
    what.vmi.spec.domain.memory->guest = Quantity{"1Gi"};
    for (const Role role : {Role::temp, Role::real}) {
        const api::Pod pod = rendered(what, role);
        const auto& requests = compute(pod).resources.requests;
        EXPECT_EQ(bytes_or_zero(requests.at("memory")), 1_GiB + 288_MiB);
        EXPECT_EQ(requests.at("cpu").written, "100m");
        EXPECT_EQ(requests.at("ephemeral-storage").written, "50M");
        EXPECT_EQ(pod.spec.termination_grace_period_seconds, 60) << "L-05";
        EXPECT_EQ(pod.metadata.annotations.at(kMemoryOverhead), std::to_string((288_MiB).value));
    }
}

TEST(Resources, L32_Overhead) {
    Config config = solo_config();
    api::VmiSpec spec = machine().spec;
    EXPECT_EQ(memory_overhead(spec, config), 288_MiB);
    spec.domain.cpu->cores = 4;
    EXPECT_EQ(memory_overhead(spec, config), 312_MiB) << "8Mi a vCPU";
    spec.domain.devices.autoattach_graphics_device = false;
    EXPECT_EQ(memory_overhead(spec, config), 280_MiB);
    spec.domain.resources.emplace().requests["memory"] = Quantity{"512Mi"};
    EXPECT_EQ(memory_overhead(spec, config), 280_MiB + Bytes{(536'870'912 + 999) / 1000 * 1000 / 512}) << "page tables";
    spec.liveness_probe = json::Object{
        {"exec", json::Object()}
    };
    spec.readiness_probe = json::Object{
        {"exec", json::Object()}
    };
    EXPECT_EQ(memory_overhead(spec, config), 400_MiB + Bytes{(536'870'912 + 999) / 1000 * 1000 / 512});
    spec = machine().spec;
    spec.architecture = "arm64";
    EXPECT_EQ(memory_overhead(spec, config), 416_MiB);
    spec = machine().spec;
    spec.domain.cpu->dedicated_cpu_placement = true;
    EXPECT_EQ(memory_overhead(spec, config), 388_MiB);
    spec = machine().spec;
    config.overhead_ratio_milli = 1500;
    EXPECT_EQ(memory_overhead(spec, config), 288_MiB + Bytes{(301'990 * 500 / 1000) * 1000})
        << "half of the kilobytes again";
}

TEST(Resources, L30_L31_RequestsAndLimits) {
    const Config config = solo_config();
    api::VmiSpec spec = machine().spec;
    spec.domain.cpu->sockets = 2;
    EXPECT_EQ(compute_resources(spec, config).requests.at("cpu").written, "200m");
    spec.domain.resources.emplace().requests = {
        {"cpu",    Quantity{"1500m"}},
        {"memory", Quantity{"128Mi"}}
    };
    spec.domain.resources->limits = {
        {"cpu",    Quantity{"2"}    },
        {"memory", Quantity{"512Mi"}}
    };
    api::ResourceRequirements got = compute_resources(spec, config);
    const Bytes overhead = memory_overhead(spec, config);
    EXPECT_EQ(got.requests.at("cpu").written, "1500m");
    EXPECT_EQ(got.limits.at("cpu").written, "2");
    EXPECT_EQ(bytes_or_zero(got.requests.at("memory")), 128_MiB + overhead);
    EXPECT_EQ(bytes_or_zero(got.limits.at("memory")), 512_MiB + overhead);
    spec.domain.resources->overcommit_guest_overhead = true;
    EXPECT_EQ(bytes_or_zero(compute_resources(spec, config).requests.at("memory")), 128_MiB);

    spec = machine().spec;
    spec.domain.cpu->dedicated_cpu_placement = true;
    spec.domain.cpu->isolate_emulator_thread = true;
    got = compute_resources(spec, config);
    EXPECT_EQ(got.requests.at("cpu").written, "2");
    EXPECT_EQ(got.limits.at("cpu"), got.requests.at("cpu"));
    EXPECT_EQ(got.limits.at("memory"), got.requests.at("memory"));

    spec = machine().spec;
    spec.domain.memory->hugepages = json::Object{
        {"pageSize", "2Mi"}
    };
    got = compute_resources(spec, config);
    EXPECT_EQ(got.requests.at("hugepages-2Mi").written, "256Mi");
    EXPECT_EQ(bytes_or_zero(got.requests.at("memory")), memory_overhead(spec, config));

    Config dense = solo_config();
    dense.memory_overcommit = 200;
    EXPECT_EQ(bytes_or_zero(compute_resources(machine().spec, dense).requests.at("memory")), 128_MiB + 288_MiB);
}

TEST(Resources, L34_Devices) {
    api::VmiSpec spec = machine().spec;
    spec.domain.devices.interfaces = json::Array{json::Object{{"name", "default"}}};
    const auto limits = [&](const Config& config) { return compute_resources(spec, config).limits; };
    Config config;
    EXPECT_TRUE(limits(config).contains("devices.kubevirt.io/kvm"));
    EXPECT_TRUE(limits(config).contains("devices.kubevirt.io/tun"));
    EXPECT_TRUE(limits(config).contains("devices.kubevirt.io/vhost-net"));
    config.use_emulation = true;
    EXPECT_FALSE(limits(config).contains("devices.kubevirt.io/kvm"));
    spec.domain.devices.interfaces = json::Array{
        json::Object{{"name", "default"}, {"model", "e1000"}}
    };
    EXPECT_FALSE(limits(config).contains("devices.kubevirt.io/vhost-net"));
    EXPECT_TRUE(limits(solo_config()).empty()) << "nodes without device plugins";
}

TEST(Render, L04_MetadataOfBothPods) {
    const api::Pod pod = rendered(rich(), Role::real);
    EXPECT_EQ(
        pod.metadata.labels,
        (std::map<std::string, std::string>{
            {"app",                    "db"           },
            {"kubevirt.io",            "virt-launcher"},
            {"kubevirt.io/created-by", "vmi-1"        },
            {"vm.kubevirt.io/name",    "web"          },
            {"vmi.kubevirt.io/id",     "web"          },
    })
    );
    EXPECT_EQ(pod.metadata.annotations.at("kubevirt.io/domain"), "web");
    EXPECT_EQ(pod.metadata.annotations.at("kubevirt.io/migrationTransportUnix"), "true");
    EXPECT_EQ(pod.metadata.annotations.at("kubectl.kubernetes.io/default-container"), "compute");
    EXPECT_EQ(pod.metadata.annotations.at("note"), "kept");
    EXPECT_FALSE(pod.metadata.annotations.contains("kubectl.kubernetes.io/last-applied-configuration"));
    EXPECT_FALSE(pod.metadata.annotations.contains(kLatestApiVersion));
}

TEST(Render, L05_L11_PodFields) {
    SeenVmi what = rich();
    what.vmi.spec.termination_grace_period_seconds = 5;
    const api::PodSpec spec = rendered(what, Role::real).spec;
    EXPECT_EQ(spec.termination_grace_period_seconds, 35);
    EXPECT_EQ(spec.restart_policy, "Never");
    EXPECT_EQ(spec.hostname, "web");
    EXPECT_EQ(spec.scheduler_name, "own");
    EXPECT_EQ(spec.priority_class_name, "high");
    EXPECT_EQ(spec.enable_service_links, false);
    EXPECT_EQ(spec.automount_service_account_token, false);
    EXPECT_EQ(json::print(spec.readiness_gates), R"([{"conditionType":"kubevirt.io/virtual-machine-unpaused"}])");
    EXPECT_EQ(json::print(spec.image_pull_secrets), R"([{"name":"login"}])");
    EXPECT_EQ(
        json::print(spec.security_context), R"({"fsGroup":107,"runAsUser":107,"runAsGroup":107,"runAsNonRoot":true})"
    );
    what.config.runs_as_root = true;
    EXPECT_EQ(json::print(rendered(what, Role::real).spec.security_context), R"({"fsGroup":107,"runAsUser":0})");
}

TEST(Render, L12_NodeSelector) {
    SeenVmi what = rich();
    what.config.node_selectors = {
        {"pool", "vms"}
    };
    EXPECT_EQ(
        rendered(what, Role::temp).spec.node_selector,
        (std::map<std::string, std::string>{
            {"kubevirt.io/schedulable",           "true" },
            {"kubernetes.io/arch",                "amd64"},
            {"pool",                              "vms"  },
            {"zone",                              "a"    },
            {"machine-type.node.kubevirt.io/q35", "true" },
    })
    );
    what.vmi.spec.domain.cpu->model = "Haswell";
    what.vmi.spec.domain.cpu->features = json::Array{
        json::Object{{"name", "avx"}},
        json::Object{{"name", "x"}, {"policy", "optional"}}
    };
    what.vmi.spec.domain.machine = api::Machine{"pc"};
    what.dedicated();
    const auto selector = rendered(what, Role::temp).spec.node_selector;
    EXPECT_EQ(selector.at("cpu-model.node.kubevirt.io/Haswell"), "true");
    EXPECT_EQ(selector.at("cpu-feature.node.kubevirt.io/avx"), "true");
    EXPECT_FALSE(selector.contains("cpu-feature.node.kubevirt.io/x"));
    EXPECT_EQ(selector.at("machine-type.node.kubevirt.io/pc"), "true");
    EXPECT_EQ(selector.at("cpumanager"), "true");
}

TEST(Render, L13_HostModelGoesIntoEveryTerm) {
    SeenVmi what = seen();
    const api::SelectorRequirement fresh{.key = "node-labeller.kubevirt.io/obsolete-host-model", .op = "DoesNotExist"};
    api::Pod pod = rendered(what, Role::real);
    ASSERT_EQ(pod.spec.affinity->node_affinity->required->node_selector_terms.size(), 1u);
    what.vmi.spec.affinity.emplace().node_affinity.emplace().required.emplace().node_selector_terms.resize(2);
    pod = rendered(what, Role::real);
    for (const api::NodeSelectorTerm& term : pod.spec.affinity->node_affinity->required->node_selector_terms) {
        EXPECT_TRUE(contains(term.match_expressions, fresh));
    }
    what.vmi.spec.affinity.reset();
    what.vmi.spec.domain.cpu->model = "host-passthrough";
    EXPECT_FALSE(rendered(what, Role::real).spec.affinity.has_value());
}

TEST(Render, L20_LauncherArguments) {
    SeenVmi what = seen();
    what.config.use_emulation = true;
    const std::vector<std::string> args = compute(rendered(what, Role::real)).args;
    ASSERT_EQ(args.size(), 26u);
    EXPECT_EQ(args[0], "--qemu-timeout");
    const int timeout = std::stoi(args[1]);
    EXPECT_TRUE(timeout >= 240 && timeout < 360) << args[1];
    EXPECT_EQ(
        (std::vector(args.begin() + 2, args.begin() + 8)),
        (std::vector<std::string>{"--name", "web", "--uid", "vmi-1", "--namespace", "default"})
    );
    EXPECT_EQ(args[14], "--grace-period-seconds");
    EXPECT_EQ(args[15], "45");
    EXPECT_EQ(args[24], "--run-as-nonroot");
    EXPECT_EQ(args[25], "--allow-emulation");
    EXPECT_FALSE(contains(compute(rendered(what, Role::temp)).args, std::string("--allow-emulation")))
        << "not for the temp pod";
}

TEST(Render, L22_ProbesStartLater) {
    const api::Container container = compute(rendered(rich(), Role::temp));
    EXPECT_EQ(json::integer_at(container.readiness_probe, "/initialDelaySeconds"), 15);
    EXPECT_TRUE(container.liveness_probe.is_null());
}

TEST(Render, L23_HelpersAreTheSameInBoth) {
    const api::Pod pod = rendered(rich(), Role::real);
    ASSERT_EQ(pod.spec.containers.size(), 2u);
    const api::Container& helper = pod.spec.containers[1];
    EXPECT_EQ(helper.name, "volumecd");
    EXPECT_EQ(helper.image, "berth.local/guest");
    EXPECT_EQ(helper.command, (std::vector<std::string>{"/usr/bin/container-disk"}));
    EXPECT_TRUE(contains(helper.args, std::string("/var/run/kubevirt/container-disks/cd.img")));
    EXPECT_TRUE(pod.spec.init_containers.empty());
    SeenVmi logged = seen();
    logged.vmi.spec.domain.devices.log_serial_console = true;
    const api::Pod with_log = rendered(logged, Role::real);
    ASSERT_EQ(with_log.spec.init_containers.size(), 1u);
    EXPECT_EQ(with_log.spec.init_containers[0].name, "guest-console-log");
    EXPECT_EQ(with_log.spec.init_containers[0].restart_policy, "Always");
}

TEST(Render, P68_L25_L27_L29_Volumes) {
    const api::Pod pod = rendered(rich(), Role::temp);
    std::vector<std::string> names;
    for (const api::PodVolume& volume : pod.spec.volumes) names.push_back(volume.name);
    EXPECT_EQ(
        names,
        (std::vector<std::string>{
            "private",
            "public",
            "sockets",
            "virt-bin-share-dir",
            "libvirt-runtime",
            "ephemeral-disks",
            "container-disks",
            "hotplug-disks",
            "root",
            "raw",
        })
    ) << "plugged volumes are not there";
    EXPECT_EQ(mount_path(pod, "root"), "/var/run/kubevirt-private/vmi-disks/root");
    ASSERT_EQ(compute(pod).volume_devices.size(), 1u);
    EXPECT_EQ(compute(pod).volume_devices[0].device_path, "/dev/raw");
    EXPECT_EQ(mount_path(pod, "hotplug-disks"), "/var/run/kubevirt/hotplug-disks");
}

TEST(Render, L28_StateClaimIsMounted) {
    SeenVmi what = seen();
    what.backend = claim("state", "Bound");
    const api::Pod pod = rendered(what, Role::temp);
    EXPECT_EQ(pod.spec.volumes.back().name, "vm-state");
    EXPECT_EQ(pod.spec.volumes.back().persistent_volume_claim->claim_name, "state");
}

TEST(Render, R08_AMissingClaimIsAnError) {
    const SeenVmi what = seen().missing_claim("c");
    const std::vector<const api::PersistentVolumeClaim*> none;
    const Result<api::Pod> pod = render({.vmi = what.vmi, .claims = none, .config = what.config}, Role::real);
    ASSERT_FALSE(pod.has_value());
    EXPECT_EQ(pod.error(), (Error{ErrorKind::not_found, "didn't find PVC c"}));
}

TEST(Names, LongNamesAreCut) {
    EXPECT_EQ(vmi_id("web"), "web");
    const std::string long_name(80, 'x');
    EXPECT_EQ(vmi_id(long_name).size(), 63u);
    EXPECT_TRUE(vmi_id(long_name).starts_with(std::string(54, 'x') + "-"));
    api::VirtualMachineInstance vmi = machine();
    vmi.metadata.name = std::string(253, 'x');
    EXPECT_EQ(pod_name(vmi, "real", {}).size(), 253u);
    EXPECT_EQ(hostname_of(vmi).size(), 63u);
    vmi.metadata.name = "web.example.com";
    EXPECT_EQ(hostname_of(vmi), "web");
    const std::string uuid = uuid_from("x");
    EXPECT_EQ(uuid.size(), 36u);
    EXPECT_EQ(uuid[14], '5');
}

}  // namespace
}  // namespace berth::placement
