// The flow of a VMI, top to bottom: the first line that applies decides.
#include "placement/vmi/sync.hpp"

#include "placement/vmi/wants.hpp"

namespace berth::placement::vmi {
namespace {

bool lacks_claim(const View& view) { return gate_of(view).missing != nullptr; }
bool lacks_owner(const View& view) { return gate_of(view).owner_missing != nullptr; }
bool is_binding(const View& view) { return current_pod(view) != nullptr && gate_of(view).any_awaits_consumer; }
bool has_finished_temp_pod(const View& view) { return !finished_temp_pods(view).empty(); }
bool has_pod(const View& view) { return current_pod(view) != nullptr; }
bool has_had_launcher(const View& view) { return !is_unprocessed(view); }
bool has_other_pods(const View& view) { return !view.pods.empty(); }
bool disk_is_not_ready(const View& view) { return !gate_of(view).ready; }
bool disk_is_held(const View& view) { return held_disk(view) != nullptr; }
bool lacks_backend(const View& view) { return needs_backend(view) && view.backend == nullptr; }
bool disk_awaits_consumer(const View& view) { return gate_of(view).any_awaits_consumer; }

constexpr Line<View> kSync[] = {
    {"I-10", "deleted-removes-its-pods",      is_deleted,            delete_own_pods          },
    {"I-11", "finished-drops-useless-pods",   is_final,              delete_useless_pods      },
    {"I-01", "missing-claim-blocks",          lacks_claim,           report_missing_claim     },
    {"I-03", "missing-datavolume-blocks",     lacks_owner,           report_missing_owner     },
    {"I-16", "provisioning-pod-binds-first",  is_binding,            await_binding            },
    {"I-15", "provisioning-pod-makes-room",   has_finished_temp_pod, delete_finished_temp_pods},
    {"I-17", "one-pod-at-a-time",             has_pod,               await_current_pod        },
    {"I-12", "one-launcher-per-machine",      has_had_launcher,      nothing                  },
    {"I-12", "a-pod-elsewhere-is-in-the-way", has_other_pods,        nothing                  },
    {"I-06", "disks-come-before-pods",        disk_is_not_ready,     await_disk               },
    {"I-12", "one-machine-per-claim",         disk_is_held,          await_other_machine      },
    {"I-12", "state-needs-a-claim",           lacks_backend,         report_backend           },
    {"I-13", "one-pod-places-all-disks",      disk_awaits_consumer,  create_temp_pod          },
    {"I-14", "then-the-launcher",             api::always<View>,     create_launcher          },
};

}  // namespace

std::span<const Line<View>> flow() { return kSync; }

Outcome sync(const View& view) { return first_outcome(kSync, view); }

}  // namespace berth::placement::vmi
