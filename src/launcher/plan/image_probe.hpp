// What an image file is, from its first bytes; only as far as a container disk needs it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace berth::launcher {

constexpr std::size_t kProbeLength = 512;  ///< bytes of the file that image_format() wants to see

/// "qcow2" or "raw".
/// Errors  invalid: a qcow2 image that reads other files (backing file, external data file): inside the pod that would
///         open whatever its author named
/// Source  https://www.qemu.org/docs/master/interop/qcow2.html
Result<std::string> image_format(std::string_view head);

}  // namespace berth::launcher
