#include "cli/volume_wait.hpp"

#include <cstdio>

#include "cli/machine_view.hpp"
#include "explain/line.hpp"
#include "explain/plug.hpp"

namespace berth::cli {

bool is_settled(const explain::View& view, const Plugging& plugging) {
    if (plugging.goal == Goal::released) return explain::is_released(view, plugging.volume);
    const bool is_stopped = view.vm && (!view.vmi || view.vmi->is_final());
    return is_stopped || explain::is_attached(view, plugging.volume);
}

std::vector<std::string> progress(const explain::View& view, const std::string& volume) {
    std::vector<std::string> out;
    if (const api::VmVolumeStatus* status = explain::status_of(view, volume)) {
        out.push_back(status->phase + (status->message.empty() ? "" : ": " + status->message));
    }
    if (explain::is_attached(view, volume)) return out;
    std::vector<explain::Line> lines = explain::plug_lines(view, volume, 0);
    explain::mark_next(lines);
    for (const explain::Line& line : lines) {
        const bool must_act = line.mark == explain::Mark::next || line.mark == explain::Mark::failed;
        if (must_act && !line.why.empty()) out.push_back("  → " + line.object + ": " + line.why);
    }
    return out;
}

Task<Result<explain::View>> follow_plug(Client& client, Sights& sights, Plugging plugging) {
    const Monotonic began = client.clock().monotonic();
    std::vector<std::string> shown;
    while (true) {
        CO_TRY(explain::View view, co_await gather(client.api(), client.clock(), client.ns(), plugging.machine));
        const std::vector<std::string> now = progress(view, plugging.volume);
        const std::chrono::duration<double> elapsed = client.clock().monotonic() - began;
        for (const std::string& line : now) {
            if (std::ranges::find(shown, line) != shown.end()) continue;
            std::fprintf(stderr, "%8.2f s  %s\n", elapsed.count(), line.c_str());
        }
        shown = now;
        if (is_settled(view, plugging)) co_return view;
        if (!view.vm && view.vmi->is_final()) {
            co_return fail(ErrorKind::conflict, "the machine ended: " + view.vmi->status.phase);
        }
        do {
            co_await sights.next();
        } while (sights.has_more());
    }
}

}  // namespace berth::cli
