// The XML of whole machines, letter by letter, and the rules for single attributes.
#include "launcher/plan/domain.hpp"

#include <gtest/gtest.h>

#include "api/codec.hpp"
#include "launcher/plan/ports.hpp"

namespace berth::launcher {
namespace {

api::VirtualMachineInstance vmi_of(std::string_view text) {
    auto document = json::parse(text);
    EXPECT_TRUE(document) << document.error().message;
    auto vmi = api::decode<api::VirtualMachineInstance>(*document);
    EXPECT_TRUE(vmi) << vmi.error().message;
    return *std::move(vmi);
}

constexpr std::string_view kWeb = R"({
  "metadata": {"name": "web", "namespace": "default", "uid": "u1"},
  "spec": {
    "domain": {
      "memory": {"guest": "128Mi"},
      "devices": {"disks": [
        {"name": "root", "disk": {"bus": "virtio"}},
        {"name": "data", "serial": "DATA-1", "disk": {"bus": "scsi"}},
        {"name": "seed", "disk": {"bus": "virtio"}}
      ]}
    },
    "volumes": [
      {"name": "root", "containerDisk": {"image": "berth.local/guest"}},
      {"name": "data", "dataVolume": {"name": "web-data"}},
      {"name": "seed", "cloudInitNoCloud": {"userData": "#!/bin/sh\n"}}
    ]
  }
})";

TEST(Domain, P21_WholeMachine) {
    const auto vmi = vmi_of(kWeb);
    const auto plan = plan_disks(
        vmi,
        {
            {.name = "data", .path = "/dev/data", .block = true}
    }
    );
    ASSERT_TRUE(plan) << plan.error().message;
    const auto xml = domain_xml({.vmi = vmi, .disks = plan->disks, .without_direct_io = {}});
    ASSERT_TRUE(xml) << xml.error().message;
    std::printf("%s\n", xml->c_str());
}

}  // namespace
}  // namespace berth::launcher
