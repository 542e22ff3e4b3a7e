// A stream of bytes on its way to the disk: each stage takes some, and hands on what it makes of them.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/result.hpp"

namespace berth::image {

using Chunk = std::span<const std::byte>;

class Stage {
public:
    virtual ~Stage() = default;
    /// The next bytes, in order. After an error the stream is over.
    virtual Result<void> write(Chunk chunk) = 0;
    /// The end of the stream: what was held back goes on, and what is incomplete is an error.
    virtual Result<void> finish() = 0;
};

/// Errors of a worker that the same bytes cannot cure: size, format, checksum, credentials, certificate.
inline bool is_permanent(const Error& error) {
    return error.kind == ErrorKind::invalid || error.kind == ErrorKind::forbidden;
}

/// An error of a system call: "write disk.img: no space left on device". A full disk is not permanent: an image that is
/// too large for the volume is refused as such, so what is short here is room that others took and may give back.
Error system_error(const std::string& what, int code);

}  // namespace berth::image
