#include "kube/http/target.hpp"

#include <ranges>

namespace berth::kube::http {
namespace {

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

// "https://host:1/api?x=1" (what proxies send) is read as "/api?x=1".
std::string_view without_authority(std::string_view target) {
    for (const std::string_view scheme : {"https://", "http://"}) {
        if (!target.starts_with(scheme)) continue;
        const std::size_t slash = target.find('/', scheme.size());
        return slash == std::string_view::npos ? "/" : target.substr(slash);
    }
    return target;
}

}  // namespace

std::optional<std::string> decode_query_part(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+') {
            out += ' ';
        } else if (text[i] != '%') {
            out += text[i];
        } else {
            const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
            const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0) return std::nullopt;
            out += static_cast<char>(high * 16 + low);
            i += 2;
        }
    }
    return out;
}

std::string encode_query_part(std::string_view text) {
    constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
    constexpr std::string_view kHex = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (kPlain.find(c) != std::string_view::npos) {
            out += c;
        } else {
            out += {'%', kHex[byte >> 4], kHex[byte & 15]};
        }
    }
    return out;
}

bool read_target(std::string_view target, Request& request) {
    target = without_authority(target);
    if (!target.starts_with('/')) return false;
    const std::size_t mark = target.find('?');
    request.path = std::string(target.substr(0, mark));
    if (mark == std::string_view::npos) return true;
    for (const auto part : std::views::split(target.substr(mark + 1), '&')) {
        const std::string_view pair(part.begin(), part.end());
        if (pair.empty()) continue;
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const auto name = decode_query_part(pair.substr(0, equals));
        const auto value = decode_query_part(equals == pair.size() ? "" : pair.substr(equals + 1));
        if (name && value) request.query.emplace_back(*name, *value);
    }
    return true;
}

std::string print_target(const Request& request) {
    std::string target = request.path;
    char separator = '?';
    for (const auto& [name, value] : request.query) {
        target += separator + encode_query_part(name) + "=" + encode_query_part(value);
        separator = '&';
    }
    return target;
}

}  // namespace berth::kube::http
