// The controllers of DataVolumes: what fills their views from the caches, and what wakes them.
#pragma once

#include "controllers/progress_board.hpp"
#include "kube/engine.hpp"

namespace berth::controllers {

/// Adds three controllers: DataVolumes, the claims that workers fill, and StorageProfiles. `progress` outlives the
/// engine; without it a DataVolume says "N/A" until it is done.
void add_datavolume_controllers(kube::Engine& engine, ProgressBoard* progress = nullptr);

}  // namespace berth::controllers
