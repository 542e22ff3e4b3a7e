// See image_probe.hpp.
#include "launcher/plan/image_probe.hpp"

#include <cstdint>

namespace berth::launcher {
namespace {

constexpr std::uint64_t kExternalData = 1 << 2;  // incompatible feature bit 2

std::uint64_t big_endian(std::string_view head, std::size_t at, std::size_t length) {
    std::uint64_t value = 0;
    for (const char c : head.substr(at, length)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
}

}  // namespace

Result<std::string> image_format(std::string_view head) {
    if (!head.starts_with("QFI\xfb") || head.size() < 104) return "raw";
    if (big_endian(head, 8, 8) != 0) {
        return fail(ErrorKind::invalid, "the image has a backing file: convert it to one file with qemu-img convert");
    }
    const bool has_features = big_endian(head, 4, 4) >= 3;
    if (has_features && (big_endian(head, 72, 8) & kExternalData) != 0) {
        return fail(ErrorKind::invalid, "the image keeps its data in another file: convert it with qemu-img convert");
    }
    return "qcow2";
}

}  // namespace berth::launcher
