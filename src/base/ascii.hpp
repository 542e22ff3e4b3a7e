// Text without regard to a locale: what protocols mean by "case-insensitive" and "white space".
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace berth {

/// A to Z in lower case; every other byte as it is.
inline std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return out;
}

/// Without the `blanks` at both ends.
inline std::string_view trimmed(std::string_view text, std::string_view blanks = " ") {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

}  // namespace berth
