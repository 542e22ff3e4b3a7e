#include "kube/http/link.hpp"

#include <charconv>

#include "kube/http/target.hpp"

namespace berth::kube::http {
namespace {

constexpr std::size_t kReadMax = 16 << 10;
constexpr std::uint64_t kBodyMax = std::uint64_t{1} << 30;  // a list of everything; a watch has no end

Error lost(std::string_view why) {
    return {ErrorKind::unavailable, "the connection to the server was lost: " + std::string(why)};
}

void add_header(std::string& head, std::string_view name, std::string_view value) {
    head.append(name).append(": ");
    for (const char c : value) head += c == '\r' || c == '\n' ? ' ' : c;
    head += "\r\n";
}

}  // namespace

Result<Origin> read_origin(const ClientConfig& config) {
    constexpr std::string_view kScheme = "https://";
    const auto refuse = [&] {
        return fail(ErrorKind::invalid, "\"" + config.server + "\" is no server address: write https://host:port");
    };
    std::string_view rest = config.server;
    if (!rest.starts_with(kScheme)) return refuse();
    rest.remove_prefix(kScheme.size());
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    Origin origin;
    origin.authority = rest.substr(0, slash);
    origin.prefix = rest.substr(slash);
    while (origin.prefix.ends_with('/')) origin.prefix.pop_back();
    std::string_view host = origin.authority;
    const std::size_t colon = host.ends_with(']') ? std::string_view::npos : host.rfind(':');
    if (colon != std::string_view::npos) {
        const std::string_view digits = host.substr(colon + 1);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), origin.address.port);
        if (error != std::errc() || end != digits.data() + digits.size()) return refuse();
        host = host.substr(0, colon);
    }
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (host.empty()) return refuse();
    origin.address.host = host;
    origin.address.tls_name = config.tls_server_name;
    return origin;
}

void address_to(const Origin& origin, const ClientConfig& config, const std::string& token, Request& request) {
    request.path = origin.prefix + request.path;
    request.headers["host"] = origin.authority;
    request.headers.try_emplace("user-agent", config.user_agent);
    if (!token.empty()) request.headers["authorization"] = "Bearer " + token;
    if (config.impersonates && !request.user.name.empty()) request.headers[kImpersonateUser] = request.user.name;
}

std::string print_request(const Request& request) {
    const std::string body = request.document ? json::print(*request.document) : request.body;
    std::string message = request.method + " " + print_target(request) + " HTTP/1.1\r\n";
    for (const auto& [name, value] : request.headers) add_header(message, name, value);
    if (request.headers.contains(kImpersonateUser)) {
        for (const std::string& group : request.user.groups) add_header(message, kImpersonateGroup, group);
    }
    if (request.method != "GET" || !body.empty()) add_header(message, "content-length", std::to_string(body.size()));
    return message + "\r\n" + body;
}

std::vector<std::string> read_warnings(std::string_view header) {
    std::vector<std::string> out;
    bool is_inside = false;
    for (std::size_t i = 0; i < header.size(); ++i) {
        if (header[i] == '"') {
            if (!is_inside) out.emplace_back();
            is_inside = !is_inside;
        } else if (is_inside) {
            if (header[i] == '\\' && i + 1 < header.size()) ++i;
            out.back() += header[i];
        }
    }
    return out;
}

Incoming::Incoming(Link link) : link_(std::move(link)), parser_(kBodyMax) {}

Task<Result<void>> Incoming::send(std::string_view message) {
    const Result<void> written = co_await link_.wire.write(message);
    if (!written) co_return std::unexpected(lost(written.error().message));
    co_return Result<void>();
}

// One step: what has arrived is parsed, or more is awaited.
Task<Result<void>> Incoming::read() {
    const std::size_t before = link_.bytes.size();
    const Progress progress = parser_.feed(link_.bytes);
    if (progress == Progress::done) is_done_ = has_head_ = true;
    if (progress == Progress::head) has_head_ = true;
    if (progress == Progress::done || progress == Progress::head) co_return Result<void>();
    if (progress == Progress::wants_more && link_.bytes.size() < before) co_return Result<void>();
    if (progress != Progress::wants_more) co_return std::unexpected(lost("its answer is not HTTP"));
    const Result<std::size_t> got = co_await link_.wire.read(link_.bytes, kReadMax);
    if (!got) co_return std::unexpected(lost(got.error().message));
    has_heard_ = has_heard_ || *got > 0;
    if (*got > 0) co_return Result<void>();
    if (parser_.feed_end() != Progress::done) co_return std::unexpected(lost("it ended in the middle of an answer"));
    is_done_ = has_head_ = true;
    co_return Result<void>();
}

Task<Result<Response>> Incoming::head() {
    while (!has_head_) CO_TRY_DO(co_await read());
    Response head = parser_.head();
    if (const auto warning = head.headers.find("warning"); warning != head.headers.end()) {
        head.warnings = read_warnings(warning->second);
    }
    co_return head;
}

Task<Result<std::optional<std::string>>> Incoming::more() {
    for (;;) {
        std::string body = parser_.take_body();
        if (!body.empty()) co_return std::optional<std::string>(std::move(body));
        if (is_done_) co_return std::optional<std::string>();
        CO_TRY_DO(co_await read());
    }
}

Task<Result<Response>> Incoming::whole() {
    CO_TRY(Response response, co_await head());
    while (!is_done_) CO_TRY_DO(co_await read());
    response.body = parser_.take_body();
    co_return response;
}

std::optional<Link> Incoming::reuse() {
    if (!is_done_ || !parser_.keeps_alive() || !link_.bytes.empty()) return std::nullopt;
    return std::move(link_);
}

}  // namespace berth::kube::http
