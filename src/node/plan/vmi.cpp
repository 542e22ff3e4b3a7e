#include "node/plan/vmi.hpp"

#include "base/ranges.hpp"
#include "node/plan/phases.hpp"
#include "node/plan/plugs.hpp"
#include "node/plan/status.hpp"

namespace berth::node {
namespace {

using api::Plan;

constexpr std::int64_t kGrace = 30;  // seconds a guest has to shut down

Timestamp grace_end(const View& view) {
    const std::int64_t grace = view.vmi->spec.termination_grace_period_seconds.value_or(kGrace);
    return *view.vmi->metadata.deletion_timestamp + std::chrono::seconds(grace);
}

/// The exit code of the launcher, which speaks for its guest: 0 = it ended, else it crashed. None: it still runs.
std::optional<std::int64_t> exit_code(const View& view) {
    for (const api::ContainerStatus& status : view.launcher->status.container_statuses) {
        if (status.name == "compute") {
            if (const auto code = api::container_state(status.state).exit_code) return code;
        }
    }
    if (view.launcher->status.phase == "Succeeded") return 0;
    if (view.launcher->status.phase == "Failed") return 1;
    return {};
}

// --- facts -----------------------------------------------------------------------------------------------------------

bool has_left_plugs(const View& view) { return !view.hotplug.left.empty(); }
bool is_elsewhere(const View& view) { return !is_ours(view); }
bool reports(const View& view, std::string_view state) { return view.report && view.report->state == state; }
bool has_crashed(const View& view) {
    return reports(view, "crashed") || (reports(view, "shutoff") && view.report->reason == "failed");
}
bool has_ended(const View& view) { return reports(view, "shutoff"); }
bool launcher_has_failed(const View& view) { return exit_code(view).value_or(0) != 0; }
bool launcher_has_ended(const View& view) { return exit_code(view).has_value(); }
bool is_disconnected(const View& view) { return !view.report; }
bool is_deleted(const View& view) { return view.vmi->metadata.is_deleting(); }
bool lacks_plugged_volumes(const View& view) {
    return view.report->state.empty() && missing_at_start(view).has_value();
}
bool has_no_guest_yet(const View& view) { return view.report->state.empty() || view.report->state == "starting"; }

// --- wants -----------------------------------------------------------------------------------------------------------

api::Effect effect(const View& view, std::string verb) {
    return {std::move(verb), api::print(view.key), json::Object{{"pod", view.launcher->metadata.uid.value}}};
}

api::Emit event(const View& view, std::string reason, std::string message) {
    return {view.key, view.vmi->metadata.uid, false, std::move(reason), std::move(message)};
}
api::Emit warning(const View& view, std::string reason, std::string message) {
    return {view.key, view.vmi->metadata.uid, true, std::move(reason), std::move(message)};
}

Plan nothing(const View&) { return api::settled(); }

Plan clean_up(const View& view) {
    Plan plan;
    add_left_plugs(view, plan);
    return plan;
}

/// What every pass over a living machine brings: work on plugged volumes, what is wrong with them, and the new status.
/// Work first: a volume that is ready is told to the launcher before anybody else is told.
void add_volumes(const View& view, Plan& plan) {
    add_plug_work(view, plan);
    for (Trouble& trouble : troubles(view)) {
        if (!plan.wait) plan.wait = api::Wait{"user", view.key, trouble.text};
        if (contains(view.hotplug.said, trouble.text)) continue;
        plan.add(warning(view, std::move(trouble.reason), std::move(trouble.text)));
    }
}

void add_volume_status(const View& view, Plan& plan, const api::VmiStatus& desired) {
    add_status(view, plan, desired);
    add_phase_events(view, plan, desired);
}

Plan await_launcher(const View& view) {
    const std::string pod = view.launcher->metadata.name;
    Plan plan = api::wait_for({"launcher", view.key, "the launcher of pod " + pod + " does not answer yet"});
    if (!has_plugged_volumes(view)) return plan;
    add_volumes(view, plan);
    api::VmiStatus status = view.vmi->status;
    set_selinux_context(status);  // attachment pods are made with it
    set_volume_status(view, status);
    add_volume_status(view, plan, status);
    return plan;
}

Plan await_plugged_volumes(const View& view) {
    const std::string volume = *missing_at_start(view);
    Plan plan = api::wait_for({"hotplug", view.key, "the guest starts when volume " + volume + " is in its pod"});
    add_volumes(view, plan);
    api::VmiStatus status = view.vmi->status;
    set_selinux_context(status);
    set_volume_status(view, status);
    add_volume_status(view, plan, status);
    return plan;
}

Plan end(const View& view, const char* phase, api::Emit said) {
    Plan plan;
    add_unplug_all(view, plan);
    api::VmiStatus status = view.vmi->status;
    set_phase(view, status, phase);
    add_status(view, plan, status);
    plan.add(std::move(said));
    return plan;
}

Plan fail_machine(const View& view) {
    return end(view, "Failed", warning(view, "Stopped", "The VirtualMachineInstance crashed."));
}

Plan finish_machine(const View& view) {
    return end(view, "Succeeded", event(view, "Stopped", "The VirtualMachineInstance was shut down."));
}

Plan shut_down(const View& view) {
    Plan plan;
    plan.wait = api::Wait{"guest", view.key, "it is shutting down; it is switched off when its grace period ends"};
    if (view.now >= grace_end(view)) {
        plan.add(effect(view, "destroy domain"));
        plan.add(event(view, "Deleted", "Signaled Deletion"));
        return plan;
    }
    plan.look_again_at = grace_end(view);
    if (!view.shutdown_sent_at) {
        plan.add(effect(view, "shutdown domain"));
        plan.add(event(view, "ShuttingDown", "Signaled Graceful Shutdown"));
    }
    return plan;
}

void tell_launcher(const View& view, Plan& plan) {
    const bool knows_plugs = view.hotplug.plugs.has_value() || !has_plugged_volumes(view);
    if (!view.synced && knows_plugs) plan.add(effect(view, "sync domain"));
}

void say_sync_error(const View& view, Plan& plan) {
    if (view.report->error.empty()) return;
    if (!shows_sync_error(view)) plan.add(warning(view, "SyncFailed", view.report->error));
    plan.wait = api::Wait{"user", view.key, view.report->error};
}

Plan start_guest(const View& view) {
    Plan plan;
    plan.wait = api::Wait{"launcher", view.key, "the guest is being started"};
    add_volumes(view, plan);
    tell_launcher(view, plan);
    api::VmiStatus status = view.vmi->status;
    take_over_report(view, status);
    if (has_plugged_volumes(view)) set_selinux_context(status);
    add_volume_status(view, plan, status);
    say_sync_error(view, plan);
    return plan;
}

Plan tell_running(const View& view) {
    Plan plan;
    add_volumes(view, plan);
    tell_launcher(view, plan);
    api::VmiStatus status = view.vmi->status;
    set_phase(view, status, "Running");
    take_over_report(view, status);
    set_selinux_context(status);
    set_migratable(view, status);
    set_paused(view, status);
    add_volume_status(view, plan, status);
    if (view.vmi->status.phase == "Scheduled") {
        plan.add(event(view, "Started", "VirtualMachineInstance started."));
    }
    say_sync_error(view, plan);
    return plan;
}

// What the launcher says comes first; what became of its pod counts when it cannot say anything any more.
constexpr api::Rule<View> kSync[] = {
    {"H-40", "plugs-do-not-outlive-their-machine",    has_left_plugs,        clean_up             },
    {"2.6",  "not-of-this-node",                      is_elsewhere,          nothing              },
    {"2.6",  "crashed-guest-fails-its-machine",       has_crashed,           fail_machine         },
    {"2.6",  "ended-guest-ends-its-machine",          has_ended,             finish_machine       },
    {"2.6",  "failed-launcher-fails-its-machine",     launcher_has_failed,   fail_machine         },
    {"2.6",  "ended-launcher-ends-its-machine",       launcher_has_ended,    finish_machine       },
    {"2.6",  "launcher-answers-first",                is_disconnected,       await_launcher       },
    {"2.6",  "deleted-machine-shuts-its-guest-off",   is_deleted,            shut_down            },
    {"H-63", "plugged-volumes-come-before-the-start", lacks_plugged_volumes, await_plugged_volumes},
    {"2.6",  "guest-is-started",                      has_no_guest_yet,      start_guest          },
    {"2.6",  "running-guest-is-told",                 api::always<View>,     tell_running         },
};

}  // namespace

std::span<const api::Rule<View>> flow() { return kSync; }

bool is_ours(const View& view) {
    return view.vmi && view.launcher && view.vmi->status.node_name == view.node &&
           (view.vmi->status.phase == "Scheduled" || view.vmi->status.phase == "Running");
}

api::Plan sync(const View& view) { return api::first_match(kSync, view); }

}  // namespace berth::node
