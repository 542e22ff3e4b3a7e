// Wire and TlsSettings with Asio and OpenSSL. Everything they throw ends here.
#include "kube/http/wire.hpp"

#include <poll.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "kube/http/tls_end.hpp"

namespace berth::kube::http {
namespace {
namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

Error io_error(std::string_view what, const boost::system::error_code& code) {
    return {ErrorKind::io, std::string(what) + ": " + code.message()};
}

std::vector<std::string> texts_of(const X509_NAME* name, int nid) {
    std::vector<std::string> out;
    for (int at = -1; (at = X509_NAME_get_index_by_NID(name, nid, at)) >= 0;) {
        const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
        unsigned char* utf8 = nullptr;
        const int size = ASN1_STRING_to_UTF8(&utf8, text);
        if (size < 0) continue;
        out.emplace_back(utf8, utf8 + size);
        OPENSSL_free(utf8);
    }
    return out;
}

std::string openssl_reason() {
    const unsigned long code = ERR_peek_last_error();
    ERR_clear_error();
    const char* reason = code == 0 ? nullptr : ERR_reason_error_string(code);
    return reason == nullptr ? "unknown reason" : reason;
}

Result<void> use_key_pair(ssl::context& context, const std::string& certificate_pem, const std::string& key_pem) {
    boost::system::error_code error;
    context.use_certificate_chain(asio::buffer(certificate_pem), error);
    if (error) return fail(ErrorKind::invalid, "read certificate: " + error.message() + ": it must be PEM");
    context.use_private_key(asio::buffer(key_pem), ssl::context::pem, error);
    if (error)
        return fail(
            ErrorKind::invalid, "read private key: " + error.message() + ": it must be PEM and fit the certificate"
        );
    if (SSL_CTX_check_private_key(context.native_handle()) != 1) {
        return fail(ErrorKind::invalid, "the private key does not fit the certificate: " + openssl_reason());
    }
    return {};
}

Result<void> trust(ssl::context& context, const std::string& ca_pem) {
    boost::system::error_code error;
    context.add_certificate_authority(asio::buffer(ca_pem), error);
    if (error) return fail(ErrorKind::invalid, "read certificate authority: " + error.message() + ": it must be PEM");
    return {};
}

// A client picks its certificate by the names of the authorities that the server shows.
void announce_authorities(ssl::context& context, const std::string& ca_pem) {
    BIO* const bio = BIO_new_mem_buf(ca_pem.data(), static_cast<int>(ca_pem.size()));
    while (X509* const authority = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
        SSL_CTX_add_client_CA(context.native_handle(), authority);
        X509_free(authority);
    }
    ERR_clear_error();  // the end of the list is an error to OpenSSL
    BIO_free(bio);
}

// RFC 7301 wire form: each protocol with its length before it.
constexpr unsigned char kHttp11[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

int choose_protocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered, unsigned int size, void*) {
    unsigned char* chosen = nullptr;
    const int found = SSL_select_next_proto(&chosen, out_size, kHttp11, sizeof kHttp11, offered, size);
    *out = chosen;
    return found == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

}  // namespace

struct TlsSettings::Context {
    explicit Context(ssl::context::method method) : tls(method) {
        tls.set_options(ssl::context::default_workarounds);
        SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
        SSL_CTX_set_mode(tls.native_handle(), SSL_MODE_RELEASE_BUFFERS);
    }
    ssl::context tls;
};

TlsSettings::TlsSettings(std::unique_ptr<Context> context) : context_(std::move(context)) {}
TlsSettings::~TlsSettings() = default;
TlsSettings::TlsSettings(TlsSettings&&) noexcept = default;
TlsSettings& TlsSettings::operator=(TlsSettings&&) noexcept = default;

Result<TlsSettings> TlsSettings::for_server(const Server& server) {
    auto context = std::make_unique<Context>(ssl::context::tls_server);
    SSL_CTX* const native = context->tls.native_handle();
    TRY_DO(use_key_pair(context->tls, server.certificate_pem, server.private_key_pem));
    SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
    // A resumed session would carry the identity of an earlier connection past a change of authorities.
    SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(native, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(native, 0);
    if (!server.client_ca_pem.empty()) {
        TRY_DO(trust(context->tls, server.client_ca_pem));
        announce_authorities(context->tls, server.client_ca_pem);
        // The handshake accepts any certificate; one that does not verify is answered with 401 (kube-api.md 2.3).
        SSL_CTX_set_verify(native, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) { return 1; });
    }
    return TlsSettings(std::move(context));
}

Result<TlsSettings> TlsSettings::for_client(const Client& client) {
    auto context = std::make_unique<Context>(ssl::context::tls_client);
    SSL_CTX* const native = context->tls.native_handle();
    if (!client.certificate_pem.empty()) {
        TRY_DO(use_key_pair(context->tls, client.certificate_pem, client.private_key_pem));
    }
    if (!client.ca_pem.empty()) {
        TRY_DO(trust(context->tls, client.ca_pem));
    } else {
        boost::system::error_code ignored;  // an empty store verifies nothing, and the handshake says so
        context->tls.set_default_verify_paths(ignored);
    }
    SSL_CTX_set_verify(native, client.verifies ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
    SSL_CTX_set_alpn_protos(native, kHttp11, sizeof kHttp11);
    return TlsSettings(std::move(context));
}

ssl::context& context_of(const TlsSettings& settings) { return settings.context().tls; }

Wire::Wire(std::unique_ptr<TlsEnd> end) : end_(std::move(end)) {}
Wire::~Wire() = default;
Wire::Wire(Wire&&) noexcept = default;
Wire& Wire::operator=(Wire&&) noexcept = default;

Task<Result<void>> Wire::accept_handshake() {
    boost::system::error_code error;
    co_await end_->stream.async_handshake(ssl::stream_base::server, asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return std::unexpected(io_error("tls handshake", error));
    co_return Result<void>();
}

Task<Result<std::size_t>> Wire::read(std::string& into, std::size_t max) {
    boost::system::error_code error;
    const std::size_t before = into.size();
    into.resize(before + max);
    const auto room = asio::buffer(into.data() + before, max);
    const std::size_t got =
        co_await end_->stream.async_read_some(room, asio::redirect_error(asio::use_awaitable, error));
    into.resize(before + got);
    if (got > 0) co_return got;
    // Many clients close without a TLS goodbye; HTTP's own framing tells a cut message from a whole one.
    const bool ended = error == asio::error::eof || error == ssl::error::stream_truncated;
    if (error && !ended) co_return std::unexpected(io_error("read", error));
    co_return std::size_t{0};
}

Task<Result<void>> Wire::write(std::string_view bytes) {
    boost::system::error_code error;
    const auto whole = asio::buffer(bytes.data(), bytes.size());
    co_await asio::async_write(end_->stream, whole, asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return std::unexpected(io_error("write", error));
    co_return Result<void>();
}

Task<void> Wire::finish() {
    boost::system::error_code error;
    co_await end_->stream.async_shutdown(asio::redirect_error(asio::use_awaitable, error));
    hang_up();
}

void Wire::hang_up() {
    boost::system::error_code ignored;  // it may be closed already
    end_->stream.next_layer().close(ignored);
}

bool Wire::is_stale() const {
    pollfd look{.fd = end_->stream.next_layer().native_handle(), .events = POLLIN, .revents = 0};
    return ::poll(&look, 1, 0) != 0;
}

std::optional<PeerCertificate> Wire::peer() const {
    SSL* const native = end_->stream.native_handle();
    const X509* const certificate = SSL_get0_peer_certificate(native);
    if (certificate == nullptr) return std::nullopt;
    const X509_NAME* const subject = X509_get_subject_name(certificate);
    PeerCertificate peer;
    peer.organizations = texts_of(subject, NID_organizationName);
    for (std::string& name : texts_of(subject, NID_commonName)) peer.common_name = std::move(name);
    const long verdict = SSL_get_verify_result(native);
    if (verdict != X509_V_OK) peer.problem = X509_verify_cert_error_string(verdict);
    return peer;
}

}  // namespace berth::kube::http
