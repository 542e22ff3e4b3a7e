#include "image/format.hpp"

#include <algorithm>
#include <cstring>

namespace berth::image {
namespace {

struct Magic {
    Format format;
    std::size_t offset;
    std::string_view bytes;
};

using namespace std::string_view_literals;

constexpr Magic kMagics[] = {
    {Format::gzip,  0,    "\x1F\x8B"sv                },
    {Format::xz,    0,    "\xFD\x37\x7A\x58\x5A\x00"sv},
    {Format::zstd,  0,    "\x28\xB5\x2F\xFD"sv        },
    {Format::qcow2, 0,    "QFI\xFB"sv                 },
    {Format::vmdk,  0,    "KDMV"sv                    },
    {Format::vdi,   0x40, "\x7F\x10\xDA\xBE"sv        },
    {Format::vhd,   0,    "conectix"sv                },
    {Format::vhdx,  0,    "vhdxfile"sv                },
};

std::uint64_t number(Chunk header, std::size_t offset, std::size_t bytes, bool big_endian) {
    std::uint64_t out = 0;
    for (std::size_t i = 0; i < bytes; ++i) {
        const std::size_t at = offset + (big_endian ? i : bytes - 1 - i);
        out = out << 8 | std::to_integer<std::uint64_t>(header[at]);
    }
    return out;
}

std::uint64_t big(Chunk header, std::size_t offset, std::size_t bytes) { return number(header, offset, bytes, true); }
std::uint64_t little(Chunk header, std::size_t offset, std::size_t bytes) {
    return number(header, offset, bytes, false);
}

std::unexpected<Error> refuse(const std::string& why) { return fail(ErrorKind::invalid, why); }

Result<Facts> sized(std::uint64_t size) {
    constexpr std::uint64_t kSizeMax = std::uint64_t{1} << 60;
    if (size == 0 || size > kSizeMax)
        return refuse("the image's virtual size " + std::to_string(size) + " is not that of a disk");
    return Facts{Bytes{static_cast<std::int64_t>(size)}};
}

// Source: docs/interop/qcow2.txt of QEMU 7.2. A header is checked before QEMU opens the image, because opening one with
// an external data file already opens that file.
Result<Facts> read_qcow2(Chunk header) {
    const std::uint64_t version = big(header, 4, 4);
    if (version != 2 && version != 3) return refuse("invalid format: qcow2 of version " + std::to_string(version));
    if (big(header, 8, 8) != 0) {
        const std::uint64_t at = big(header, 8, 8);
        const std::uint64_t length = big(header, 16, 4);
        std::string name;
        if (at < header.size() && length <= header.size() - at) {
            name.assign(reinterpret_cast<const char*>(header.data()) + at, length);
        }
        return refuse(
            "the image is invalid because it has invalid backing file " + name + ": flatten it with qemu-img convert"
        );
    }
    if (big(header, 32, 4) != 0) return refuse("the image is encrypted: decrypt it with qemu-img convert");
    constexpr std::uint64_t kExternalData = 4;
    if (version == 3 && (big(header, 72, 8) & kExternalData) != 0) {
        return refuse(
            "the image is invalid because it has invalid backing file: its data is in another file: flatten it with "
            "qemu-img convert"
        );
    }
    return sized(big(header, 24, 8));
}

// Source: VMware's Virtual Disk Format 5.0. A sparse extent without a capacity only describes extents elsewhere.
Result<Facts> read_vmdk(Chunk header) {
    constexpr std::uint64_t kSectorsMax = std::uint64_t{1} << 51;
    const std::uint64_t sectors = little(header, 12, 8);
    if (sectors == 0)
        return refuse(
            "the image is invalid because it has invalid backing file: its extents are in other files: convert it to "
            "one file"
        );
    return sized(std::min(sectors, kSectorsMax) * 512);
}

}  // namespace

Format format_of(Chunk header) {
    for (const Magic& magic : kMagics) {
        if (header.size() < magic.offset + magic.bytes.size()) continue;
        if (std::memcmp(header.data() + magic.offset, magic.bytes.data(), magic.bytes.size()) == 0) return magic.format;
    }
    return Format::raw;
}

bool is_compressed(Format format) { return format == Format::gzip || format == Format::xz || format == Format::zstd; }

bool needs_conversion(Format format) { return format != Format::raw && !is_compressed(format); }

std::string_view driver_of(Format format) {
    switch (format) {
        case Format::qcow2: return "qcow2";
        case Format::vmdk: return "vmdk";
        case Format::vdi: return "vdi";
        case Format::vhd: return "vpc";
        case Format::vhdx: return "vhdx";
        case Format::raw:
        case Format::gzip:
        case Format::xz:
        case Format::zstd: break;
    }
    return "raw";
}

Result<Facts> read_facts(Format format, Chunk header) {
    if (header.size() < kHeaderBytes)
        return refuse("could not process image header: the image has only " + std::to_string(header.size()) + " bytes");
    switch (format) {
        case Format::qcow2: return read_qcow2(header);
        case Format::vmdk: return read_vmdk(header);
        case Format::vdi: return sized(little(header, 0x170, 8));
        case Format::vhd: return sized(big(header, 48, 8));
        case Format::vhdx:  // its size stands further in
        case Format::raw:
        case Format::gzip:
        case Format::xz:
        case Format::zstd: break;
    }
    return Facts{};
}

}  // namespace berth::image
