// How many plans of plugged volumes one core makes in a second, by the number of volumes. Prints one line a figure.
#include <chrono>
#include <cstdio>

#include "hotplug/attach/sync.hpp"
#include "hotplug/testing/seen_plugs.hpp"

namespace {

using namespace berth::hotplug;
using namespace berth::hotplug::testing;

void measure(const char* name, const SeenPlugs& seen) {
    const attach::View view = seen.view();
    std::size_t intents = 0;
    int rounds = 0;
    const auto start = std::chrono::steady_clock::now();
    double seconds = 0;
    for (; seconds < 1; ++rounds) {
        intents += attach::plan(view).intents.size();
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    std::printf(
        "%-40s %9.0f plans/s  %zu intents\n", name, rounds / seconds, intents / static_cast<std::size_t>(rounds)
    );
}

SeenPlugs ready(int volumes, int pods) {
    SeenPlugs out = seen();
    std::vector<std::vector<std::string>> contents(static_cast<std::size_t>(pods));
    for (int i = 0; i < volumes; ++i) {
        const std::string name = "v" + std::to_string(100 + i);
        const int pod = i % pods;
        contents[static_cast<std::size_t>(pod)].push_back(name);
        out.plugged(name).entry(name, "Ready").through("p" + std::to_string(pod));
    }
    for (int i = 0; i < pods; ++i) out.attached("p" + std::to_string(i), contents[static_cast<std::size_t>(i)]);
    return out;
}

}  // namespace

int main() {
    measure("one volume, ready", ready(1, 1));
    measure("one more arrives", SeenPlugs(ready(1, 1)).plugged("new"));
    measure("8 volumes in one pod", ready(8, 1));
    measure("75 volumes in one pod", ready(75, 1));
    measure("75 volumes in 75 pods", ready(75, 75));
}
