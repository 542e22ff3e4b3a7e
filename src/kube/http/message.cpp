// The two parsers, both a shell around Beast's: it sees bytes only, so no stream is instantiated here.
#include "kube/http/message.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/rfc6455.hpp>

#include "base/ascii.hpp"
#include "kube/http/target.hpp"

namespace berth::kube::http {
namespace {
namespace beast = boost::beast::http;

// A header that is repeated means the same as one with its values in a list (RFC 9110 5.2).
std::map<std::string, std::string> headers_of(const beast::fields& fields) {
    std::map<std::string, std::string> out;
    for (const auto& field : fields) {
        std::string& value = out[lower(field.name_string())];
        if (!value.empty()) value += ", ";
        value += field.value();
    }
    return out;
}

Progress progress_of(const boost::system::error_code& error) {
    if (error == beast::error::header_limit) return Progress::head_too_large;
    if (error == beast::error::body_limit) return Progress::body_too_large;
    return Progress::malformed;
}

template <bool kIsRequest>
struct Parser {
    beast::parser<kIsRequest, beast::string_body> beast;
    bool said_head = false;

    Progress feed(std::string& bytes) {
        while (!beast.is_done()) {
            if (beast.is_header_done() && !std::exchange(said_head, true)) {
                beast.eager(true);
                return Progress::head;
            }
            if (bytes.empty()) return Progress::wants_more;
            boost::system::error_code error;
            const std::size_t used = beast.put(boost::asio::buffer(bytes), error);
            bytes.erase(0, used);
            if (error == beast::error::need_more) return Progress::wants_more;
            if (error) return progress_of(error);
        }
        return Progress::done;
    }
};

}  // namespace

struct RequestParser::State : Parser<true> {
    std::size_t target_max = 0;
    [[nodiscard]] const auto& message() const { return beast.get(); }
};

RequestParser::RequestParser(const Limits& limits) : state_(std::make_unique<State>()) {
    state_->beast.header_limit(limits.head_max);
    state_->beast.body_limit(limits.body_max);
    state_->target_max = limits.target_max;
}

RequestParser::~RequestParser() = default;

Progress RequestParser::feed(std::string& bytes) {
    const Progress progress = state_->feed(bytes);
    if (state_->beast.is_header_done() && state_->message().target().size() > state_->target_max) {
        return Progress::target_too_long;
    }
    return progress;
}

bool RequestParser::has_begun() const { return state_->beast.got_some(); }
bool RequestParser::expects_continue() const {
    return boost::beast::iequals(state_->message()[beast::field::expect], "100-continue");
}
bool RequestParser::keeps_alive() const { return state_->message().keep_alive(); }
bool RequestParser::is_http_1_0() const { return state_->message().version() < 11; }
bool RequestParser::wants_websocket() const { return boost::beast::websocket::is_upgrade(state_->message()); }

std::optional<Request> RequestParser::take() {
    auto& message = state_->beast.get();
    Request request;
    request.method = std::string(message.method_string());
    if (!read_target(std::string_view(message.target().data(), message.target().size()), request)) return std::nullopt;
    request.headers = headers_of(message.base());
    request.body = std::move(message.body());
    return request;
}

struct ResponseParser::State : Parser<false> {};

ResponseParser::ResponseParser(std::uint64_t body_max) : state_(std::make_unique<State>()) {
    state_->beast.header_limit(Limits().head_max);
    state_->beast.body_limit(body_max);
}

ResponseParser::~ResponseParser() = default;

Progress ResponseParser::feed(std::string& bytes) { return state_->feed(bytes); }

Progress ResponseParser::feed_end() {
    boost::system::error_code error;
    if (!state_->beast.got_some()) return Progress::malformed;
    state_->beast.put_eof(error);
    return error ? Progress::malformed : Progress::done;
}

bool ResponseParser::keeps_alive() const { return state_->beast.get().keep_alive(); }

Response ResponseParser::head() const {
    const auto& message = state_->beast.get();
    Response response;
    response.code = static_cast<int>(message.result_int());
    response.headers = headers_of(message.base());
    return response;
}

std::string ResponseParser::take_body() { return std::exchange(state_->beast.get().body(), std::string()); }

}  // namespace berth::kube::http
