// See flow.hpp.
#include "launcher/plan/flow.hpp"

#include <algorithm>

namespace berth::launcher {
namespace {

bool always(const Seen&) { return true; }
bool is_connected(const Seen& seen) { return seen.domain != DomainState::unknown; }
bool is_lost_from_sight(const Seen& seen) { return seen.was_started && !is_connected(seen); }
// The launcher died before libvirt did anything: no guest ran. A start that still goes on inside libvirt is no danger,
// it makes ours fail with "already running".
bool left_no_trace(const Seen& seen) {
    const bool was_never_on =
        seen.domain == DomainState::absent || (seen.domain == DomainState::shutoff && seen.domain_reason == "never");
    return seen.was_started && !seen.start_succeeded && was_never_on && !seen.has_run_qemu;
}
bool is_over(const Seen& seen) { return seen.was_started && is_connected(seen) && !seen.is_active(); }
bool ended_badly(const Seen& seen) {
    return seen.domain == DomainState::crashed || seen.domain == DomainState::absent ||
           (seen.domain == DomainState::shutoff && seen.domain_reason != "shutdown" && seen.domain_reason != "destroyed"
           );
}
bool is_over_badly(const Seen& seen) { return is_over(seen) && ended_badly(seen); }
bool stops_before_start(const Seen& seen) {
    return !seen.was_started && (seen.ends_when_idle || seen.ask != Ask::nothing);
}
bool must_be_destroyed(const Seen& seen) { return seen.is_active() && seen.ask == Ask::destroy; }
bool must_be_asked(const Seen& seen) { return seen.is_active() && seen.ask == Ask::shutdown && seen.may_ask_again; }
bool is_active(const Seen& seen) { return seen.is_active(); }
bool lacks_spec(const Seen& seen) { return !seen.has_spec; }
bool lacks_files(const Seen& seen) { return !seen.waits_for.empty(); }
bool is_cooling(const Seen& seen) { return seen.is_cooling; }
bool is_unprepared(const Seen& seen) { return !seen.was_started && !seen.is_prepared; }
bool lacks_libvirt(const Seen& seen) { return !is_connected(seen); }

struct Row {
    bool (*when)(const Seen&);
    Decision then;
};

// The first row that applies decides. placement.md 2.6; "one guest, once" is what keeps two guests off one disk.
constexpr Row kFlow[] = {
    {left_no_trace,      {"start-that-never-was", Step::forget_start}                               },
    {is_over_badly,      {"crashed-guest-fails-its-pod", Step::end, "", Ending::crashed}            },
    {is_over,            {"ended-guest-ends-its-pod", Step::end, "", Ending::done}                  },
    {is_lost_from_sight, {"waits-for-libvirt", Step::wait, "libvirtd"}                              },
    {stops_before_start, {"stopped-before-start", Step::end, "", Ending::done}                      },
    {must_be_destroyed,  {"destroy", Step::destroy}                                                 },
    {must_be_asked,      {"press-the-power-button", Step::press_power_button}                       },
    {is_active,          {"runs", Step::wait, "the guest"}                                          },
    {lacks_spec,         {"waits-for-the-node", Step::wait, "the node's agent to send the machine"} },
    {lacks_files,        {"waits-for-files", Step::wait, "the node to bring the disks into the pod"}},
    {is_cooling,         {"waits-after-an-error", Step::wait, "a while, or a change of the machine"}},
    {is_unprepared,      {"prepares-disks", Step::prepare}                                          },
    {lacks_libvirt,      {"waits-for-libvirt", Step::wait, "libvirtd"}                              },
    {always,             {"starts-the-guest", Step::start}                                          },
};

std::string_view state_text(DomainState state) {
    switch (state) {
        case DomainState::unknown:
        case DomainState::absent: return "";
        case DomainState::starting: return "starting";
        case DomainState::running: return "running";
        case DomainState::paused: return "paused";
        case DomainState::shutoff: return "shutoff";
        case DomainState::crashed: return "crashed";
    }
    return "";
}

}  // namespace

Decision decide(const Seen& seen) {
    for (const Row& row : kFlow) {
        if (row.when(seen)) return row.then;
    }
    return {};
}

agent::Report report_of(const Seen& seen, const LiveDomain& live, const std::vector<agent::DiskReport>& sizes) {
    agent::Report out;
    out.error = seen.error;
    if (is_over(seen) && !left_no_trace(seen)) {
        out.state = ended_badly(seen) ? "crashed" : "shutoff";
        const std::string_view normal = seen.domain_reason == "destroyed" ? "destroyed"
                                        : seen.has_asked_guest            ? "shutdown"
                                                                          : "guest";
        out.reason = ended_badly(seen) ? "failed" : normal;
    } else if (stops_before_start(seen) && seen.ask != Ask::nothing && !seen.ends_when_idle) {
        out.state = "shutoff";  // the machine was deleted before it had a guest
        out.reason = "destroyed";
    } else if (seen.is_active()) {
        out.state = state_text(seen.domain);
        if (seen.domain == DomainState::paused) out.reason = seen.domain_reason;
    }
    if (!live.type.empty()) {
        out.accelerator = live.type == "kvm" ? "kvm" : "tcg";
        out.machine_type = live.machine_type;
    }
    for (const LiveDisk& disk : live.disks) {
        if (!disk.has_medium) continue;
        const auto known = std::ranges::find(sizes, disk.name, &agent::DiskReport::name);
        out.disks.push_back({disk.name, disk.target, known == sizes.end() ? 0 : known->size});
    }
    std::ranges::sort(out.disks, {}, &agent::DiskReport::name);  // libvirt's order changes with each new disk
    return out;
}

}  // namespace berth::launcher
