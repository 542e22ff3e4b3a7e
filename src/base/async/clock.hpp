// Port: time. Production reads the system's clocks; the simulation has a clock of its own.
#pragma once

#include "base/async/task.hpp"
#include "base/time.hpp"

namespace berth {

/// Time since an arbitrary start that never jumps.
using Monotonic = std::chrono::time_point<std::chrono::steady_clock, std::chrono::microseconds>;

class Clock {
public:
    virtual ~Clock() = default;

    [[nodiscard]] virtual Timestamp now() const = 0;
    [[nodiscard]] virtual Monotonic monotonic() const = 0;

    /// Returns at or after `at`; leaves with Asio's operation_aborted when the caller is cancelled.
    virtual Task<void> sleep_until(Monotonic at) = 0;

    Task<void> sleep_for(Duration span) { return sleep_until(monotonic() + span); }
};

}  // namespace berth
