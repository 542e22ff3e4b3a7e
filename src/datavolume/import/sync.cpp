// One pass over a claim that a worker fills, top to bottom: the first rule that applies decides.
#include "datavolume/import/sync.hpp"

#include "datavolume/import/facts.hpp"
#include "datavolume/import/wants.hpp"

namespace berth::datavolume::import {
namespace {

constexpr api::Rule<View> kSync[] = {
    {"2.9",  "only-requests-are-served",                is_not_ours,          nothing                 },
    {"2.9",  "a-dying-claim-loses-its-worker",          claim_is_going,       remove_worker           },
    {"2.9",  "a-foreign-pod-is-left-alone",             pod_is_foreign,       await_foreign_pod       },
    {"2.9",  "a-filled-claim-needs-no-worker",          is_filled,            clean_up                },
    {"2.9",  "a-wrong-image-is-not-fetched-again",      is_beyond_repair,     remove_worker           },
    {"D-13", "a-checksum-mismatch-is-final",            checksum_differs,     give_up                 },
    {"2.9",  "success-is-recorded-before-the-pod-goes", worker_succeeded,     record_success          },
    {"2.9",  "a-worker-being-removed-is-awaited",       pod_is_going,         await_pod_removal       },
    {"E-40", "an-evicted-worker-is-replaced",           pod_failed,           replace_failed_pod      },
    {"9",    "a-failing-worker-of-an-old-request-goes", fails_at_old_request, remove_worker           },
    {"D-13", "the-claim-shows-its-worker",              has_pod,              report_worker           },
    {"D-11", "the-first-consumer-binds-first",          awaits_binding,       await_binding           },
    {"D-11", "no-worker-beside-another-user",           is_in_use,            await_users             },
    {"2.9",  "a-refused-worker-is-tried-again",         create_was_refused,   report_refusal_and_retry},
    {"D-11", "a-worker-fills-the-claim",                api::always<View>,    create_worker           },
};

}  // namespace

api::Plan sync(const View& view) { return api::first_match(kSync, view); }

}  // namespace berth::datavolume::import
