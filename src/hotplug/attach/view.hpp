// What the rules of attachment may look at. Filling it only copies and joins (controllers/hotplug_attach.cpp).
#pragma once

#include "placement/vmi/view.hpp"

namespace berth::hotplug::attach {

using placement::vmi::Disk;

struct View {
    Timestamp now;
    const api::VirtualMachineInstance* vmi = nullptr;
    std::vector<Disk> disks;  ///< hotpluggable volumes of the spec that the launcher pod does not carry, in order
    /// Claims that these, the status and the pods below name, as far as they exist.
    std::vector<const api::PersistentVolumeClaim*> claims;
    const api::Pod* launcher = nullptr;          ///< the current launcher pod; nullptr: none
    bool launcher_is_ready = false;              ///< its guest may be handed over
    std::vector<const api::Pod*> pods;           ///< attachment pods of the launcher, those that go too, by name
    std::vector<const api::Pod*> triggers;       ///< trigger pods of the launcher, the same way
    std::vector<const api::Pod*> left;           ///< both kinds, of launchers of this machine that have ended
    const api::CdiConfig* cdi_config = nullptr;  ///< nullptr: none
    std::optional<placement::Failed> failed;
    const placement::Config* config = nullptr;
    Duration quiet_period = std::chrono::seconds(30);  ///< without a change, before pods are merged
};

}  // namespace berth::hotplug::attach
