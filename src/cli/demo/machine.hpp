// The machine of the demo: two disks of its own on local storage, one imported over HTTP and one blank.
#pragma once

#include <string>

#include "json/value.hpp"

namespace berth::cli {

inline constexpr const char* kDemoMachine = "demo";

/// The VirtualMachine, as examples/vm-local-disks.yaml has it, with the image at `url`.
json::Value demo_machine(const std::string& url);

}  // namespace berth::cli
