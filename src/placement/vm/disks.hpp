// The DataVolumes of a VM's templates: made, watched, reported.
// Contract: docs/spec/placement.md V-10 to V-16
#pragma once

#include "placement/vm/view.hpp"

namespace berth::placement::vm {

struct DiskOutcome {
    bool ready = true;  ///< every template has a DataVolume that a machine can start with
    std::vector<api::Intent> intents;
    std::optional<std::string> error;    ///< ends the step
    const Template* waits_on = nullptr;  ///< the first that is not ready
};

DiskOutcome disks(const View& view);

}  // namespace berth::placement::vm
