// What the demo applies: a machine with two disks of its own on local storage, one imported over HTTP and one blank;
// and an instance that boots from an image, with blank disks to plug into it.
#pragma once

#include <string>

#include "json/value.hpp"

namespace berth::cli {

inline constexpr const char* kDemoMachine = "demo";

/// The VirtualMachine, as examples/vm-local-disks.yaml has it, with the image at `url`.
json::Value demo_machine(const std::string& url);

inline constexpr const char* kDemoInstance = "demo-plug";

/// The VirtualMachineInstance, as examples/vmi-containerdisk.yaml has it.
json::Value demo_instance();
/// A blank DataVolume of class local. mode   "Filesystem" or "Block"
json::Value demo_disk(const std::string& name, const std::string& mode);

}  // namespace berth::cli
