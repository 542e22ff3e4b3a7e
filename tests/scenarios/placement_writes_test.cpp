// What one machine costs: writes and events from the VM's creation until its launcher runs. design: budgets.
#include "placement_world.hpp"

namespace berth::sim {
namespace {

class PlacementWrites : public PlacementWorld {};

TEST_F(PlacementWrites, OneMachineWithTwoDisks) {
    const std::size_t before = world.history().size();
    make({
        .disks = {{"root"}, {.name = "data", .source = R"({"blank":{}})"}}
    });
    const auto launcher_runs = [&] {
        const auto names = pods(false);
        return !names.empty() && world.text(api::kPod, names.front(), "/status/phase") == "Running";
    };
    ASSERT_TRUE(world.until(launcher_runs));
    std::map<std::string, int> writes;
    int objects = 0, events = 0;
    std::string lines;
    for (std::size_t i = before; i < world.history().size(); ++i) {
        const Seen& seen = world.history()[i];
        const bool is_event = *seen.kind == api::kEvent;
        ++(is_event ? events : objects);
        ++writes[std::string(seen.kind->kind)];
        lines +=
            seen.type + " " + std::string(seen.kind->kind) + "/" + seen.name() + " " +
            (is_event ? seen.text("/reason") + " " + seen.text("/involvedObject/kind") : seen.text("/status/phase")) +
            "\n";
    }
    std::string summary;
    for (const auto& [kind, count] : writes) summary += kind + " " + std::to_string(count) + "  ";
    // Everything counts here, what Kubernetes' own components write too.
    EXPECT_LE(objects, 58) << summary << "\n" << lines;
    EXPECT_LE(events, 26) << summary;
    EXPECT_LE(writes["VirtualMachine"] + writes["VirtualMachineInstance"], 15) << summary << "\n" << lines;
    RecordProperty("objects", objects);
    RecordProperty("events", events);
    std::cout << "objects " << objects << ", events " << events << ": " << summary << "\n";
}

}  // namespace
}  // namespace berth::sim
