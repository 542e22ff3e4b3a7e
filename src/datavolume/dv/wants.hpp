// What a DataVolume wants: its claim, the ownership of one that is ready, or patience with a reason.
#pragma once

#include "api/plan.hpp"
#include "datavolume/dv/view.hpp"

namespace berth::datavolume::dv {

api::Plan report_only(const View& view);
api::Plan await_claim_removal(const View& view);
api::Plan refuse_claim(const View& view);
api::Plan take_over_claim(const View& view);
api::Plan await_restored_claim(const View& view);
api::Plan say_unsupported(const View& view);
api::Plan say_unrenderable(const View& view);
api::Plan report_and_create_claim(const View& view);
api::Plan create_claim(const View& view);

/// The claim as it is created.
json::Value claim_for(const View& view);

}  // namespace berth::datavolume::dv
