// The two stories of the demo. Each begins on an empty cluster and leaves nothing behind.
#pragma once

#include <string>

#include "cli/demo/stage.hpp"

namespace berth::cli {

/// A machine whose disks wait for their first consumer, until its guest's shell answers; the image is at `url`.
Task<Result<void>> placement_act(Stage& stage, std::string url);

/// A running machine that gets a disk, loses it and gets it back: once as a file system volume, once as a block volume.
/// Errors  invalid: the guest or the API shows something else than it should, with what
Task<Result<void>> plug_act(Stage& stage);

/// Deletes what an act made, also after it failed, and shows what goes.
Task<Result<void>> end_placement_act(Stage& stage);
Task<Result<void>> end_plug_act(Stage& stage);

}  // namespace berth::cli
