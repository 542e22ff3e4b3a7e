// Roles are killed in the middle of plugging and unplugging: in the end the machine has what was asked of it last.
#include <random>

#include "hotplug_attach_world.hpp"

namespace berth::sim {
namespace {

// A world of its own for each round of a sweep.
class Round : public AttachWorld {
public:
    using AttachWorld::add;
    using AttachWorld::attachment_pods;
    using AttachWorld::drop;
    using AttachWorld::has_no_trace_of;
    using AttachWorld::make_claim;
    using AttachWorld::phase;
    using AttachWorld::run_machine;
    using AttachWorld::world;
    void TestBody() override {}

    /// Kills a role at the n-th change after now, and starts it a moment later. False: there were fewer.
    bool kill_at(const std::string& role, std::size_t n, const std::function<bool()>& done) {
        const std::size_t from = world.history().size();
        world.until([&] { return world.history().size() >= from + n || done(); }, 60s);
        if (done()) return false;
        world.kill(role);
        world.run_for(300ms);
        world.start(role);
        return true;
    }
    std::string not_plugged(const std::string& volume) {
        if (phase(volume) != "Ready") return volume + " is " + phase(volume) + ": " + entry(volume, "/message");
        if (in_place()[volume] != volume) return volume + " is not in the launcher's folder";
        if (!is_in_guest(volume)) return volume + " is not in the guest";
        const auto pods = attachment_pods();
        const bool has_pod =
            std::ranges::any_of(pods, [&](const auto& pod) { return runs(*pod) && mentions(*pod, volume); });
        return has_pod ? "" : volume + " has no pod";
    }
    void expect_plugged(const std::string& volume) {
        EXPECT_TRUE(world.until([&] { return not_plugged(volume).empty(); }, 2min)) << not_plugged(volume);
    }
    void expect_gone(const std::string& volume) {
        EXPECT_TRUE(world.until([&] { return has_no_trace_of(volume).empty(); }, 2min)) << has_no_trace_of(volume);
    }
};

class HotplugCrashes : public ::testing::TestWithParam<const char*> {};

TEST_P(HotplugCrashes, KilledWhileAVolumeComes) {
    bool was_killed = true;
    for (std::size_t at = 1; was_killed; at += 2) {
        SCOPED_TRACE(at);
        Round round;
        round.run_machine();
        round.make_claim("data");
        round.add("data");
        was_killed = round.kill_at(GetParam(), at, [&] { return round.phase("data") == "Ready"; });
        round.expect_plugged("data");
        round.drop("data");
        round.expect_gone("data");
        if (HasFailure()) return;
    }
}

TEST_P(HotplugCrashes, KilledWhileAVolumeLeavesAnotherAlone) {
    bool was_killed = true;
    for (std::size_t at = 1; was_killed; at += 2) {
        SCOPED_TRACE(at);
        Round round;
        round.run_machine();
        for (const char* name : {"data", "other"}) round.make_claim(name);
        for (const char* name : {"data", "other"}) round.add(name);
        round.expect_plugged("data");
        round.expect_plugged("other");
        round.drop("data");
        was_killed = round.kill_at(GetParam(), at, [&] { return round.has_no_trace_of("data").empty(); });
        round.expect_gone("data");
        round.expect_plugged("other");
        if (HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Roles, HotplugCrashes, ::testing::Values("controllers", "n1", "cluster"));

// Whatever is asked in whatever order, and whoever dies meanwhile: what counts is what was asked last.
TEST(HotplugSoak, WhatWasAskedLast) {
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 dice(seed);
        Round round;
        round.run_machine();
        const std::vector<std::string> names = {"a", "b", "c", "d"};
        for (const std::string& name : names) round.make_claim(name);
        std::set<std::string> asked;
        for (int step = 0; step < 60; ++step) {
            const std::string& name = names[dice() % names.size()];
            const auto pods = round.attachment_pods();
            switch (dice() % 8) {
                case 0:
                    round.world.kill("controllers");
                    round.world.run_for(std::chrono::milliseconds(dice() % 300));
                    round.world.start("controllers");
                    break;
                case 1:
                    round.world.kill("n1");
                    round.world.run_for(std::chrono::milliseconds(dice() % 300));
                    round.world.start("n1");
                    break;
                case 2:
                    if (pods.empty()) break;
                    EXPECT_TRUE(round.world.remove(
                        api::kPod, std::string(json::text_at(*pods.front(), "/metadata/name")), {.grace_seconds = 0}
                    ));
                    break;
                default:
                    if (asked.contains(name)) {
                        asked.erase(name);
                        round.drop(name);
                    } else {
                        asked.insert(name);
                        round.add(name);
                    }
            }
            round.world.run_for(std::chrono::milliseconds(dice() % 400));
        }
        for (const std::string& name : names) {
            if (asked.contains(name)) {
                round.expect_plugged(name);
            } else {
                round.expect_gone(name);
            }
        }
        EXPECT_TRUE(round.world.until([&] { return round.attachment_pods().size() == (asked.empty() ? 0U : 1U); }, 3min)
        );
        if (::testing::Test::HasFailure()) return;
    }
}

}  // namespace
}  // namespace berth::sim
