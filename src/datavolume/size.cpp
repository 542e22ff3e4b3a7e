#include "datavolume/size.hpp"

#include <algorithm>
#include <string>

namespace berth::datavolume {
namespace {

constexpr std::int64_t kMib = 1 << 20;

// ceil(value * factor / divisor) without leaving 64 bits for any size that fits in them.
std::int64_t scale_up(std::int64_t value, std::int64_t factor, std::int64_t divisor) {
    const std::int64_t whole = value / divisor;
    const std::int64_t rest = value % divisor;
    return whole * factor + (rest * factor + divisor - 1) / divisor;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::optional<Overhead> parse_overhead(std::string_view text) {
    if (text == "1") return Overhead{1000};
    if (text == "0") return Overhead{0};
    constexpr std::size_t kDecimalsMax = 3;
    if (text.size() < 3 || text.size() > 2 + kDecimalsMax || !text.starts_with("0.")) return {};
    std::int64_t value = 0;
    for (std::size_t i = 2; i < 2 + kDecimalsMax; ++i) {
        if (i < text.size() && !is_digit(text[i])) return {};
        value = value * 10 + (i < text.size() ? text[i] - '0' : 0);
    }
    return Overhead{value};
}

std::string to_string(Overhead overhead) {
    if (overhead.thousandths % 1000 == 0) return std::to_string(overhead.thousandths / 1000);
    std::string decimals = std::to_string(1000 + overhead.thousandths).substr(1);
    while (decimals.ends_with('0')) decimals.pop_back();
    return "0." + decimals;
}

Bytes round_down_to_mib(Bytes size) { return {size.value / kMib * kMib}; }

Bytes round_up_to_mib(Bytes size) { return {(size.value + kMib - 1) / kMib * kMib}; }

Bytes usable_space(Overhead overhead, Bytes available) {
    return round_down_to_mib({scale_up(available.value, 1000, 1000 + overhead.thousandths)});
}

Bytes required_space(Overhead overhead, Bytes size) {
    return {scale_up(round_up_to_mib(size).value, 1000 + overhead.thousandths, 1000)};
}

}  // namespace berth::datavolume
