// How fast the store and the API server are, in process. Prints one line a figure.
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include <boost/asio/io_context.hpp>

#include "apiserver/server.hpp"
#include "base/async/system/system.hpp"
#include "kube/api.hpp"

namespace {

using namespace std::chrono_literals;
using berth::Task;
using Time = std::chrono::steady_clock::time_point;

double seconds_since(Time start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct World {
    explicit World(const std::string& file)
        : disk(*berth::store::open_sqlite_log(file)), store(context.get_executor(), pool, *disk) {}

    template <class F>
    void run(F make) {
        berth::TaskGroup group(context.get_executor());
        make(group);
        context.restart();
        context.run();
    }

    boost::asio::io_context context{1};
    berth::ThreadPool pool{2};
    berth::SystemClock clock;
    berth::SystemEntropy entropy;
    berth::StderrLog log{"bench", berth::LogLevel::error};
    std::unique_ptr<berth::store::Log> disk;
    berth::store::Store store;
};

constexpr const char* kVm =
    R"({"apiVersion":"kubevirt.io/v1","kind":"VirtualMachine","metadata":{"namespace":"default","labels":{"a":"b"}},
"spec":{"runStrategy":"Always","template":{"metadata":{"labels":{"kubevirt.io/vm":"x"}},"spec":{"domain":{"devices":{"disks":[
{"name":"root","disk":{"bus":"virtio"}},{"name":"data","disk":{"bus":"virtio"}},{"name":"cloud","disk":{"bus":"virtio"}}],"interfaces":[{"name":"default","masquerade":{}}]},
"resources":{"requests":{"memory":"1Gi","cpu":"1"}}},"networks":[{"name":"default","pod":{}}],"volumes":[
{"name":"root","dataVolume":{"name":"root-x"}},{"name":"data","persistentVolumeClaim":{"claimName":"data-x"}},{"name":"cloud","cloudInitNoCloud":{"userData":"#cloud-config\nx: y\n"}}]}},
"dataVolumeTemplates":[{"metadata":{"name":"root-x"},"spec":{"source":{"http":{"url":"http://x/y"}},"storage":{"resources":{"requests":{"storage":"10Gi"}}}}}]}})";

constexpr const char* kMap = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default"},"data":{}})";

Task<void> creator(berth::kube::Api& api, berth::json::Value document, std::string prefix, int count) {
    for (int i = 0; i < count; ++i) {
        berth::json::Value one = document;
        berth::json::set(one, "/metadata/name", berth::json::Value(prefix + "-" + std::to_string(i)));
        const auto made = co_await api.create(std::move(one));
        if (!made) std::printf("create failed: %s\n", made.error().message.c_str());
    }
}

Task<void> patcher(berth::kube::Api& api, const berth::api::Kind& kind, std::string prefix, int count) {
    for (int i = 0; i < count; ++i) {
        berth::json::Value patch;
        berth::json::set(patch, "/status/printableStatus", berth::json::Value("S" + std::to_string(i)));
        const berth::api::Key key{&kind, "default", prefix + "-" + std::to_string(i)};
        const auto done = co_await api.patch(key, std::move(patch), "status");
        if (!done) std::printf("patch failed: %s\n", done.error().message.c_str());
    }
}

Task<void> getter(berth::kube::Api& api, const berth::api::Kind& kind, std::string prefix, int count) {
    for (int i = 0; i < count; ++i) {
        const berth::api::Key key{&kind, "default", prefix + "-" + std::to_string(i)};
        const auto got = co_await api.get(key);
        if (!got) std::printf("get failed\n");
    }
}

Task<void> seed(berth::apiserver::Server& server) { co_await server.seed(); }

Task<void> lister(berth::kube::Api& api, const berth::api::Kind& kind) {
    const auto all = co_await api.list(kind, {});
    if (!all) std::printf("list failed\n");
}

Task<void> watcher(berth::kube::Api& api, long count, long& delivered) {
    auto stream = co_await api.watch(berth::api::kConfigMap, {}, {});
    while (stream && count > 0) {
        const auto event = co_await (*stream)->next();
        if (!event) break;
        if (event->type == "BOOKMARK") continue;
        ++delivered;
        --count;
    }
}

