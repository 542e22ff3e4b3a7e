// Which objects and fields the rules of this folder write. What another folder owns, they only read.
#pragma once

#include <string_view>

namespace berth::placement {

struct Owned {
    std::string_view rules;  ///< which table
    std::string_view kind;
    std::string_view field;
};

inline constexpr Owned kOwns[] = {
    {"vm",  "VirtualMachine",         "metadata.finalizers, metadata.annotations (observed API versions)" },
    {"vm",  "VirtualMachine",         "spec.runStrategy, spec.running (Halted with a Start request)"      },
    {"vm",  "VirtualMachine",         "status, without volumeRequests and Failure/HotPlugVolumeError"     },
    {"vm",  "DataVolume",             "creation from templates; metadata.ownerReferences of orphans"      },
    {"vm",  "ControllerRevision",     "creation, deletion"                                                },
    {"vm",  "VirtualMachineInstance", "creation, deletion, the VM's finalizer, ownerReferences of orphans"},
    {"vmi", "VirtualMachineInstance", "metadata.labels[kubevirt.io/nodeName], finalizers"                 },
    {"vmi", "VirtualMachineInstance", "status until Scheduled; then Failed, Ready, activePods, claims"    },
    {"vmi", "Pod",                    "creation and deletion of launcher and provisioning pods"           },
    {"vmi", "Pod",                    "label kubevirt.io/nodeName, condition virtual-machine-unpaused"    },
};

}  // namespace berth::placement
