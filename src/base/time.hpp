// Wall-clock time and its two wire forms.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

using Timestamp = std::chrono::sys_time<std::chrono::microseconds>;  ///< wall clock, UTC
using Duration = std::chrono::microseconds;

/// "2026-01-02T03:04:05Z" (meta/v1 Time: whole seconds, cut off).
std::string to_rfc3339(Timestamp at);
/// "2026-01-02T03:04:05.000000Z" (meta/v1 MicroTime: always six digits).
std::string to_rfc3339_micro(Timestamp at);
/// Reads RFC 3339 with or without a fraction and with any offset; none when it is not a time.
std::optional<Timestamp> from_rfc3339(std::string_view text);

/// kubectl's short age: "5s", "3m20s", "2h", "4d" (kube-api.md 2.19).
std::string human_duration(Duration age);

}  // namespace berth
