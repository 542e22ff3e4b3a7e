#include "node/plan/status.hpp"

#include "api/codec.hpp"
#include "base/ranges.hpp"
#include "node/plan/phases.hpp"

namespace berth::node {
namespace {

constexpr const char* kSyncFailed = "Synchronizing with the Domain failed.";  // reason of the Synchronized condition

void set_condition(const View& view, api::VmiStatus& status, api::Condition wanted) {
    const auto it = std::ranges::find(status.conditions, wanted.type, &api::Condition::type);
    wanted.last_transition_time = view.now;
    if (it == status.conditions.end()) {
        status.conditions.push_back(std::move(wanted));
    } else if (it->status != wanted.status || it->reason != wanted.reason || it->message != wanted.message) {
        if (it->status == wanted.status) wanted.last_transition_time = it->last_transition_time;
        *it = std::move(wanted);
    }
}

void drop_condition(api::VmiStatus& status, std::string_view type) {
    std::erase_if(status.conditions, [&](const api::Condition& condition) { return condition.type == type; });
}

}  // namespace

void set_phase(const View& view, api::VmiStatus& status, std::string phase) {
    if (status.phase == phase) return;
    status.phase = std::move(phase);
    const auto phases = status.phase_transition_timestamps | std::views::transform(&api::PhaseTransition::phase);
    if (!contains(phases, status.phase)) status.phase_transition_timestamps.push_back({status.phase, view.now});
}

void take_over_report(const View& view, api::VmiStatus& status) {
    const agent::Report& report = *view.report;
    set_volume_status(view, status);
    if (!report.machine_type.empty()) status.machine = api::Machine{report.machine_type};
    if (!report.error.empty()) {
        set_condition(
            view, status, {.type = "Synchronized", .status = "False", .reason = kSyncFailed, .message = report.error}
        );
    } else if (shows_sync_error(view)) {
        drop_condition(status, "Synchronized");
    }
}

void set_migratable(const View& view, api::VmiStatus& status) {
    for (const api::VmVolume& volume : view.vmi->spec.volumes) {
        const std::string name = volume.claim_name();
        const auto claim =
            std::ranges::find_if(view.claims, [&](const auto& one) { return one.metadata.name == name; });
        if (name.empty() || claim == view.claims.end()) continue;
        if (contains(claim->spec.access_modes, "ReadWriteMany")) continue;
        set_condition(
            view,
            status,
            {.type = "LiveMigratable",
             .status = "False",
             .reason = "DisksNotLiveMigratable",
             .message = "cannot migrate VMI: PVC " + name +
                        " is not shared, live migration requires that all PVCs must be shared (using ReadWriteMany "
                        "access mode)"}
        );
        return;
    }
    set_condition(view, status, {.type = "LiveMigratable", .status = "True"});
}

void set_selinux_context(api::VmiStatus& status) {
    if (status.selinux_context.empty()) status.selinux_context = "none";
}

void set_paused(const View& view, api::VmiStatus& status) {
    if (view.report->state == "paused") {
        set_condition(
            view,
            status,
            {.type = "Paused", .status = "True", .reason = "PausedByUser", .message = "VMI was paused by user"}
        );
    } else {
        drop_condition(status, "Paused");
    }
}

bool shows_sync_error(const View& view) {
    const api::Condition* known = api::find_condition(view.vmi->status.conditions, "Synchronized");
    return known != nullptr && known->status == "False" && known->reason == kSyncFailed;
}

void add_status(const View& view, api::Plan& plan, const api::VmiStatus& desired) {
    auto changes = api::patch_between(view.vmi->status, desired);
    if (!changes) return;
    // Lists are replaced whole: only on the version that was looked at.
    plan.add(api::Patch{
        .key = view.key,
        .part = api::Part::object,
        .patch = json::Object{{"status", std::move(*changes)}},
        .uid = view.vmi->metadata.uid,
        .at = view.vmi->metadata.resource_version,
    });
}

}  // namespace berth::node
