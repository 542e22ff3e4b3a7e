// The layers of an image, laid over one another in a directory. Everything in a layer is somebody else's word.
#pragma once

#include <string>

#include "base/result.hpp"
#include "solo/edge/image_source.hpp"

namespace berth::solo {

/// Unpacks one layer (tar, tar.gz, tar.zst) into `root` and applies its whiteouts. Blocks.
/// No entry leaves `root`: "..", absolute names and ways through symbolic links are resolved inside it or refused.
/// Errors  invalid: a wrong digest, a broken archive, an entry that would leave; io
Result<void> unpack_layer(ImageSource& source, const std::string& digest, const std::string& root);

/// SHA-256 as 64 hex digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace berth::solo
