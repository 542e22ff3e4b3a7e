#include "base/names.hpp"

#include <algorithm>
#include <ranges>

namespace berth {
namespace {

constexpr std::size_t kLabelMax = 63;
constexpr std::size_t kSubdomainMax = 253;

bool is_lower_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_alnum(char c) { return is_lower_alnum(c) || (c >= 'A' && c <= 'Z'); }

bool is_dns_part(std::string_view text) {
    return !text.empty() && is_lower_alnum(text.front()) && is_lower_alnum(text.back()) &&
           std::ranges::all_of(text, [](char c) { return is_lower_alnum(c) || c == '-'; });
}

}  // namespace

bool is_dns_label(std::string_view text) { return text.size() <= kLabelMax && is_dns_part(text); }

bool is_dns_subdomain(std::string_view text) {
    if (text.empty() || text.size() > kSubdomainMax) return false;
    return std::ranges::all_of(std::views::split(text, '.'), [](const auto& part) {
        return is_dns_part(std::string_view(part));
    });
}

bool is_label_word(std::string_view text) {
    return !text.empty() && text.size() <= kLabelMax && is_alnum(text.front()) && is_alnum(text.back()) &&
           std::ranges::all_of(text, [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_qualified_name(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return is_label_word(text);
    return is_dns_subdomain(text.substr(0, slash)) && is_label_word(text.substr(slash + 1));
}

}  // namespace berth
