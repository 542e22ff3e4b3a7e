// Small records in files of the pod: whole or not there.
#pragma once

#include <string>
#include <string_view>

namespace berth::launcher {

/// "" when there is none.
std::string read_text(const std::string& path);
/// False: it could not be written; what was there stays.
bool write_text(const std::string& path, std::string_view text);

}  // namespace berth::launcher
