// One pass over a pod that has no node, top to bottom: choose, reserve its volumes, wait until they are bound, bind.
// Source: docs/spec/placement.md K-05 to K-34
#include "solo/rules/scheduler/facts.hpp"
#include "solo/rules/scheduler/wants.hpp"

namespace berth::solo::scheduler {
namespace {

/// A rule whose answer also says what the scheduler keeps in mind.
struct Line {
    std::string_view spec;
    std::string_view name;
    bool (*when)(const View&);
    Decision (*then)(const View&);
};

constexpr Line kSync[] = {
    {"K-08", "pod-needs-no-node",           is_not_waiting,              forget           },
    {"K-05", "another-schedulers-pod",      is_of_another_scheduler,     leave            },
    {"K-05", "gated-pod-waits",             is_gated,                    tell_gated       },
    {"K-32", "failed-binding-starts-over",  has_failed_to_bind,          give_up_binding  },
    {"K-34", "pod-follows-its-volumes",     is_assumed_with_all_volumes, bind_assumed     },
    {"K-30", "volumes-come-before-the-pod", is_assumed,                  await_volumes    },
    {"K-07", "pause-after-an-attempt",      is_pausing,                  pause            },
    {"K-10", "claim-cannot-be-used",        has_unusable_claim,          refuse_for_claims},
    {"K-28", "pod-and-claims-go-together",  api::always<View>,           choose           },
};

}  // namespace

Decision sync(const View& view) {
    for (const Line& line : kSync) {
        if (!line.when(view)) continue;
        Decision out = line.then(view);
        if (out.plan.spec.empty()) {
            out.plan.spec = line.spec;
            out.plan.rule = line.name;
        }
        return out;
    }
    base::check_failed(__FILE__, __LINE__, "no rule of the table applies");
}

}  // namespace berth::solo::scheduler
