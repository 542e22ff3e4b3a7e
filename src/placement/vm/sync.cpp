// The flow of a VM, top to bottom: the first line that applies decides.
#include "placement/vm/sync.hpp"

#include "placement/conditions.hpp"
#include "placement/names.hpp"
#include "placement/vm/disks.hpp"
#include "placement/vm/wants.hpp"

namespace berth::placement::vm {
namespace {

bool has(const View& view, std::string_view strategy) { return run_strategy(*view.vm) == strategy; }

bool is_deleted_and_alone(const View& view) {
    return is_deleted(view) && (!has_vmi(view) || view.vm->metadata.has_finalizer(kOrphanFinalizer));
}
bool is_unmarked(const View& view) {
    const auto is_v1 = [&](const char* key) {
        const std::string* version = view.vm->metadata.annotation(key);
        return version != nullptr && *version == "v1";
    };
    return !view.vm->metadata.has_finalizer(kVmFinalizer) || !is_v1(kLatestApiVersion) || !is_v1(kStorageApiVersion);
}
bool has_orphans(const View& view) {
    const auto is_orphan = [](const api::ObjectMeta& meta) {
        return meta.controller() == nullptr && !meta.is_deleting();
    };
    return (has_vmi(view) && is_orphan(view.vmi->metadata)) ||
           std::ranges::any_of(view.templates, [&](const Template& entry) {
               return entry.disk != nullptr && is_orphan(entry.disk->metadata);
           });
}
bool has_no_strategy(const View& view) {
    return run_strategy(*view.vm).empty() || (view.vm->spec.running && !view.vm->spec.run_strategy.empty());
}
bool disks_have_an_error(const View& view) { return makes_disks_early(view) && disks(view).error.has_value(); }
bool disks_come_first(const View& view) {
    return makes_disks_early(view) && !has(view, "Halted") && !disks(view).ready;
}

bool halted_has_vmi(const View& view) { return has(view, "Halted") && has_vmi(view); }
bool halted_is_asked(const View& view) { return has(view, "Halted") && start_request(view) != nullptr; }
bool is_halted(const View& view) { return has(view, "Halted"); }
bool always_stops(const View& view) { return has(view, "Always") && (stop_is_requested(view) || vmi_is_final(view)); }
bool rerun_stops(const View& view) {
    return has(view, "RerunOnFailure") && !vmi_is_deleting(view) && (stop_is_requested(view) || vmi_is_final(view));
}
bool manual_stops(const View& view) { return has(view, "Manual") && stop_is_requested(view); }
bool receiver_has_vmi(const View& view) {
    return has(view, "WaitAsReceiver") && has_vmi(view) &&
           view.vmi->metadata.annotation(kCreateMigrationTarget) == nullptr;
}
bool manual_is_not_asked(const View& view) { return has(view, "Manual") && start_request(view) == nullptr; }
bool rerun_is_not_asked(const View& view) {
    return has(view, "RerunOnFailure") && start_request(view) == nullptr &&
           view.vm->status.run_strategy == "RerunOnFailure";
}
bool must_back_off(const View& view) {
    return is_backing_off(view) && (has(view, "Always") || has(view, "RerunOnFailure"));
}
bool late_disks_have_an_error(const View& view) { return disks(view).error.has_value(); }
bool late_disks_come_first(const View& view) { return !disks(view).ready; }
bool needs_recovery(const View& view) {
    return has_condition(view.vm->status.conditions, "ManualRecoveryRequired", "True");
}
bool name_is_taken(const View& view) { return view.name_is_taken; }

constexpr Line<View> kSync[] = {
    {"V-05", "deleted-lets-go",           is_deleted_and_alone,     drop_finalizer   },
    {"V-05", "deleted-stops-its-machine", is_deleted,               stop             },
    {"V-06", "marks-itself",              is_unmarked,              mark             },
    {"V-03", "takes-orphans-in",          has_orphans,              adopt_orphans    },
    {"V-07", "one-strategy",              has_no_strategy,          report_strategy  },
    {"V-08", "disk-error-ends-the-pass",  disks_have_an_error,      report_disks     },
    {"V-08", "disks-come-first",          disks_come_first,         make_disks       },
    {"V-23", "halted-stops",              halted_has_vmi,           stop             },
    {"V-23", "halted-starts-when-asked",  halted_is_asked,          start_always     },
    {"V-23", "halted-rests",              is_halted,                nothing          },
    {"V-20", "always-starts-over",        always_stops,             stop             },
    {"V-21", "rerun-ends-what-is-over",   rerun_stops,              stop             },
    {"V-22", "manual-stops-when-asked",   manual_stops,             stop             },
    {"V-25", "receiver-has-a-machine",    receiver_has_vmi,         report_receiver  },
    {"V-24", "a-machine-is-there",        has_vmi,                  nothing          },
    {"V-22", "manual-starts-when-asked",  manual_is_not_asked,      nothing          },
    {"V-21", "rerun-starts-once",         rerun_is_not_asked,       nothing          },
    {"V-20", "backs-off",                 must_back_off,            await_backoff    },
    {"V-28", "late-disk-error",           late_disks_have_an_error, report_disks     },
    {"V-28", "late-disks-come-first",     late_disks_come_first,    make_disks       },
    {"V-28", "recovery-comes-first",      needs_recovery,           await_recovery   },
    {"V-29", "name-is-taken",             name_is_taken,            report_taken_name},
    {"V-29", "start",                     api::always<View>,        start            },
};

bool deletes_vmi(const api::Plan& plan) {
    return std::ranges::any_of(plan.intents, [](const api::Intent& intent) {
        const auto* remove = std::get_if<api::Delete>(&intent);
        return remove != nullptr && *remove->key.kind == api::kVmi;
    });
}

}  // namespace

std::span<const Line<View>> flow() { return kSync; }

Pass sync(const View& view) {
    Pass pass{.outcome = first_outcome(kSync, view)};
    const std::string_view rule = pass.outcome.plan.rule;
    pass.starts = rule == "start";
    pass.stops = deletes_vmi(pass.outcome.plan);
    pass.restarts_later = rule == "rerun-ends-what-is-over" && view.vmi->status.phase == "Failed";
    return pass;
}

}  // namespace berth::placement::vm
