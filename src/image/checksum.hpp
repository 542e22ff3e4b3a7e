// The requested checksum of an image, over the bytes as they were downloaded. Contract: docs/spec/datavolumes.md 3.5
#pragma once

#include <memory>
#include <string>

#include "image/stage.hpp"

namespace berth::image {

class Checksum {
public:
    /// `wanted` is "sha256:<hex>". Errors  invalid: not a checksum we know
    static Result<Checksum> of(const std::string& wanted);
    ~Checksum();
    Checksum(Checksum&&) noexcept;
    Checksum& operator=(Checksum&&) noexcept;

    void add(Chunk chunk);
    /// Errors  invalid: "checksum mismatch", with both values
    Result<void> verify();

private:
    struct State;
    explicit Checksum(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace berth::image
