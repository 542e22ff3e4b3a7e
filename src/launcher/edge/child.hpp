// Runs a program to its end and keeps what it says.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace berth::launcher {

/// Blocks. The program is killed when `limit` has passed. Its standard output and error are the value.
/// Errors  io: it cannot be run, or its exit code is not 0 (with what it said); timeout
Result<std::string> run_program(std::vector<std::string> argv, std::chrono::milliseconds limit);

}  // namespace berth::launcher
