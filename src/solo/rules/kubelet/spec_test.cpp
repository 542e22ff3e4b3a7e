// What the runtime is asked to start: words, environment, identity, mounts and devices.
#include "solo/rules/kubelet/fixture.hpp"

namespace berth::solo::kubelet {
namespace {

using namespace testing;

TEST(KubeletSpec, EnvironmentAndWords) {
    Seen seen(never());
    api::Secret secret;
    secret.metadata.name = "se";
    secret.data = {
        {"key", "c2VjcmV0"}
    };
    seen.view.secrets["se"] = secret;
    seen.view.pod->metadata.annotations = {
        {"a/b", "note"}
    };
    api::Container& c = seen.view.pod->spec.containers[0];
    c.command = {"/bin/$(NAME)", "$$(NAME)", "$(NONE)", "100$"};
    c.args = {"$(TOKEN)"};
    const auto from = [](const char* text) { return json::parse(text).value(); };
    c.env = {
        {"NAME",  "",              from(R"({"fieldRef":{"fieldPath":"metadata.name"}})")                  },
        {"NOTE",  "",              from(R"({"fieldRef":{"fieldPath":"metadata.annotations['a/b']"}})")    },
        {"IP",    "",              from(R"({"fieldRef":{"fieldPath":"status.podIP"}})")                   },
        {"NODE",  "",              from(R"({"fieldRef":{"fieldPath":"spec.nodeName"}})")                  },
        {"TOKEN", "",              from(R"({"secretKeyRef":{"name":"se","key":"key"}})")                  },
        {"MAYBE", "",              from(R"({"configMapKeyRef":{"name":"no","key":"no","optional":true}})")},
        {"URL",   "http://$(IP)/", {}                                                                     },
    };
    const ContainerSpec spec = container_spec(seen.view, c, 2).value();
    using Env = std::vector<std::pair<std::string, std::string>>;
    EXPECT_EQ(
        spec.env,
        (Env{
            {"NAME",  "tp"              },
            {"NOTE",  "note"            },
            {"IP",    "10.0.0.1"        },
            {"NODE",  "n1"              },
            {"TOKEN", "secret"          },
            {"URL",   "http://10.0.0.1/"}
    })
    );
    EXPECT_EQ(spec.argv, (std::vector<std::string>{"/bin/tp", "$(NAME)", "$(NONE)", "100$", "secret"}));
    EXPECT_EQ(spec.attempt, 2);
    EXPECT_EQ(spec.hostname, "tp");
    c.env = {
        {"TOKEN", "", from(R"({"secretKeyRef":{"name":"se","key":"other"}})")}
    };
    EXPECT_EQ(container_spec(seen.view, c, 0).error().message, "env TOKEN: there is no key \"other\" in secret \"se\"");
    seen.view.secrets.clear();
    EXPECT_EQ(
        container_spec(seen.view, c, 0).error().message,
        "secret \"se\" not found: create it, with the key \"other\" for env TOKEN"
    );
}

TEST(KubeletSpec, L11_L21_Identity) {
    Seen seen(never());
    seen.view.pod->spec.security_context = json::parse(R"({"fsGroup":107,"runAsUser":107,"runAsGroup":107})").value();
    api::Container& c = seen.view.pod->spec.containers[0];
    c.security_context = json::parse(R"({"capabilities":{"drop":["ALL"],"add":["NET_BIND_SERVICE"]}})").value();
    c.resources.limits = {
        {"memory",                  {"1Gi"}},
        {"cpu",                     {"2"}  },
        {"devices.kubevirt.io/kvm", {"1"}  }
    };
    c.resources.requests = {
        {"cpu", {"100m"}}
    };
    ContainerSpec spec = container_spec(seen.view, c, 0).value();
    EXPECT_EQ(spec.uid, 107);
    EXPECT_EQ(spec.gid, 107);
    EXPECT_EQ(spec.fs_group, 107);
    EXPECT_EQ(spec.capabilities, (std::vector<std::string>{"NET_BIND_SERVICE"}));
    EXPECT_EQ(spec.memory_limit, 1_GiB);
    EXPECT_EQ(spec.cpu_limit, MilliCpu{2000});
    EXPECT_EQ(spec.cpu_request, MilliCpu{100});
    ASSERT_EQ(spec.devices.size(), 1U);
    EXPECT_EQ(spec.devices[0].host_path, "/dev/kvm") << "L-34";
    EXPECT_FALSE(spec.privileged);
    c.security_context = json::parse(R"({"runAsUser":0,"capabilities":{"drop":["CAP_CHOWN"]}})").value();
    spec = container_spec(seen.view, c, 0).value();
    EXPECT_EQ(spec.uid, 0);
    EXPECT_TRUE(std::ranges::find(spec.capabilities, "SETUID") != spec.capabilities.end());
    EXPECT_TRUE(std::ranges::find(spec.capabilities, "CHOWN") == spec.capabilities.end());
}

TEST(KubeletSpec, L27_MountsAndDevices) {
    Seen seen(with_claim(with_claim(never(), "fs"), "block"));
    seen.view.pod->spec.volumes[1].persistent_volume_claim->read_only = true;
    api::Container& c = seen.view.pod->spec.containers[0];
    c.volume_mounts = {
        {.name = "fs", .mount_path = "/var/run/kubevirt-private/vmi-disks/fs", .sub_path = "x"}
    };
    c.volume_devices = {
        {"block", "/dev/block"}
    };
    EXPECT_EQ(container_spec(seen.view, c, 0).error().message, "volume \"fs\" is not prepared");
    seen.view.prepared = {
        {"fs",    "/d/fs"       },
        {"block", "/d/block.dev"}
    };
    const ContainerSpec spec = container_spec(seen.view, c, 0).value();
    EXPECT_EQ(
        spec.mounts[0].host_path + " " + spec.mounts[0].container_path + " " + spec.mounts[0].sub_path,
        "/d/fs /var/run/kubevirt-private/vmi-disks/fs x"
    );
    EXPECT_FALSE(spec.mounts[0].read_only);
    EXPECT_EQ(spec.devices[0].host_path + " " + spec.devices[0].container_path, "/d/block.dev /dev/block") << "P-68";
    EXPECT_TRUE(spec.devices[0].read_only);
}

}  // namespace
}  // namespace berth::solo::kubelet
