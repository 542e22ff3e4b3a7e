#include "kube/http/answer.hpp"

#include <array>
#include <cstdio>

namespace berth::kube::http {
namespace {

std::string_view phrase(int code) {
    switch (code) {
        case 200: return "OK";
        case 201: return "Created";
        case 202: return "Accepted";
        case 204: return "No Content";
        case 301: return "Moved Permanently";
        case 304: return "Not Modified";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 406: return "Not Acceptable";
        case 409: return "Conflict";
        case 410: return "Gone";
        case 413: return "Request Entity Too Large";
        case 414: return "URI Too Long";
        case 415: return "Unsupported Media Type";
        case 422: return "Unprocessable Entity";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 503: return "Service Unavailable";
        case 504: return "Gateway Timeout";
        default: return "Status";
    }
}

// Within one header at most 4096 bytes of warnings; the rest is cut (2.22).
constexpr std::size_t kWarningsMax = 4096;

std::string quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c < ' ' && c >= 0 ? ' ' : c;
    }
    return out + "\"";
}

void add_header(std::string& head, std::string_view name, std::string_view value) {
    head.append(name).append(": ");
    // A line break in a value would let it forge headers.
    for (const char c : value) head += c == '\r' || c == '\n' ? ' ' : c;
    head += "\r\n";
}

bool has_body(int code) { return code >= 200 && code != 204 && code != 304; }

}  // namespace

Response status_answer(int code, std::string_view reason, std::string message) {
    json::Object status{
        {"kind",       "Status"          },
        {"apiVersion", "v1"              },
        {"metadata",   json::Object()    },
        {"status",     "Failure"         },
        {"message",    std::move(message)},
        {"reason",     reason            },
        {"details",    json::Object()    },
        {"code",       code              },
    };
    Response response{.code = code};
    if (code == 429 || code == 503) {
        response.headers["retry-after"] = "1";
        status["details"] = json::Object{
            {"retryAfterSeconds", 1}
        };
    }
    response.document = std::make_shared<const json::Value>(std::move(status));
    return response;
}

std::string print_head(const Response& response, const Occasion& occasion) {
    std::string head = "HTTP/1.1 " + std::to_string(response.code) + " " + std::string(phrase(response.code)) + "\r\n";
    const auto add_default = [&](const std::string& name, std::string_view value) {
        if (!response.headers.contains(name)) add_header(head, name, value);
    };
    add_default("audit-id", occasion.audit_id);
    add_default("cache-control", "no-cache, private");
    if (response.document) add_default("content-type", "application/json");
    add_default("date", http_date(occasion.now));
    for (const auto& [name, value] : response.headers) {
        if (name == "content-length" || name == "transfer-encoding" || name == "connection") continue;
        add_header(head, name, value);
    }
    std::size_t warned = 0;
    for (const std::string& warning : response.warnings) {
        warned += warning.size();
        if (warned > kWarningsMax) break;
        add_header(head, "warning", "299 - " + quoted(warning));
    }
    if (occasion.framing == Framing::chunks) add_header(head, "transfer-encoding", "chunked");
    if (occasion.framing == Framing::length && has_body(response.code)) {
        add_header(head, "content-length", std::to_string(occasion.length));
    }
    if (!occasion.keeps_alive) add_header(head, "connection", "close");
    return head + "\r\n";
}

std::string print_body(const Response& response, bool is_pretty) {
    if (!has_body(response.code)) return "";
    if (!response.document) return response.body;
    return (is_pretty ? json::print_pretty(*response.document) : json::print(*response.document)) + "\n";
}

bool wants_pretty(const Request& request) {
    if (const auto pretty = request.parameter("pretty")) return *pretty != "0" && *pretty != "false";
    const std::string program = request.header("user-agent");
    return program.starts_with("curl") || program.starts_with("Wget") || program.starts_with("Mozilla");
}

std::string print_chunk(std::string_view bytes) {
    std::array<char, 24> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
    std::string chunk = size.data();
    return chunk.append(bytes).append("\r\n");
}

std::string http_date(Timestamp at) {
    constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto day = std::chrono::floor<std::chrono::days>(at);
    const std::chrono::year_month_day date(day);
    const std::chrono::hh_mm_ss time(std::chrono::floor<std::chrono::seconds>(at - day));
    std::array<char, 64> text{};
    std::snprintf(
        text.data(),
        text.size(),
        "%s, %02u %s %d %02d:%02d:%02d GMT",
        kDays[std::chrono::weekday(day).c_encoding()],
        static_cast<unsigned>(date.day()),
        kMonths[static_cast<unsigned>(date.month()) - 1],
        static_cast<int>(date.year()),
        static_cast<int>(time.hours().count()),
        static_cast<int>(time.minutes().count()),
        static_cast<int>(time.seconds().count())
    );
    return text.data();
}

}  // namespace berth::kube::http
