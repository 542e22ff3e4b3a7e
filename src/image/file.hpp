// Files of the worker: whole reads and writes, atomic replacement.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "base/text.hpp"
#include "image/stage.hpp"

namespace berth::image {

/// All of it, at an offset. Errors as system_error(`name`)
Result<void> write_at(int fd, Chunk bytes, std::int64_t offset, const std::string& name);
/// As much as there is, up to the span's size; returns how much.
Result<std::size_t> read_at(int fd, std::span<std::byte> bytes, std::int64_t offset, const std::string& name);

/// fsync. Errors io
Result<void> sync_file(int fd, const std::string& name);
/// fsync of the directory that holds a path.
Result<void> sync_parent(const std::string& path);

/// Replaces a file in one step: temporary file, fsync, rename, fsync of the directory.
Result<void> replace_file(const std::string& path, std::string_view content);
/// "" when it cannot be read.
std::string read_small_file(const std::string& path);
/// Removes a file if it is there.
void remove_file(const std::string& path);

/// Room for data in the file system of a directory, as a user without privileges has it.
Result<Bytes> free_space(const std::string& directory);

std::string parent_of(const std::string& path);
std::string name_of(const std::string& path);

}  // namespace berth::image
