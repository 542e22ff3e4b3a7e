// How large a claim must be for a disk, and a disk may be for a volume. Exact integers, no floating point.
// Contract: docs/spec/datavolumes.md 3.7
#pragma once

#include <optional>
#include <string_view>

#include "base/text.hpp"

namespace berth::datavolume {

/// The share of a file system that is not for the disk image, in thousandths of the image: 60 is "0.06".
struct Overhead {
    std::int64_t thousandths = 60;
    auto operator<=>(const Overhead&) const = default;
};

/// Reads "0", "0.06", "1": at most three decimals, between 0 and 1. None when it is anything else.
std::optional<Overhead> parse_overhead(std::string_view text);
std::string to_string(Overhead overhead);

Bytes round_down_to_mib(Bytes size);
Bytes round_up_to_mib(Bytes size);

/// The largest disk image that a file system with this much room takes: floor to MiB of ceil(available / (1 +
/// overhead)).
Bytes usable_space(Overhead overhead, Bytes available);
/// The claim that holds a disk of this size: ceil(size up to MiB * (1 + overhead)).
Bytes required_space(Overhead overhead, Bytes size);

}  // namespace berth::datavolume
