// status.printableStatus: one word for people, the first that applies.
#include "placement/conditions.hpp"
#include "placement/vm/facts.hpp"
#include "placement/vm/sync.hpp"

namespace berth::placement::vm {
namespace {

struct Seen {
    const View& view;
    const Pass& pass;
    const std::optional<api::StartFailure>& start_failure;
};

bool vmi_condition(const Seen& seen, std::string_view type, std::string_view reason) {
    if (seen.view.vmi == nullptr) return false;
    const api::Condition* condition = api::find_condition(seen.view.vmi->status.conditions, type);
    return condition != nullptr && condition->status == "False" && condition->reason == reason;
}
bool vmi_is(const Seen& seen, std::string_view phase) {
    return seen.view.vmi != nullptr && seen.view.vmi->status.phase == phase;
}
bool is_idle(const Seen& seen) { return (!has_vmi(seen.view) || vmi_is_final(seen.view)) && !seen.pass.starts; }

bool is_terminating(const Seen& seen) { return is_deleted(seen.view); }
bool is_stopping(const Seen& seen) {
    return has_vmi(seen.view) && !vmi_is_final(seen.view) && (vmi_is_deleting(seen.view) || seen.pass.stops);
}
bool is_migrating(const Seen& seen) {
    if (!has_vmi(seen.view)) return false;
    const json::Value& state = seen.view.vmi->status.migration_state;
    return json::find(state, "/startTimestamp") != nullptr && !json::bool_at(state, "/completed") &&
           !json::bool_at(state, "/failed");
}
bool is_paused(const Seen& seen) {
    return vmi_is(seen, "Running") && has_condition(seen.view.vmi->status.conditions, "Paused", "True");
}
bool is_running(const Seen& seen) { return vmi_is(seen, "Running"); }
bool lacks_claim(const Seen& seen) { return vmi_condition(seen, "Synchronized", "FailedPvcNotFound"); }

bool has_disk_error(const Seen& seen) {
    return std::ranges::any_of(seen.view.disks, [](const Disk& disk) {
        if (disk.named == nullptr) return false;
        if (disk.named->status.phase == "Failed") return true;
        const api::Condition* running = api::find_condition(disk.named->status.conditions, "Running");
        return running != nullptr && running->status == "False" && is_transfer_error(running->reason);
    });
}
bool is_unschedulable(const Seen& seen) { return vmi_condition(seen, "PodScheduled", "Unschedulable"); }
bool is_provisioning(const Seen& seen) {
    return std::ranges::any_of(seen.view.disks, [](const Disk& disk) {
        if (disk.named == nullptr) return false;
        const std::string& phase = disk.named->status.phase;
        if (phase == "Succeeded" || phase == "PendingPopulation") return false;
        return phase != "WaitForFirstConsumer" || has_condition(disk.named->status.conditions, "Bound", "True");
    });
}
bool awaits_binding(const Seen& seen) {
    return is_set_to_start(seen.view) && std::ranges::any_of(seen.view.disks, [](const Disk& disk) {
               return disk.claim != nullptr && disk.claim->status.phase != "Bound";
           });
}
bool has_image_error(const Seen& seen) { return vmi_condition(seen, "Synchronized", "ErrImagePull"); }
bool has_image_backoff(const Seen& seen) { return vmi_condition(seen, "Synchronized", "ImagePullBackOff"); }
bool is_starting(const Seen& seen) {
    if (!has_vmi(seen.view)) return seen.pass.starts;
    const std::string& phase = seen.view.vmi->status.phase;
    return phase.empty() || phase == "Pending" || phase == "Scheduling" || phase == "Scheduled";
}
bool is_crash_looping(const Seen& seen) {
    const std::string strategy = run_strategy(*seen.view.vm);
    return is_idle(seen) && seen.start_failure && seen.start_failure->consecutive_fail_count > 0 &&
           (strategy == "Always" || strategy == "RerunOnFailure" || strategy == "Once");
}
bool awaits_receiver(const Seen& seen) {
    return run_strategy(*seen.view.vm) == "WaitAsReceiver" && (!has_vmi(seen.view) || vmi_is(seen, "WaitingForSync"));
}
bool is_unknown(const Seen&) { return true; }

struct Word {
    int row;
    std::string_view word;
    bool (*when)(const Seen&);
};

constexpr Word kWords[] = {
    {1,  "Terminating",             is_terminating   },
    {2,  "Stopping",                is_stopping      },
    {3,  "Migrating",               is_migrating     },
    {4,  "Paused",                  is_paused        },
    {5,  "Running",                 is_running       },
    {6,  "ErrorPvcNotFound",        lacks_claim      },
    {7,  "DataVolumeError",         has_disk_error   },
    {8,  "ErrorUnschedulable",      is_unschedulable },
    {9,  "Provisioning",            is_provisioning  },
    {10, "WaitingForVolumeBinding", awaits_binding   },
    {11, "ErrImagePull",            has_image_error  },
    {12, "ImagePullBackOff",        has_image_backoff},
    {13, "Starting",                is_starting      },
    {14, "CrashLoopBackOff",        is_crash_looping },
    {15, "Stopped",                 is_idle          },
    {16, "WaitingForReceiver",      awaits_receiver  },
    {17, "Unknown",                 is_unknown       },
};

}  // namespace

std::string printable_status(
    const View& view, const Pass& pass, const std::optional<api::StartFailure>& start_failure
) {
    const Seen seen{view, pass, start_failure};
    return std::string(std::ranges::find_if(kWords, [&](const Word& w) { return w.when(seen); })->word);
}

}  // namespace berth::placement::vm
