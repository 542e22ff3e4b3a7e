// What the rules that keep a running machine like its VM's template may look at. Filling it only copies and joins
// (controllers/hotplug_template.cpp).
#pragma once

#include <optional>

#include "api/kubevirt.hpp"
#include "base/time.hpp"
#include "hotplug/gates.hpp"

namespace berth::hotplug::tmpl {

struct View {
    Timestamp now;
    const api::VirtualMachine* vm = nullptr;
    const json::Value* vm_document = nullptr;          ///< whole: volumes are copied from it, unknown fields too
    const api::VirtualMachineInstance* vmi = nullptr;  ///< the VM's own; nullptr: there is none
    const json::Value* vmi_document = nullptr;
    Gates gates;
    std::optional<std::string> failed;  ///< why the last pass could not do what it wanted
};

}  // namespace berth::hotplug::tmpl
