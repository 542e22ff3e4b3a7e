// One pass over a claim that a worker fills.
#pragma once

#include "api/plan.hpp"
#include "datavolume/import/view.hpp"

namespace berth::datavolume::import {

api::Plan sync(const View& view);

}  // namespace berth::datavolume::import
