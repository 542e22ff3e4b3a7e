#include "apiserver/pages.hpp"

namespace berth::apiserver {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::string_view bytes) {
    std::string out;
    unsigned held = 0;
    int bits = 0;
    for (const char c : bytes) {
        held = held << 8 | static_cast<unsigned char>(c);
        bits += 8;
        while (bits >= 6) {
            bits -= 6;
            out += kAlphabet[held >> bits & 63];
        }
        held &= (1u << bits) - 1;
    }
    if (bits > 0) out += kAlphabet[held << (6 - bits) & 63];
    return out;
}

std::optional<std::string> decode(std::string_view text) {
    std::string out;
    unsigned held = 0;
    int bits = 0;
    for (const char c : text) {
        const std::size_t digit = kAlphabet.find(c);
        if (digit == std::string_view::npos) return {};
        held = held << 6 | static_cast<unsigned>(digit);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        out += static_cast<char>(held >> bits & 255);
        held &= (1u << bits) - 1;
    }
    return out;
}

}  // namespace

std::string print(const Continuation& continuation) {
    json::Object token{
        {"v",  "meta.k8s.io/v1"},
        {"rv", continuation.at }
    };
    token["start"] = (continuation.ns.empty() ? "" : continuation.ns + "/") + continuation.name + std::string(1, '\0');
    return encode(json::print(json::Value(std::move(token))));
}

Outcome<Continuation> read_continuation(std::string_view token) {
    while (token.ends_with('=')) token.remove_suffix(1);
    const auto text = decode(token);
    const auto parsed = text ? json::parse(*text) : Result<json::Value>(json::Value());
    if (!text || !parsed || json::text_at(*parsed, "/v") != "meta.k8s.io/v1") {
        return refuse(bad_request("continue key is not valid: " + quoted(token)));
    }
    Continuation out;
    out.at = json::integer_at(*parsed, "/rv").value_or(0);
    std::string start(json::text_at(*parsed, "/start"));
    if (out.at == 0 || start.empty()) return refuse(bad_request("continue key is not valid: " + quoted(token)));
    if (start.back() == '\0') start.pop_back();
    const std::size_t slash = start.find('/');
    if (slash != std::string::npos) out.ns = start.substr(0, slash);
    out.name = slash == std::string::npos ? start : start.substr(slash + 1);
    return out;
}

}  // namespace berth::apiserver