long resident_kib() {
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    long size = 0;
    long resident = 0;
    if (std::fscanf(file, "%ld %ld", &size, &resident) != 2) resident = 0;
    std::fclose(file);
    return resident * 4;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string folder = argc > 1 ? argv[1] : "/tmp";
    const std::string file = folder + "/bench.db";
    const bool loads_only = argc > 2;  // apiserver_bench FOLDER load: what an earlier run left there
    if (!loads_only) std::filesystem::remove(file);
    constexpr int kWriters = 64;
    constexpr int kEach = 100;
    if (!loads_only) {
        World world(file);
        if (!world.store.load()) return 1;
        berth::apiserver::Server server(
            world.context.get_executor(), world.store, world.clock, world.entropy, world.log, {}
        );
        berth::kube::InProcess transport(server);
        berth::kube::Api api(transport, {"bench", {}});
        auto start = std::chrono::steady_clock::now();
        world.run([&](auto& group) { group.spawn("seed", seed(server)); });
        std::printf("seed                    %8.1f ms\n", seconds_since(start) * 1e3);
        std::printf("resident after seed     %8ld KiB\n", resident_kib());
        const auto measure = [&](const char* name, auto spawn) {
            const auto begin = std::chrono::steady_clock::now();
            const std::clock_t cpu = std::clock();
            world.run([&](auto& group) {
                for (int w = 0; w < kWriters; ++w) group.spawn("writer", spawn("w" + std::to_string(w)));
            });
            constexpr int kAll = kWriters * kEach;
            const double used = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
            std::printf("%-23s %8.0f /s, %5.0f us of cpu each\n", name, kAll / seconds_since(begin), used / kAll * 1e6);
        };
        berth::json::Value map = *berth::json::parse(kMap);
        berth::json::set(map, "/data/x", berth::json::Value(std::string(1800, 'x')));
        constexpr int kWatchers = 100;
        long delivered = 0;
        const std::clock_t cpu = std::clock();
        start = std::chrono::steady_clock::now();
        const long existing = static_cast<long>(world.store.list("configmaps", "").size());
        world.run([&](auto& group) {
            for (int w = 0; w < kWatchers; ++w)
                group.spawn("watcher", watcher(api, existing + kWriters * kEach, delivered));
            for (int w = 0; w < kWriters; ++w) group.spawn("writer", creator(api, map, "x" + std::to_string(w), kEach));
        });
        std::printf(
            "watch, %d watchers     %8.0f deliveries/s, %5.2f us of cpu each with the creates\n",
            kWatchers,
            static_cast<double>(delivered) / seconds_since(start),
            static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC / static_cast<double>(delivered) * 1e6
        );
        const berth::json::Value vm = *berth::json::parse(kVm);
        measure("create ConfigMap 2 kB", [&](std::string prefix) { return creator(api, map, prefix, kEach); });
        measure("create VM 1.5 kB", [&](std::string prefix) { return creator(api, vm, prefix, kEach); });
        measure("patch VM status", [&](std::string prefix) {
            return patcher(api, berth::api::kVirtualMachine, prefix, kEach);
        });
        measure("get VM", [&](std::string prefix) { return getter(api, berth::api::kVirtualMachine, prefix, kEach); });
        start = std::chrono::steady_clock::now();
        world.run([&](auto& group) { group.spawn("list", lister(api, berth::api::kVirtualMachine)); });
        std::printf("list %d VMs           %8.1f ms\n", kWriters * kEach, seconds_since(start) * 1e3);
        std::printf("resident at end         %8ld KiB, %zu objects\n", resident_kib(), world.store.object_count());
    }
    const auto start = std::chrono::steady_clock::now();
    World again(file);
    if (!again.store.load()) return 1;
    std::printf("load %zu objects     %8.1f ms\n", again.store.object_count(), seconds_since(start) * 1e3);
    std::printf("resident after load     %8ld KiB\n", resident_kib());
    return 0;
}
