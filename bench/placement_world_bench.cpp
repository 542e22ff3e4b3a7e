// What one VM and a hundred cost the whole control plane, with an instant kubelet and instant data: every rule, cache,
// queue and the store are real, machines are simulated. Prints writes and real time.
#include <chrono>
#include <cstdio>

#include "sim/world.hpp"

namespace {

using namespace berth;

std::string vm(const std::string& name) {
    const auto disk = [&](const std::string& suffix, const std::string& source) {
        return R"({"metadata":{"name":")" + name + suffix + R"("},"spec":{"source":)" + source +
               R"(,"pvc":{"storageClassName":"local","accessModes":["ReadWriteOnce"],)" +
               R"("resources":{"requests":{"storage":"1Gi"}}}}})";
    };
    const auto volume = [&](const std::string& suffix) {
        return R"({"name":")" + suffix.substr(1) + R"(","dataVolume":{"name":")" + name + suffix + R"("}})";
    };
    return R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"name":")" + name +
           R"("},"spec":{"runStrategy":"Always","dataVolumeTemplates":[)" +
           disk("-root", R"({"http":{"url":"http://images/a.raw"}})") + "," + disk("-data", R"({"blank":{}})") +
           R"(],"template":{"spec":{"domain":{"memory":{"guest":"64Mi"},"devices":{}},"volumes":[)" + volume("-root") +
           "," + volume("-data") + "]}}}}";
}

int measure(int machines) {
    sim::World world({
        .node_size = {MilliCpu{64000}, 256_GiB, 1024_GiB}
    });  // room for all
    world.machines.sources["http://images/a.raw"];
    world.run_for(std::chrono::seconds(5));
    const std::size_t before = world.history().size();
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < machines; ++i) {
        if (!world.create(vm("m" + std::to_string(i)))) return 1;
    }
    int running = 0;
    const auto all_run = [&] {
        while (running < machines &&
               world.text(api::kVirtualMachine, "m" + std::to_string(running), "/status/printableStatus") == "Running")
            ++running;
        return running == machines;
    };
    if (!world.until(all_run, std::chrono::minutes(30))) {
        std::printf("only %d of %d machines run\n", running, machines);
        return 1;
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::size_t events = 0;
    for (std::size_t i = before; i < world.history().size(); ++i)
        events += *world.history()[i].kind == api::kEvent ? 1U : 0U;
    const std::size_t objects = world.history().size() - before - events;
    std::printf(
        "%3d VM%s with 2 disks: %6.2f s, per VM %.1f object writes and %.1f events (everybody's: scheduler, binder and "
        "kubelet too)\n",
        machines,
        machines == 1 ? " " : "s",
        seconds,
        static_cast<double>(objects) / machines,
        static_cast<double>(events) / machines
    );
    return 0;
}

}  // namespace

int main() { return measure(1) + measure(100); }
