// What the VMI rules may look at. Filling it only copies and joins (controllers/placement.cpp).
#pragma once

#include "placement/config.hpp"
#include "placement/outcome.hpp"

namespace berth::placement::vmi {

/// A volume of the machine that names a claim.
struct Disk {
    const api::VmVolume* volume = nullptr;
    const api::PersistentVolumeClaim* claim = nullptr;  ///< nullptr: absent
    const api::DataVolume* owner = nullptr;             ///< the DataVolume that the claim's controller reference names
    const api::DataVolume* named = nullptr;             ///< the DataVolume that the volume names
    std::string
        held_by;  ///< "default/a": another machine that has the claim, which only one may have at a time; "" = free
};

struct View {
    Timestamp now;
    const api::VirtualMachineInstance* vmi = nullptr;
    std::vector<Disk> disks;                              ///< in order of spec.volumes
    std::vector<const api::Pod*> pods;                    ///< controlled by the VMI, in order of name
    const api::PersistentVolumeClaim* backend = nullptr;  ///< labelled persistent-state-for=<vmi>
    bool has_vm = false;                                  ///< the VM that controls it exists, with that UID
    const api::CdiConfig* cdi_config = nullptr;           ///< nullptr: none
    std::optional<Failed> failed;
    const Config* config = nullptr;
};

}  // namespace berth::placement::vmi
