// What a disk image is, told from its first bytes. Contract: docs/spec/datavolumes.md 3.5, 3.6
#pragma once

#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "image/stage.hpp"

namespace berth::image {

enum class Format { raw, gzip, xz, zstd, qcow2, vmdk, vdi, vhd, vhdx };

/// How many bytes decide; a shorter stream of a disk is an error.
inline constexpr std::size_t kHeaderBytes = 512;
/// How many are looked at where there are so many: a qcow2 header names its backing file behind the first 512.
inline constexpr std::size_t kLookBytes = 4096;

/// By magic alone.
Format format_of(Chunk header);
bool is_compressed(Format format);
bool needs_conversion(Format format);
/// As qemu-img calls it: "vpc" for vhd.
std::string_view driver_of(Format format);

/// What a header already says of a disk that needs conversion.
struct Facts {
    std::optional<Bytes> virtual_size;  ///< none: not in the first bytes
};

/// Errors  invalid: a size that no disk has, a backing file, data outside the image, encryption
Result<Facts> read_facts(Format format, Chunk header);

}  // namespace berth::image
