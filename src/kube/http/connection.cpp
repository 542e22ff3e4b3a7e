// The life of a connection, its requests, and answers that are one message. Streams: connection_streams.cpp.
#include "kube/http/connection.hpp"

#include <boost/system/system_error.hpp>

#include "base/ranges.hpp"
#include "kube/http/keep.hpp"
#include "kube/http/target.hpp"

namespace berth::kube::http {
namespace {

using std::chrono::seconds;

constexpr Duration kHandshakeMax = seconds(10);
constexpr Duration kIdleMax = seconds(180);    // longer than clients keep idle connections
constexpr Duration kReceiveMax = seconds(60);  // for a body, and for the reader of an answer
constexpr Duration kGoodbyeMax = seconds(1);
constexpr Duration kDiscardMax = seconds(5);
constexpr Duration kGuardRound = seconds(30);
constexpr std::size_t kDiscardBytesMax = 64 << 20;

std::string bearer_of(const Request& request) {
    constexpr std::string_view kScheme = "bearer ";
    const std::string value = request.header("authorization");
    const bool is_bearer =
        value.size() > kScheme.size() &&
        std::ranges::equal(kScheme, std::string_view(value).substr(0, kScheme.size()), [](char a, char b) {
            return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b);
        });
    return is_bearer ? value.substr(kScheme.size()) : token_in_subprotocols(request.header("sec-websocket-protocol"));
}

/// The user in whose name an administrator asks. nullopt: the asker may not.
/// Source: https://kubernetes.io/docs/reference/access-authn-authz/authentication/#user-impersonation
std::optional<User> impersonated(const User& asker, const Request& request) {
    if (!contains(asker.groups, "system:masters")) return {};
    User out{request.header(kImpersonateUser), {}};
    const std::string groups = request.header(kImpersonateGroup);
    for (std::string_view rest = groups; !rest.empty();) {
        const std::size_t end = std::min(rest.find(", "), rest.size());
        out.groups.emplace_back(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    if (!contains(out.groups, "system:authenticated")) out.groups.emplace_back("system:authenticated");
    return out;
}

Response refusal_of(Progress why, std::uint64_t body_max) {
    switch (why) {
        case Progress::head_too_large:
            return status_answer(431, "BadRequest", "request header fields too large: limit is 65536 bytes");
        case Progress::target_too_long:
            return status_answer(414, "BadRequest", "request URI too long: limit is 16384 bytes");
        case Progress::body_too_large: {
            const std::string limit = std::to_string(body_max);
            return status_answer(413, "RequestEntityTooLarge", "Request entity too large: limit is " + limit);
        }
        case Progress::malformed:
        case Progress::wants_more:
        case Progress::head:
        case Progress::done: break;
    }
    return status_answer(400, "BadRequest", "the request is not HTTP/1.1");
}

bool is_read(std::string_view method) { return method == "GET" || method == "HEAD" || method == "OPTIONS"; }

// A place among the requests that are handled at once.
class Place {
public:
    Place(std::size_t& taken, std::size_t max) : taken_(taken), is_free_(taken < max) { taken_ += is_free_ ? 1 : 0; }
    ~Place() { taken_ -= is_free_ ? 1 : 0; }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    [[nodiscard]] bool is_free() const { return is_free_; }

private:
    std::size_t& taken_;
    bool is_free_;
};

}  // namespace

Connection::Connection(Wire wire, Service& service)
    : service_(service), wire_(std::move(wire)), inbox_(service.executor, wire_), children_(service.executor) {}

void Connection::stop() {
    is_stopping_ = true;
    if (!is_handling_) wire_.hang_up();
}

Task<void> Connection::run() {
    cut_after(kHandshakeMax);
    children_.spawn("guard", guard());
    try {
        co_await converse();
    } catch (const boost::system::system_error&) {
        is_stopping_ = true;  // cancelled: what follows is cleanup, and it must not be interrupted
    }
    co_await keep_going();
    wire_.hang_up();
    co_await inbox_.close();
    co_await children_.close();
}

// One timer for every limit of the connection: it looks again at most every 30 s, so a cut may be that much late.
Task<void> Connection::guard() {
    for (;;) {
        const Monotonic now = service_.clock.monotonic();
        if (now >= cut_at_) break;
        co_await service_.clock.sleep_until(std::min(cut_at_, now + kGuardRound));
    }
    wire_.hang_up();
}

Task<void> Connection::converse() {
    const Result<void> greeted = co_await wire_.accept_handshake();
    if (!greeted) {
        service_.log.debug(
            "tls handshake failed",
            {
                {"error", greeted.error().message}
        }
        );
        co_return;
    }
    peer_ = wire_.peer();
    const Limits limits{.body_max = service_.options.body_max};
    bool goes_on = true;
    while (goes_on && !is_stopping_) {
        cut_after(kIdleMax);
        RequestParser parser(limits);
        const Progress progress = co_await receive(parser);
        if (progress == Progress::wants_more) co_return;  // the client left
        Exchange exchange;
        exchange.keeps_alive = parser.keeps_alive();
        exchange.is_http_1_0 = parser.is_http_1_0();
        exchange.wants_websocket = parser.wants_websocket();
        std::optional<Request> request;
        if (progress == Progress::done) request = parser.take();
        if (!request) {
            co_await refuse(progress);
            co_return;
        }
        exchange.request = *std::move(request);
        goes_on = co_await serve(exchange);
    }
    if (!is_stopping_) co_await finishes_within(service_.clock, kGoodbyeMax, wire_.finish());
}

Task<Progress> Connection::receive(RequestParser& parser) {
    for (;;) {
        const Progress progress = parser.feed(inbox_.bytes);
        if (progress == Progress::head) {
            cut_after(kReceiveMax);
            if (parser.expects_continue() && inbox_.bytes.empty()) co_await write("HTTP/1.1 100 Continue\r\n\r\n");
            continue;
        }
        if (progress != Progress::wants_more) co_return progress;
        const bool arrived = co_await inbox_.more();
        if (!arrived) co_return Progress::wants_more;
    }
}

Task<void> Connection::refuse(Progress why) {
    Exchange exchange{.keeps_alive = false};
    co_await send(exchange, refusal_of(why, service_.options.body_max));
    // Many clients read no answer before they have sent everything; cut early, they would see a reset and not the
    // reason.
    co_await finishes_within(service_.clock, kDiscardMax, discard());
}

Task<void> Connection::discard() {
    std::size_t total = 0;
    bool goes_on = true;
    while (goes_on && total < kDiscardBytesMax) {
        total += inbox_.bytes.size();
        inbox_.bytes.clear();
        goes_on = co_await inbox_.more();
    }
}

Task<std::optional<User>> Connection::user_of(const Request& request) {
    Credentials credentials;
    if (peer_) {
        if (!peer_->problem.empty()) {
            service_.log.info(
                "client certificate refused",
                {
                    {"name",  peer_->common_name},
                    {"error", peer_->problem    }
            }
            );
            co_return std::nullopt;
        }
        credentials.certificate = User{peer_->common_name, peer_->organizations};
    }
    credentials.bearer_token = bearer_of(request);
    co_return co_await service_.options.authenticator(std::move(credentials));
}

Task<bool> Connection::serve(Exchange& exchange) {
    const Monotonic begun = service_.clock.monotonic();
    std::optional<User> user = co_await user_of(exchange.request);
    if (!user) co_return co_await send(exchange, status_answer(401, "Unauthorized", "Unauthorized"));
    if (const std::string name = exchange.request.header(kImpersonateUser); !name.empty()) {
        const std::string asker = user->name;
        user = impersonated(*user, exchange.request);
        if (!user) {
            const std::string why = "users \"" + name + "\" is forbidden: User \"" + asker +
                                    "\" cannot impersonate resource \"users\": only system:masters can";
            co_return co_await send(exchange, status_answer(403, "Forbidden", why));
        }
    }
    exchange.request.user = *std::move(user);
    bool goes_on = false;
    switch (service_.handler.shape(exchange.request)) {
        case Shape::unary: goes_on = co_await serve_unary(exchange); break;
        case Shape::watch: goes_on = co_await serve_watch(exchange); break;
        case Shape::stream: goes_on = co_await serve_stream(exchange); break;
        case Shape::duplex: goes_on = co_await serve_duplex(exchange); break;
    }
    const Request& request = exchange.request;
    const auto took = std::to_string((service_.clock.monotonic() - begun).count());
    service_.log.debug(
        "request",
        {
            {"method", request.method           },
            {"target", print_target(request)    },
            {"user",   request.user.name        },
            {"code",   std::to_string(answered_)},
            {"us",     took                     }
    }
    );
    co_return goes_on;
}

Task<void> Connection::until_gone_or_late(bool is_upgrade, bool& is_late) {
    const Duration limit = service_.options.answer_within;
    bool is_gone = false;
    if (is_upgrade) {
        co_await service_.clock.sleep_for(limit);
    } else {
        is_gone = co_await finishes_within(service_.clock, limit, inbox_.until_gone());
    }
    is_late = !is_gone;
}

Task<bool> Connection::serve_unary(Exchange& exchange) {
    const bool reads = is_read(exchange.request.method);
    const ListenerOptions& options = service_.options;
    const Place place(reads ? service_.reads : service_.writes, reads ? options.reads_max : options.writes_max);
    if (!place.is_free()) {
        constexpr const char* kBusy = "too many requests, please try again later";
        co_return co_await send(exchange, status_answer(429, "TooManyRequests", kBusy));
    }
    is_handling_ = true;
    std::optional<Response> response;
    bool is_late = false;
    cut_after(options.answer_within + kReceiveMax);
    Task<Response> work = service_.handler.handle(exchange.request);
    co_await finishes_before(until_gone_or_late(false, is_late), keep(std::move(work), response));
    bool goes_on = false;
    if (response) {
        goes_on = co_await send(exchange, *std::move(response));
    } else {
        goes_on = co_await send_late(exchange, is_late);
    }
    is_handling_ = false;
    co_return goes_on;
}

Task<bool> Connection::send_late(const Exchange& exchange, bool is_late) {
    if (!is_late) co_return false;  // nobody is there to read it
    constexpr const char* kLate = "Timeout: request did not complete within the allotted timeout";
    co_return co_await send(exchange, status_answer(504, "Timeout", kLate));
}

Occasion Connection::occasion(const Exchange& exchange, Framing framing) {
    const std::string given = exchange.request.header("audit-id");
    return {
        .now = service_.clock.now(),
        .audit_id = given.empty() ? new_uid(service_.entropy).value : given,
        .keeps_alive = exchange.keeps_alive && !is_stopping_ && framing != Framing::to_end,
        .framing = framing,
    };
}

Task<bool> Connection::send(const Exchange& exchange, Response response) {
    const std::string body = print_body(response, wants_pretty(exchange.request));
    answered_ = response.code;
    Occasion now = occasion(exchange, Framing::length);
    now.length = body.size();
    std::string message = print_head(response, now);
    if (exchange.request.method != "HEAD") message += body;
    const bool sent = co_await write(message);
    co_return sent&& now.keeps_alive;
}

Task<bool> Connection::write(std::string_view bytes) {
    cut_after(kReceiveMax);
    const Result<void> written = co_await wire_.write(bytes);
    co_return written.has_value();
}

}  // namespace berth::kube::http
