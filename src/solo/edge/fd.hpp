// Owned file descriptors (base/fd.hpp), and errno as an Error.
#pragma once

#include <string_view>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace berth::solo {

/// The system's error `number` as a failure: "context: No such file or directory".
std::unexpected<Error> fail_errno(std::string_view context, int number);

}  // namespace berth::solo
