#include "image/checksum.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "base/ascii.hpp"

namespace berth::image {
namespace {

struct Algorithm {
    std::string_view name;
    const EVP_MD* (*make)();
};

constexpr Algorithm kAlgorithms[] = {
    {"md5",    &EVP_md5   },
    {"sha1",   &EVP_sha1  },
    {"sha256", &EVP_sha256},
    {"sha512", &EVP_sha512},
};

}  // namespace

struct Checksum::State {
    std::string algorithm;
    std::string wanted;
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};
};

Checksum::Checksum(std::unique_ptr<State> state) : state_(std::move(state)) {}
Checksum::~Checksum() = default;
Checksum::Checksum(Checksum&&) noexcept = default;
Checksum& Checksum::operator=(Checksum&&) noexcept = default;

Result<Checksum> Checksum::of(const std::string& wanted) {
    const std::string text = lower(wanted);
    const auto colon = text.find(':');
    const std::string name = text.substr(0, std::min(colon, text.size()));
    const auto* known = std::ranges::find(kAlgorithms, name, &Algorithm::name);
    if (colon == std::string::npos || known == std::end(kAlgorithms)) {
        return fail(
            ErrorKind::invalid, "invalid checksum format: use md5, sha1, sha256 or sha512, a colon, and hex digits"
        );
    }
    auto state = std::make_unique<State>();
    state->algorithm = name;
    state->wanted = text.substr(colon + 1);
    const EVP_MD* type = known->make();
    if (state->wanted.size() != static_cast<std::size_t>(EVP_MD_get_size(type)) * 2) {
        return fail(
            ErrorKind::invalid,
            "invalid checksum format: a " + name + " has " + std::to_string(EVP_MD_get_size(type) * 2) + " hex digits"
        );
    }
    EVP_DigestInit_ex(state->context.get(), type, nullptr);
    return Checksum(std::move(state));
}

void Checksum::add(Chunk chunk) { EVP_DigestUpdate(state_->context.get(), chunk.data(), chunk.size()); }

Result<void> Checksum::verify() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
    unsigned int size = 0;
    EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size);
    constexpr char kDigits[] = "0123456789abcdef";
    std::string found;
    for (unsigned int i = 0; i < size; ++i) {
        found += kDigits[digest[i] >> 4];
        found += kDigits[digest[i] & 15];
    }
    if (found == state_->wanted) return {};
    return fail(
        ErrorKind::invalid,
        "checksum mismatch: the image's " + state_->algorithm + " is " + found + ", not " + state_->wanted +
            ": correct the checksum or the image, then make the DataVolume again"
    );
}

}  // namespace berth::image
