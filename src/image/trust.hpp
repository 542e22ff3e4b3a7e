// The certificates a worker trusts: the system's, and every file of the directory it was given.
#pragma once

#include <string>

#include "base/result.hpp"

namespace berth::image {

/// PEM text. `directory` "" = the system's alone. Errors  invalid: the directory has no certificate
Result<std::string> read_trust_anchors(const std::string& directory);

}  // namespace berth::image
