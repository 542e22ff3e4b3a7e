// TLS over TCP as the rest of this folder sees it: connected byte streams whose failures are values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task.hpp"
#include "base/result.hpp"

namespace berth::kube::http {

struct TlsEnd;  ///< the Boost side: tls_end.hpp

/// What the far side proved to be.
struct PeerCertificate {
    std::string common_name;
    std::vector<std::string> organizations;
    std::string problem;  ///< why it cannot be trusted; "" = verified
};

/// A connection. One read and one write may be under way at a time.
class Wire {
public:
    explicit Wire(std::unique_ptr<TlsEnd> end);
    ~Wire();
    Wire(Wire&&) noexcept;
    Wire& operator=(Wire&&) noexcept;

    /// The server's half of the handshake. Errors  io
    Task<Result<void>> accept_handshake();
    /// Appends what arrived, at most `max` bytes; 0 at the end of the stream. Errors  io
    Task<Result<std::size_t>> read(std::string& into, std::size_t max);
    /// Writes all; `bytes` is the caller's until the await is over. Errors  io
    Task<Result<void>> write(std::string_view bytes);
    /// Ends the stream in a way the far side can tell from a cut; returns when that one agreed.
    Task<void> finish();
    /// Ends it at once: calls under way fail. Idempotent.
    void hang_up();
    /// True when an idle connection was closed, or said something, while nobody was listening.
    [[nodiscard]] bool is_stale() const;
    /// None when the far side showed no certificate.
    [[nodiscard]] std::optional<PeerCertificate> peer() const;

    [[nodiscard]] TlsEnd& end() { return *end_; }

private:
    std::unique_ptr<TlsEnd> end_;
};

/// Keys and trust of one side, read once and shared by its connections.
class TlsSettings {
public:
    struct Server {
        std::string certificate_pem;
        std::string private_key_pem;
        std::string client_ca_pem;  ///< "" = certificates of clients are not asked for
    };
    struct Client {
        std::string ca_pem;           ///< "" = the system's authorities
        std::string certificate_pem;  ///< "" = none
        std::string private_key_pem;
        bool verifies = true;  ///< false: insecure-skip-tls-verify
    };
    /// Errors  invalid: a text is not PEM, or the key does not fit the certificate
    static Result<TlsSettings> for_server(const Server& server);
    static Result<TlsSettings> for_client(const Client& client);

    ~TlsSettings();
    TlsSettings(TlsSettings&&) noexcept;
    TlsSettings& operator=(TlsSettings&&) noexcept;

    struct Context;
    [[nodiscard]] Context& context() const { return *context_; }

private:
    explicit TlsSettings(std::unique_ptr<Context> context);
    std::unique_ptr<Context> context_;
};

/// A listening TCP socket.
class Acceptor {
public:
    explicit Acceptor(Executor executor);
    ~Acceptor();

    /// port 0 = any free one. Errors  invalid: not an address; unavailable: in use, or not permitted
    Result<std::uint16_t> listen(const std::string& address, std::uint16_t port);
    /// The next connection, before its handshake. Errors  unavailable: no descriptors left; io: closed
    Task<Result<Wire>> accept(const TlsSettings& settings);
    void close();

private:
    struct State;
    std::unique_ptr<State> state_;
};

struct Address {
    std::string host;  ///< name or literal address, without brackets
    std::uint16_t port = 443;
    std::string tls_name;  ///< the name the certificate must have; "" = host
};

/// Connects and shakes hands; the caller limits the time.
/// Errors  unavailable: nobody answers there; forbidden: the certificate is not the expected one
Task<Result<Wire>> connect(const TlsSettings& settings, Address address);

}  // namespace berth::kube::http
