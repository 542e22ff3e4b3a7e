// Which objects and fields the rules of this folder write. What another folder owns, they only read.
#pragma once

#include <string_view>

namespace berth::hotplug::tmpl {

struct Owned {
    std::string_view kind;
    std::string_view field;
};

inline constexpr Owned kOwns[] = {
    {"VirtualMachineInstance", "spec.volumes, spec.domain.devices.disks (hotpluggable ones, and those of the queue)"       },
    {"VirtualMachine",         "spec.template.spec.volumes, spec.template.spec.domain.devices.disks (those of the queue)"  },
    {"VirtualMachine",         "status.volumeRequests (emptied), status.conditions[Failure] with reason HotPlugVolumeError"},
};

}  // namespace berth::hotplug::tmpl
