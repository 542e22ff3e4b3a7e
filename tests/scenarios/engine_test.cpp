#include <gtest/gtest.h>

#include "api/core.hpp"

#include "apiserver/server.hpp"
#include "kube/engine.hpp"
#include "sim/core/context.hpp"
#include "store/store.hpp"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;

const kube::User kUser{"system:serviceaccount:test:controller", {"system:authenticated"}};

// A server, and controllers that keep one Secret for each ConfigMap. Two of them race for the same children.
class Toy {
public:
    explicit Toy(std::uint64_t seed)
        : context(seed),
          clock(context),
          entropy(seed),
          log_store(store::memory_log()),
          store(context.executor(), blocking, *log_store),
          server(context.executor(), store, clock, entropy, log, {}),
          transport(server),
          group(context.executor()) {
        EXPECT_TRUE(store.load());
        group.spawn("seed", seed_server());
        context.settle();
        for (int i = 0; i < 2; ++i) add_role();
    }
    ~Toy() {
        group.cancel();
        context.settle();
    }

    Task<void> seed_server() {
        const Result<void> done = co_await server.seed();
        EXPECT_TRUE(done) << done.error().message;
    }

    void add_role() {
        kube::Api server_api(transport, kUser);
        engines.push_back(std::make_unique<kube::Engine>(context.executor(), clock, entropy, log, server_api));
        kube::Engine& engine = *engines.back();
        auto& maps = engine.cache<api::ConfigMap>(api::kConfigMap, {.ns = "default"});
        auto& secrets = engine.cache<api::Secret>(api::kSecret, {.ns = "default"});
        auto plan = [this, &maps, &secrets](const kube::WorkKey& key) {
            ++plans;
            const api::ConfigMap* map = maps.get(key.ns, key.name);
            if (map == nullptr || map->metadata.name.starts_with("kube-")) return api::settled();
            if (secrets.get(key.ns, key.name) != nullptr) return api::settled();
            ++creates;
            json::Array owners;
            owners.push_back(json::Object{
                {"apiVersion", "v1"                   },
                {"kind",       "ConfigMap"            },
                {"name",       key.name               },
                {"uid",        map->metadata.uid.value},
                {"controller", true                   }
            });
            json::Value secret = json::Object{
                {"apiVersion", "v1"                                                                             },
                {"kind",       "Secret"                                                                         },
                {"metadata",
                 json::Object{{"name", key.name}, {"namespace", key.ns}, {"ownerReferences", std::move(owners)}}},
            };
            return api::want(api::Create{std::move(secret)});
        };
        const auto enqueue = engine.add({.name = "toy", .plan = plan});
        maps.listen([enqueue](const api::ObjectMeta*, const api::ObjectMeta* after) {
            if (after != nullptr) enqueue({&api::kConfigMap, after->ns, after->name});
        });
        secrets.listen([enqueue](const api::ObjectMeta* before, const api::ObjectMeta* after) {
            const api::ObjectMeta* meta = after != nullptr ? after : before;
            enqueue({&api::kConfigMap, meta->ns, meta->name});
        });
        group.spawn("engine", engine.run());
    }

    Task<void> create_maps(int count) {
        kube::Api user(transport, {"admin", {"system:masters"}});
        for (int i = 0; i < count; ++i) {
            const Result<kube::Document> made = co_await user.create(json::Object{
                {"apiVersion", "v1"                                                                     },
                {"kind",       "ConfigMap"                                                              },
                {"metadata",   json::Object{{"name", "m" + std::to_string(i)}, {"namespace", "default"}}},
            });
            EXPECT_TRUE(made) << made.error().message;
            if (i % 50 == 0) co_await clock.sleep_for(10ms);
        }
        all_made = true;
    }

    Context context;
    SimClock clock;
    SimEntropy entropy;
    InlineBlocking blocking;
    CapturedLog log;
    std::unique_ptr<store::Log> log_store;
    store::Store store;
    apiserver::Server server;
    kube::InProcess transport;
    std::vector<std::unique_ptr<kube::Engine>> engines;
    int plans = 0;
    int creates = 0;
    bool all_made = false;
    TaskGroup group;  // last
};

struct Outcome {
    std::uint64_t hash = 0;
    std::uint64_t steps = 0;
    std::size_t secrets = 0;
    bool operator==(const Outcome&) const = default;
};

Outcome run(std::uint64_t seed, int maps) {
    Toy toy(seed);
    toy.group.spawn("maps", toy.create_maps(maps));
    const auto secrets = [&] { return toy.store.list("secrets", "default").size(); };
    const auto done = [&] { return toy.all_made && secrets() >= static_cast<std::size_t>(maps); };
    EXPECT_TRUE(toy.context.run_until(done, 1min));
    toy.context.run_for(10s);
    for (const auto& engine : toy.engines) EXPECT_TRUE(engine->is_quiet());
    return {toy.context.trace_hash(), toy.context.steps(), secrets()};
}

TEST(Engine, OneChildForEachParentAndThenQuiet) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) EXPECT_EQ(run(seed, 40).secrets, 40U) << "seed " << seed;
}

// Two roles on one world, 10^5 steps and more, twice: the same run to the last choice.
TEST(Engine, TwoRolesOneSeedOneHash) {
    const Outcome first = run(42, 2150);
    EXPECT_GT(first.steps, 100'000U);
    EXPECT_EQ(first, run(42, 2150));
    EXPECT_NE(run(1, 50).hash, run(2, 50).hash);
}

}  // namespace
}  // namespace berth::sim
