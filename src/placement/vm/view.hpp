// What the VM rules may look at. Filling it only copies and joins (controllers/placement.cpp).
#pragma once

#include "placement/config.hpp"
#include "placement/outcome.hpp"

namespace berth::placement::vm {

/// An entry of spec.dataVolumeTemplates, and what exists of it.
struct Template {
    const api::DataVolumeTemplate* wanted = nullptr;
    const api::DataVolume* disk = nullptr;                     ///< by name; nullptr: absent
    const api::PersistentVolumeClaim* claim = nullptr;         ///< by name
    const api::PersistentVolumeClaim* clone_source = nullptr;  ///< of source.pvc
};

/// A volume of the template that names a claim.
struct Disk {
    const api::VmVolume* volume = nullptr;
    const api::PersistentVolumeClaim* claim = nullptr;
    const api::DataVolume* named = nullptr;  ///< the DataVolume that a dataVolume volume names
};

struct View {
    Timestamp now;
    const api::VirtualMachine* vm = nullptr;
    const json::Value* document = nullptr;  ///< the VM whole: templates are copied from it, unknown fields too
    const api::VirtualMachineInstance* vmi = nullptr;  ///< of its name, ours or an orphan
    bool name_is_taken = false;                        ///< a VMI of its name belongs to someone else; `vmi` is nullptr
    std::vector<Template> templates;                   ///< in order of the spec
    std::vector<Disk> disks;                           ///< in order of the spec
    std::vector<const api::ControllerRevision*> revisions;  ///< controlled by the VM
    std::optional<Failed> failed;
    const Config* config = nullptr;
};

}  // namespace berth::placement::vm
