// ISO 9660 images in memory: a few small files for a guest to read, with their names kept (Rock Ridge for Linux and
// BSD, Joliet for Windows).
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace berth::launcher {

/// The whole image, a multiple of 2048 bytes. The same input gives the same bytes.
///
/// label  volume identifier, at most 32 characters ("cidata")
/// files  by path below the root, '/' between folders; a name is at most 60 characters of ASCII
/// Source  ECMA-119; IEEE P1282 (Rock Ridge); Joliet specification, 1995
std::string iso9660(std::string_view label, const std::map<std::string, std::string>& files);

}  // namespace berth::launcher
