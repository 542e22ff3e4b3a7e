// Decompression on the way: gzip with ISA-L (four times zlib), xz with liblzma's threads, zstd.
#pragma once

#include <memory>

#include "image/format.hpp"
#include "image/stage.hpp"

namespace berth::image {

/// A stage that hands on what it decompresses. Concatenated members and frames are one stream.
/// Errors of its write and finish  invalid: damaged or incomplete data
std::unique_ptr<Stage> make_decoder(Format format, std::unique_ptr<Stage> next);

/// Whether a stream that begins like this is really of the compressed format its magic says: a disk may begin with
/// the same two bytes.
bool decodes(Format format, Chunk header);

}  // namespace berth::image
