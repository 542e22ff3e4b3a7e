// Programs that the worker runs: qemu-img to its end, nbdkit beside it. Each has limits, and none outlives the worker.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace berth::image {

struct Command {
    std::vector<std::string> argv;                         ///< argv[0] is found in PATH
    std::chrono::milliseconds silence_max{600'000};        ///< without a byte of output: killed
    std::int64_t memory_max = 0;                           ///< bytes of address space; 0 = unlimited
    std::int64_t cpu_seconds_max = 0;                      ///< 0 = unlimited
    std::function<void(std::string_view)> on_output = {};  ///< standard output as it comes
};

struct Ended {
    int exit_code = 0;   ///< 128 + signal when it was killed
    std::string output;  ///< the last 1 MiB
    std::string errors;  ///< the last 64 KiB, trimmed
};

/// Runs a program to its end. Errors  io: it cannot be started; timeout: killed after its silence
Result<Ended> run(const Command& command);

/// A program that runs until this is destroyed.
class Background {
public:
    static Result<Background> start(const Command& command);
    ~Background();
    Background(Background&& other) noexcept;
    Background& operator=(Background&&) = delete;

    [[nodiscard]] bool is_running();
    /// What it has written to standard error so far.
    [[nodiscard]] std::string errors();

private:
    Background(pid_t pid, Fd errors) : pid_(pid), errors_fd_(std::move(errors)) {}
    pid_t pid_ = -1;
    Fd errors_fd_;
    std::string errors_;
};

}  // namespace berth::image
