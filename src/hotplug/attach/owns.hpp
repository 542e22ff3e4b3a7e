// Which objects and fields the rules of this folder write. What another folder owns, they only read.
#pragma once

#include "placement/owns.hpp"

namespace berth::hotplug::attach {

inline constexpr placement::Owned kOwns[] = {
    {"hotplug/attach",
     "VirtualMachineInstance", "status.volumeStatus entries with hotplugVolume: all but target and size"},
    {"hotplug/attach", "Pod",  "creation and deletion of attachment and trigger pods"                   },
};

}  // namespace berth::hotplug::attach
