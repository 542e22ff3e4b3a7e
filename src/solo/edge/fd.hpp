// An owned file descriptor, and errno as an Error.
#pragma once

#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace berth::solo {

class Fd {
public:
    Fd() = default;
    explicit Fd(int fd) : fd_(fd) {}
    Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Fd& operator=(Fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    Fd(const Fd&) = delete;
    Fd& operator=(const Fd&) = delete;
    ~Fd();

    [[nodiscard]] int get() const { return fd_; }
    [[nodiscard]] bool is_open() const { return fd_ >= 0; }
    int release() { return std::exchange(fd_, -1); }
    void close();

private:
    int fd_ = -1;
};

/// The system's error `number` as a failure: "context: No such file or directory".
std::unexpected<Error> fail_errno(std::string_view context, int number);

}  // namespace berth::solo
