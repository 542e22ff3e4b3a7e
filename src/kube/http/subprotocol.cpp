// What may stand in Sec-WebSocket-Protocol: names of protocols, and a browser's bearer token in disguise.
#include "kube/http/base64.hpp"
#include "kube/http/websocket.hpp"

namespace berth::kube::http {
namespace {

constexpr std::string_view kOurs = "plain.kubevirt.io";
constexpr std::string_view kTokenPrefix = "base64url.bearer.authorization.k8s.io.";

std::vector<std::string_view> parts(std::string_view list) {
    std::vector<std::string_view> out;
    while (!list.empty()) {
        const std::size_t comma = std::min(list.find(','), list.size());
        std::string_view part = list.substr(0, comma);
        while (part.starts_with(' ')) part.remove_prefix(1);
        while (part.ends_with(' ')) part.remove_suffix(1);
        if (!part.empty()) out.push_back(part);
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return out;
}

}  // namespace

std::string choose_subprotocol(std::string_view offered) {
    std::string chosen;
    for (const std::string_view part : parts(offered)) {
        if (part == kOurs) return std::string(part);
        if (chosen.empty() && !part.starts_with(kTokenPrefix)) chosen = part;
    }
    return chosen;
}

std::string token_in_subprotocols(std::string_view offered) {
    for (const std::string_view part : parts(offered)) {
        if (!part.starts_with(kTokenPrefix)) continue;
        std::string text(part.substr(kTokenPrefix.size()));
        for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
        return decode_base64(text).value_or(text);  // what does not decode is certainly a wrong token
    }
    return "";
}

}  // namespace berth::kube::http
