// From an answer that failed to an Error: which kind each code and reason is (docs/spec/kube-api.md 2.20, 4.2).
#include "kube/api.hpp"

namespace berth::kube {
namespace {

ErrorKind kind_of(int code, std::string_view reason) {
    switch (code) {
        case 401:
        case 403: return ErrorKind::forbidden;
        case 404: return ErrorKind::not_found;
        case 408:
        case 504: return ErrorKind::timeout;
        case 409: return reason == "AlreadyExists" ? ErrorKind::already_exists : ErrorKind::conflict;
        case 410: return ErrorKind::gone;
        case 429: return ErrorKind::unavailable;
        default: return code >= 500 ? ErrorKind::unavailable : ErrorKind::invalid;
    }
}

// Proxies and gateways answer with pages of their own: the first line is enough to recognise them.
std::string first_line(std::string_view body) {
    constexpr std::size_t kLineMax = 200;
    return std::string(body.substr(0, std::min({body.find('\n'), body.size(), kLineMax})));
}

Error make_error(int code, std::string_view reason, std::string message) {
    if (message.empty()) message = "the server answered with code " + std::to_string(code);
    return {kind_of(code, reason), std::move(message)};
}

}  // namespace

Error error_of_status(const json::Value& status) {
    const auto code = static_cast<int>(json::integer_at(status, "/code").value_or(500));
    return make_error(code, json::text_at(status, "/reason"), std::string(json::text_at(status, "/message")));
}

Error error_of(const Response& response) {
    Document document = response.document;
    if (!document) {
        auto parsed = json::parse(response.body);
        if (!parsed) return make_error(response.code, "", first_line(response.body));
        document = std::make_shared<const json::Value>(*std::move(parsed));
    }
    // The code of the answer decides, not the one inside it: a gateway may have changed the first alone.
    return make_error(
        response.code, json::text_at(*document, "/reason"), std::string(json::text_at(*document, "/message"))
    );
}

}  // namespace berth::kube
