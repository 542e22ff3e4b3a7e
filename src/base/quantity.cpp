#include "base/quantity.hpp"

#include <cctype>
#include <cmath>
#include <limits>

namespace berth {
namespace {

struct Suffix {
    std::string_view text;
    int binary_shift;  // 2^shift, or -1
    int decimal_exponent;
};

constexpr Suffix kSuffixes[] = {
    {"Ki", 10, 0 },
    {"Mi", 20, 0 },
    {"Gi", 30, 0 },
    {"Ti", 40, 0 },
    {"Pi", 50, 0 },
    {"Ei", 60, 0 },
    {"n",  -1, -9},
    {"u",  -1, -6},
    {"m",  -1, -3},
    {"",   -1, 0 },
    {"k",  -1, 3 },
    {"M",  -1, 6 },
    {"G",  -1, 9 },
    {"T",  -1, 12},
    {"P",  -1, 15},
    {"E",  -1, 18},
};

std::unexpected<Error> not_a_quantity(std::string_view written) {
    return fail(
        ErrorKind::invalid,
        "\"" + std::string(written) +
            "\" is not a quantity: write a number with an optional suffix such as 500Mi, 2Gi or 100m"
    );
}

}  // namespace

Result<std::int64_t> milli_value(std::string_view written) {
    std::string_view rest = written;
    bool negative = false;
    if (!rest.empty() && (rest.front() == '+' || rest.front() == '-')) {
        negative = rest.front() == '-';
        rest.remove_prefix(1);
    }
    // Digits are gathered as one integer and a count of decimals, so that no floating point rounds them.
    __extension__ using Wide = unsigned __int128;
    Wide digits = 0;
    int decimals = 0;
    bool seen_digit = false;
    bool seen_point = false;
    std::size_t used = 0;
    for (; used < rest.size(); ++used) {
        const char c = rest[used];
        if (c == '.' && !seen_point) {
            seen_point = true;
        } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
            seen_digit = true;
            if (digits < (static_cast<Wide>(1) << 90)) {
                digits = digits * 10 + static_cast<unsigned>(c - '0');
                if (seen_point) ++decimals;
            } else if (!seen_point) {
                return negative ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
            }
        } else {
            break;
        }
    }
    if (!seen_digit) return not_a_quantity(written);
    rest.remove_prefix(used);

    int exponent = 3 - decimals;  // the result is in thousandths
    int shift = 0;
    bool known = false;
    if (rest.size() > 1 && (rest.front() == 'e' || rest.front() == 'E')) {
        int value = 0;
        bool minus = false;
        std::size_t at = 1;
        if (rest[at] == '-' || rest[at] == '+') minus = rest[at++] == '-';
        known = at < rest.size() && rest.size() - at <= 3;
        for (; known && at < rest.size(); ++at) {
            known = std::isdigit(static_cast<unsigned char>(rest[at])) != 0;
            value = value * 10 + (rest[at] - '0');
        }
        exponent += minus ? -value : value;
    }
    for (const Suffix& suffix : kSuffixes) {
        if (known || suffix.text != rest) continue;
        known = true;
        if (suffix.binary_shift >= 0) shift = suffix.binary_shift;
        exponent += suffix.decimal_exponent;
    }
    if (!known) return not_a_quantity(written);

    Wide amount = digits;
    constexpr Wide kMax = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
    for (; shift > 0 && amount <= kMax << 40; --shift) amount <<= 1;
    bool clamped = shift > 0;
    for (; exponent > 0 && !clamped; --exponent) {
        if (amount > kMax << 40) clamped = true;
        amount *= 10;
    }
    for (; exponent < 0; ++exponent) amount = (amount + 9) / 10;
    if (clamped || amount > kMax) amount = kMax;
    const auto value = static_cast<std::int64_t>(amount);
    return negative ? -value : value;
}

Result<Bytes> to_bytes(const Quantity& quantity) {
    TRY(const std::int64_t milli, milli_value(quantity.written));
    if (milli == std::numeric_limits<std::int64_t>::max()) {
        // Amounts above 8 PiB do not fit in thousandths; no disk here is that large.
        return Bytes{std::numeric_limits<std::int64_t>::max()};
    }
    return Bytes{milli >= 0 ? (milli + 999) / 1000 : milli / 1000};
}

Result<MilliCpu> to_milli_cpu(const Quantity& quantity) {
    TRY(const std::int64_t milli, milli_value(quantity.written));
    return MilliCpu{milli};
}

Bytes bytes_or_zero(const Quantity& quantity) { return to_bytes(quantity).value_or(Bytes{}); }

MilliCpu milli_cpu_or_zero(const Quantity& quantity) { return to_milli_cpu(quantity).value_or(MilliCpu{}); }

Quantity quantity_of(Bytes bytes) {
    for (int i = 5; i >= 0; --i) {
        const Suffix& suffix = kSuffixes[i];
        const std::int64_t unit = std::int64_t{1} << suffix.binary_shift;
        if (bytes.value != 0 && bytes.value % unit == 0) {
            return {std::to_string(bytes.value / unit) + std::string(suffix.text)};
        }
    }
    return {std::to_string(bytes.value)};
}

Quantity quantity_of(MilliCpu cpu) {
    if (cpu.value % 1000 == 0) return {std::to_string(cpu.value / 1000)};
    return {std::to_string(cpu.value) + "m"};
}

bool same_amount(const Quantity& a, const Quantity& b) {
    if (a.written == b.written) return true;
    const auto left = milli_value(a.written);
    const auto right = milli_value(b.written);
    return left && right && *left == *right;
}

}  // namespace berth
