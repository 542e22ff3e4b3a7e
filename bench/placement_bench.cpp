// How many plans of VMs and VMIs one core makes in a second. Prints one line a figure.
#include <chrono>
#include <cstdio>

#include "placement/testing/seen_vm.hpp"
#include "placement/testing/seen_vmi.hpp"
#include "placement/vm/sync.hpp"
#include "placement/vmi/sync.hpp"

namespace {

using namespace berth::placement;
using namespace berth::placement::testing;

template <class F>
void measure(const char* name, F make_plan) {
    constexpr int kRounds = 20'000;
    std::size_t intents = 0;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) intents += make_plan().intents.size();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-36s %9.0f plans/s  %zu intents\n", name, kRounds / seconds, intents / kRounds);
}

}  // namespace

int main() {
    const char* const waits = "WaitForFirstConsumer";
    const SeenVmi waiting = seen().disk("root", waits).disk("data", waits).temp_pod("Pending");
    const SeenVmi starting = seen().disk("root", waits).disk("data", waits);
    const SeenVmi running =
        seen().disk("root", "Succeeded").disk("data", "Succeeded").phase("Running").launcher("Running");
    SeenVm vm = seen_vm("Always").disk("root", "Succeeded").disk("data", "Succeeded").vmi("Running");
    SeenVm new_vm = seen_vm("Always").disk("root", "absent").disk("data", "absent");
    const auto of_vmi = [](const SeenVmi& what) { return [view = what.view()] { return vmi::plan(view); }; };
    const auto of_vm = [](SeenVm& what) { return [view = what.view()] { return vm::plan(view); }; };
    measure("vmi: waits for the scheduler", of_vmi(waiting));
    measure("vmi: makes the provisioning pod", of_vmi(starting));
    measure("vmi: runs", of_vmi(running));
    measure("vm: runs", of_vm(vm));
    measure("vm: makes two disks", of_vm(new_vm));
}
