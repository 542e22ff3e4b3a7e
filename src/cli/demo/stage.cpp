#include "cli/demo/stage.hpp"

#include <cstdio>

#include "explain/milestones.hpp"

namespace berth::cli {

void Stage::say(const std::string& step) {
    const Monotonic at = now();
    const std::chrono::duration<double> elapsed = at - began_;
    const std::chrono::duration<double> took = at - last_;
    last_ = at;
    std::printf("%8.2f s  +%5.2f  %s\n", elapsed.count(), took.count(), step.c_str());
    std::fflush(stdout);
}

Task<void> Stage::show_until(std::function<bool()> is_so) {
    while (!is_so()) {
        const Sight sight = co_await sights_.next();
        for (const std::string& step : explain::steps_between(*sight.kind, sight.before.get(), sight.after.get())) {
            say(step);
        }
    }
}

void Stage::quote(const std::string& question, const std::string& answer) {
    std::printf("\nguest# %s\n%s\n", question.c_str(), answer.c_str());
    std::fflush(stdout);
}

bool Stage::is_empty() const {
    for (const api::Kind* kind :
         {&api::kVirtualMachine, &api::kVmi, &api::kDataVolume, &api::kClaim, &api::kVolume, &api::kPod}) {
        if (sights_.count(*kind) > 0) return false;
    }
    return true;
}

}  // namespace berth::cli
