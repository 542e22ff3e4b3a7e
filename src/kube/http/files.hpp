// Small files that hold keys: read whole, replaced whole.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace berth::kube::http {

/// Errors  not_found; io
Result<std::string> read_file(const std::filesystem::path& path);
/// Mode 0600, through a temporary file, fsync and rename: the old content or the new, never a part. Errors  io
Result<void> write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace berth::kube::http
