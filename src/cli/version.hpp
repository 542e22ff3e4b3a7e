// The version of the program, said once.
#pragma once

namespace berth::cli {

inline constexpr const char* kVersion = "v0.1.0";

}  // namespace berth::cli
