#include "base/hash.hpp"

#include <array>
#include <bit>
#include <cstdio>

namespace berth {

std::uint64_t fnv1a64(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

std::uint32_t fnv1a32(std::string_view bytes) {
    std::uint32_t hash = 0x811c9dc5;
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193;
    return hash;
}

std::string short_hash(std::string_view bytes) {
    constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
    std::uint64_t hash = fnv1a64(bytes);
    std::string text;
    for (int i = 0; i < 5; ++i, hash /= kAlphabet.size()) text += kAlphabet[hash % kAlphabet.size()];
    return text;
}

std::string sha1_hex(std::string_view bytes) {
    std::string padded(bytes);
    padded += '\x80';
    while (padded.size() % 64 != 56) padded += '\0';
    const std::uint64_t bits = bytes.size() * 8;
    for (int shift = 56; shift >= 0; shift -= 8) padded += static_cast<char>(bits >> shift & 0xff);

    std::array<std::uint32_t, 5> h = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (std::size_t block = 0; block < padded.size(); block += 64) {
        std::array<std::uint32_t, 80> w{};
        for (std::size_t i = 0; i < 64; ++i) w[i / 4] = w[i / 4] << 8 | static_cast<unsigned char>(padded[block + i]);
        for (std::size_t i = 16; i < 80; ++i) w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        auto [a, b, c, d, e] = h;
        for (std::size_t i = 0; i < 80; ++i) {
            const std::uint32_t f = i < 20   ? (b & c) | (~b & d)
                                    : i < 40 ? b ^ c ^ d
                                    : i < 60 ? (b & c) | (b & d) | (c & d)
                                             : b ^ c ^ d;
            constexpr std::array<std::uint32_t, 4> k = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
            const std::uint32_t next = std::rotl(a, 5) + f + e + k[i / 20] + w[i];
            e = d, d = c, c = std::rotl(b, 30), b = a, a = next;
        }
        h = {h[0] + a, h[1] + b, h[2] + c, h[3] + d, h[4] + e};
    }
    std::string text;
    for (const std::uint32_t word : h) {
        char part[9];
        std::snprintf(part, sizeof part, "%08x", word);
        text += part;
    }
    return text;
}

}  // namespace berth
