// Loop devices: a file as a block device, found again by what it stands for and not by a number that was noted.
#pragma once

#include <string>

#include "base/result.hpp"

namespace berth::solo {

/// The device ("/dev/loop3") that stands for the file, attached now if it was not. Owned by user 107. Blocks.
/// Errors  not_found: no such file; unavailable: no loop device is free; io
Result<std::string> attach_loop(const std::string& file);

/// The device that stands for the file. Errors  not_found: none does
Result<std::string> find_loop(const std::string& file);

/// Takes the device from the file; none attached is a success. Errors  conflict: something has it open
Result<void> detach_loop(const std::string& file);

/// Makes the device see that its file has grown.
Result<void> resize_loop(const std::string& file);

/// Detaches every device whose file lies below `path`.
Result<void> detach_loops_below(const std::string& path);

}  // namespace berth::solo
