// Listening and connecting sockets, with the options every connection of ours has.
#include "kube/http/wire.hpp"

#include <netinet/tcp.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "kube/http/tls_end.hpp"

namespace berth::kube::http {
namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using Tcp = asio::ip::tcp;

ssl::context& context_of(const TlsSettings& settings);  // tls.cpp

namespace {

using TcpAcceptor = asio::basic_socket_acceptor<Tcp, Executor>;
using Resolver = asio::ip::basic_resolver<Tcp, Executor>;

void set_options(Socket& socket) {
    // A peer that lost its power is noticed after 30 s + 3 × 10 s of silence; watches rely on it.
    constexpr int kIdleSeconds = 30;
    constexpr int kIntervalSeconds = 10;
    constexpr int kProbes = 3;
    boost::system::error_code ignored;  // an option that is not known here costs only latency
    socket.set_option(Tcp::no_delay(true), ignored);
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    const int fd = socket.native_handle();
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &kIdleSeconds, sizeof kIdleSeconds);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &kIntervalSeconds, sizeof kIntervalSeconds);
    ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &kProbes, sizeof kProbes);
}

bool is_address(const std::string& host) {
    boost::system::error_code error;
    asio::ip::make_address(host, error);
    return !error;
}

// Which name the certificate must carry; a literal address is compared with its IP names.
void expect_name(TlsEnd& end, const std::string& name) {
    SSL* const native = end.stream.native_handle();
    if (is_address(name)) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(native), name.c_str());
        return;
    }
    SSL_set1_host(native, name.c_str());
    SSL_set_tlsext_host_name(native, name.c_str());
}

Task<Result<Socket>> open_socket(Address address) {
    const Executor executor = co_await asio::this_coro::executor;
    const std::string where = "connect to " + address.host + ":" + std::to_string(address.port);
    boost::system::error_code error;
    std::vector<Tcp::endpoint> endpoints;
    if (const auto literal = asio::ip::make_address(address.host, error); !error) {
        endpoints.emplace_back(literal, address.port);
    } else {
        Resolver resolver(executor);
        auto token = asio::redirect_error(asio::use_awaitable, error);
        const auto found =
            co_await resolver.async_resolve(address.host, std::to_string(address.port), std::move(token));
        if (error)
            co_return fail(
                ErrorKind::unavailable, where + ": no such host (" + error.message() + "): check the server's name"
            );
        for (const auto& entry : found) endpoints.push_back(entry.endpoint());
    }
    Socket socket(executor);
    co_await asio::async_connect(socket, endpoints, asio::redirect_error(asio::use_awaitable, error));
    if (error)
        co_return fail(ErrorKind::unavailable, where + ": " + error.message() + ": is the server running there?");
    set_options(socket);
    co_return std::move(socket);
}

}  // namespace

struct Acceptor::State {
    explicit State(Executor executor) : acceptor(std::move(executor)) {}
    TcpAcceptor acceptor;
};

Acceptor::Acceptor(Executor executor) : state_(std::make_unique<State>(std::move(executor))) {}
Acceptor::~Acceptor() = default;

Result<std::uint16_t> Acceptor::listen(const std::string& address, std::uint16_t port) {
    const std::string where = "listen on " + address + ":" + std::to_string(port);
    boost::system::error_code error;
    const auto ip = asio::ip::make_address(address, error);
    if (error) return fail(ErrorKind::invalid, where + ": not an address: use one like 127.0.0.1 or ::1");
    const Tcp::endpoint endpoint(ip, port);
    TcpAcceptor& acceptor = state_->acceptor;
    const auto step = [&](auto call) {
        if (!error) call();
    };
    step([&] { acceptor.open(endpoint.protocol(), error); });
    step([&] { acceptor.set_option(asio::socket_base::reuse_address(true), error); });
    step([&] { acceptor.bind(endpoint, error); });
    step([&] { acceptor.listen(asio::socket_base::max_listen_connections, error); });
    if (error) return fail(ErrorKind::unavailable, where + ": " + error.message() + ": choose another address or port");
    return acceptor.local_endpoint(error).port();
}

Task<Result<Wire>> Acceptor::accept(const TlsSettings& settings) {
    boost::system::error_code error;
    Socket socket = co_await state_->acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (error) {
        const bool is_closed = !state_->acceptor.is_open() || error == asio::error::operation_aborted;
        co_return fail(is_closed ? ErrorKind::io : ErrorKind::unavailable, "accept: " + error.message());
    }
    set_options(socket);
    co_return Wire(std::make_unique<TlsEnd>(std::move(socket), context_of(settings)));
}

void Acceptor::close() {
    boost::system::error_code ignored;
    state_->acceptor.close(ignored);
}

Task<Result<Wire>> connect(const TlsSettings& settings, Address address) {
    CO_TRY(Socket socket, co_await open_socket(address));
    auto end = std::make_unique<TlsEnd>(std::move(socket), context_of(settings));
    const std::string name = address.tls_name.empty() ? address.host : address.tls_name;
    expect_name(*end, name);
    boost::system::error_code error;
    co_await end->stream.async_handshake(ssl::stream_base::client, asio::redirect_error(asio::use_awaitable, error));
    if (!error) co_return Wire(std::move(end));
    const std::string where = "tls handshake with " + address.host + ":" + std::to_string(address.port) + ": ";
    const long verdict = SSL_get_verify_result(end->stream.native_handle());
    if (verdict == X509_V_OK) co_return fail(ErrorKind::unavailable, where + error.message());
    co_return fail(
        ErrorKind::forbidden,
        where + "the certificate is not trusted for \"" + name + "\" (" + X509_verify_cert_error_string(verdict) +
            "): check the certificate authority"
    );
}

}  // namespace berth::kube::http
