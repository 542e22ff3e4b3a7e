#include <gtest/gtest.h>

#include "sim/world.hpp"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;

std::string vm_with_disk(const std::string& name, const std::string& extra_spec = "") {
    return R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":")" + name + R"("},"spec":{"runStrategy":"Always",)" +
           R"("dataVolumeTemplates":[{"metadata":{"name":")" + name + R"(-root"},"spec":{"source":{"http":{"url":"http://images/a.raw"}},)" +
           R"("pvc":{"storageClassName":"local","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}}],)" +
           R"("template":{"spec":{)" + extra_spec + R"("domain":{"memory":{"guest":"256Mi"},"devices":{"disks":[{"name":"root","disk":{"bus":"virtio"}}]}},)" +
           R"("volumes":[{"name":"root","dataVolume":{"name":")" + name + R"(-root"}}]}}}})";
}

bool is_running(World& world, const std::string& name) { return world.text(api::kVirtualMachine, name, "/status/printableStatus") == "Running"; }

TEST(Placement, P01_OneDiskFromYamlToRunning) {
    World world({.echo = std::getenv("ECHO") != nullptr});
    world.machines.sources["http://images/a.raw"];
    ASSERT_TRUE(world.create(vm_with_disk("web")));
    const bool ran = world.until([&] { return is_running(world, "web"); }, 60s);
    for (const std::string& line : world.log.lines()) {
        if (!ran) std::cerr << line << "\n";
    }
    ASSERT_TRUE(ran) << world.text(api::kVirtualMachine, "web", "/status/printableStatus");
}

}  // namespace
}  // namespace berth::sim
