#include "kube/http/websocket.hpp"

#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/stream.hpp>

#include "kube/http/target.hpp"
#include "kube/http/tls_end.hpp"

namespace berth::kube::http {
namespace {
namespace asio = boost::asio;
namespace beast = boost::beast;
namespace ws = boost::beast::websocket;

constexpr std::size_t kReadMax = 64 << 10;
constexpr std::size_t kMessageMax = 32 << 20;

Error io_error(std::string_view what, const boost::system::error_code& code) {
    return {ErrorKind::io, std::string(what) + ": " + code.message()};
}

}  // namespace

// No per-message compression: it is not offered, and one that is offered is not taken.
struct WebSocket::State {
    explicit State(TlsStream& tls, beast::role_type role) : stream(tls) {
        // Pings after 30 s of silence, gone after 60 s: a console of a machine that vanished must not stay open.
        ws::stream_base::timeout timeout = ws::stream_base::timeout::suggested(role);
        timeout.idle_timeout = std::chrono::seconds(60);
        timeout.keep_alive_pings = true;
        stream.set_option(timeout);
        stream.read_message_max(kMessageMax);
        stream.auto_fragment(false);
    }
    ws::stream<TlsStream&, false> stream;
    beast::flat_buffer arrived;
};

WebSocket::WebSocket(std::unique_ptr<State> state) : state_(std::move(state)) {}
WebSocket::~WebSocket() = default;
WebSocket::WebSocket(WebSocket&&) noexcept = default;
WebSocket& WebSocket::operator=(WebSocket&&) noexcept = default;

Task<Result<WebSocket>> WebSocket::accept(Wire& wire, const Request& request, std::string subprotocol) {
    auto state = std::make_unique<State>(wire.end().stream, beast::role_type::server);
    beast::http::request<beast::http::empty_body> upgrade(beast::http::verb::get, request.path, 11);
    for (const auto& [name, value] : request.headers) upgrade.set(name, value);
    const auto name_protocol = [&subprotocol](ws::response_type& response) {
        response.erase(beast::http::field::server);
        if (!subprotocol.empty()) response.set(beast::http::field::sec_websocket_protocol, subprotocol);
    };
    state->stream.set_option(ws::stream_base::decorator(name_protocol));
    boost::system::error_code error;
    co_await state->stream.async_accept(upgrade, asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return std::unexpected(io_error("accept websocket", error));
    co_return WebSocket(std::move(state));
}

Task<Result<WebSocket>> WebSocket::open(Wire& wire, const Request& request, std::optional<Response>& refusal) {
    auto state = std::make_unique<State>(wire.end().stream, beast::role_type::client);
    const auto add_headers = [&request](ws::request_type& upgrade) {
        for (const auto& [name, value] : request.headers) upgrade.set(name, value);
    };
    state->stream.set_option(ws::stream_base::decorator(add_headers));
    ws::response_type answer;
    boost::system::error_code error;
    const std::string target = print_target(request);
    auto token = asio::redirect_error(asio::use_awaitable, error);
    co_await state->stream.async_handshake(answer, request.header("host"), target, std::move(token));
    if (error == ws::error::upgrade_declined) {
        refusal = Response{.code = static_cast<int>(answer.result_int()), .body = std::move(answer.body())};
    }
    if (error) co_return std::unexpected(io_error("open websocket", error));
    co_return WebSocket(std::move(state));
}

Task<std::optional<std::string>> WebSocket::read() {
    boost::system::error_code error;
    for (;;) {
        auto token = asio::redirect_error(asio::use_awaitable, error);
        co_await state_->stream.async_read_some(state_->arrived, kReadMax, std::move(token));
        if (error) co_return std::nullopt;
        const auto data = state_->arrived.data();
        std::string bytes(static_cast<const char*>(data.data()), data.size());
        state_->arrived.consume(bytes.size());
        if (!bytes.empty()) co_return bytes;  // empty messages carry nothing
    }
}

Task<Result<void>> WebSocket::write(std::string_view bytes, Frame frame) {
    state_->stream.binary(frame == Frame::binary);
    boost::system::error_code error;
    const auto whole = asio::buffer(bytes.data(), bytes.size());
    co_await state_->stream.async_write(whole, asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return std::unexpected(io_error("write", error));
    co_return Result<void>();
}

Task<void> WebSocket::close() {
    boost::system::error_code ignored;  // the far side may have gone first
    co_await state_->stream.async_close(ws::close_code::normal, asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace berth::kube::http
