// One pass over a DataVolume.
#pragma once

#include "api/plan.hpp"
#include "datavolume/dv/view.hpp"

namespace berth::datavolume::dv {

api::Plan sync(const View& view);

}  // namespace berth::datavolume::dv
