// One pass over a DataVolume, top to bottom: the first rule that applies decides.
#include "datavolume/dv/sync.hpp"

#include "datavolume/dv/facts.hpp"
#include "datavolume/dv/wants.hpp"

namespace berth::datavolume::dv {
namespace {

constexpr api::Rule<View> kSync[] = {
    {"2.11", "deletion-is-left-to-owner-references", is_deleting,           report_only            },
    {"E-03", "a-dying-claim-fills-nothing",          claim_is_going,        await_claim_removal    },
    {"D-02", "a-foreign-claim-is-left-alone",        claim_is_foreign,      refuse_claim           },
    {"D-02", "a-filled-claim-is-taken-over",         claim_wants_owner,     take_over_claim        },
    {"D-10", "the-claim-tells-the-phase",            has_claim,             report_only            },
    {"2.5",  "a-restored-claim-is-awaited",          is_prepopulated,       await_restored_claim   },
    {"2.7",  "only-some-sources-are-supported",      source_is_unsupported, say_unsupported        },
    {"2.4",  "no-claim-without-modes-and-size",      cannot_render,         say_unrenderable       },
    {"E-30", "a-refused-claim-is-tried-again",       create_was_refused,    report_and_create_claim},
    {"D-01", "the-claim-comes-first",                api::always<View>,     create_claim           },
};

}  // namespace

api::Plan sync(const View& view) { return api::first_match(kSync, view); }

}  // namespace berth::datavolume::dv
