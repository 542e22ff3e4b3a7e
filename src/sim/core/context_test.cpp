#include <gtest/gtest.h>

#include "base/async/task_group.hpp"
#include "sim/core/context.hpp"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;

Task<void> worker(Clock& clock, Channel<int>& in, std::vector<int>& out) {
    for (;;) {
        const std::optional<int> value = co_await in.next();
        if (!value) co_return;
        co_await clock.sleep_for(Duration(*value));
        out.push_back(*value);
    }
}

Task<void> forever(Clock& clock) {
    for (;;) co_await clock.sleep_for(1h);
}

Task<void> close(TaskGroup& group, bool& closed) {
    co_await group.close();
    closed = true;
}

// Many tasks sleeping and handing values on: two runs of a seed must be the same run.
std::uint64_t run(std::uint64_t seed) {
    Context context(seed);
    SimClock clock(context);
    TaskGroup group(context.executor());
    Channel<int> channel(context.executor());
    std::vector<int> out;
    for (int i = 0; i < 20; ++i) group.spawn("worker", worker(clock, channel, out));
    for (int i = 0; i < 5000; ++i) channel.push(static_cast<int>(context.random() % 1000));
    channel.close();
    EXPECT_TRUE(context.run_until([&] { return group.size() == 0; }, 24h));
    EXPECT_EQ(out.size(), 5000U);
    for (const int value : out) context.trace(std::to_string(value));
    return context.trace_hash();
}

TEST(SimContext, OneSeedIsOneRun) {
    EXPECT_EQ(run(7), run(7));
    EXPECT_NE(run(7), run(8));
}

TEST(SimContext, GroupsStopTheirChildren) {
    Context context(1);
    SimClock clock(context);
    TaskGroup group(context.executor());
    TaskGroup closer(context.executor());
    for (int i = 0; i < 3; ++i) group.spawn("forever", forever(clock));
    context.settle();
    EXPECT_EQ(group.size(), 3U);
    bool closed = false;
    closer.spawn("close", close(group, closed));
    context.settle();
    EXPECT_TRUE(closed);
    EXPECT_EQ(group.size(), 0U);
}

Task<void> timed(Clock& clock, Duration limit, Duration length, std::optional<bool>& finished) {
    finished = co_await finishes_within(clock, limit, clock.sleep_for(length));
}

TEST(SimContext, TimeLimits) {
    Context context(1);
    SimClock clock(context);
    TaskGroup group(context.executor());
    std::optional<bool> quick, slow;
    group.spawn("quick", timed(clock, 10s, 1s, quick));
    group.spawn("slow", timed(clock, 10s, 60s, slow));
    context.run_for(20s);
    EXPECT_EQ(quick, true);
    EXPECT_EQ(slow, false);
    EXPECT_EQ(group.size(), 0U);
}

}  // namespace
}  // namespace berth::sim
