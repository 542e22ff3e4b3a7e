// The worker's pod. Contract: docs/spec/datavolumes.md 3.1, 3.2
#pragma once

#include "datavolume/import/view.hpp"

namespace berth::datavolume::import {

json::Value worker_pod_for(const View& view);

}  // namespace berth::datavolume::import
