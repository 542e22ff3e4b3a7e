#include "base/async/entropy.hpp"

#include <cstdio>
#include <string_view>

namespace berth {

Uid new_uid(Entropy& entropy) {
    const std::uint64_t a = entropy.next();
    const std::uint64_t b = entropy.next();
    char text[37];
    std::snprintf(
        text,
        sizeof text,
        "%08x-%04x-4%03x-%04x-%012llx",
        static_cast<unsigned>(a >> 32),
        static_cast<unsigned>(a >> 16 & 0xffff),
        static_cast<unsigned>(a & 0xfff),
        static_cast<unsigned>(0x8000 | (b >> 48 & 0x3fff)),
        static_cast<unsigned long long>(b & 0xffffffffffff)
    );
    return {text};
}

std::string random_suffix(Entropy& entropy, int count) {
    constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
    std::string text;
    for (int i = 0; i < count; ++i) text += kAlphabet[entropy.next() % kAlphabet.size()];
    return text;
}

}  // namespace berth
