// The network side of an API server: HTTPS in front of a kube::Handler.
// It knows HTTP, TLS and who asks; what is asked, and whether it is allowed, is the handler's business.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/clock.hpp"
#include "base/async/entropy.hpp"
#include "base/async/log.hpp"
#include "base/async/task.hpp"
#include "base/result.hpp"
#include "kube/handler.hpp"

namespace berth::kube::http {

/// What a client showed.
struct Credentials {
    /// From a certificate that the client CA vouches for; none when the client showed no certificate.
    std::optional<User> certificate;
    std::string bearer_token;  ///< "" = none
};

/// Who that is; none: 401. Called for each request.
using Authenticator = std::function<Task<std::optional<User>>(Credentials)>;

/// Certificates only: CN and O of a client certificate, else system:anonymous; any bearer token is a wrong one.
Authenticator certificate_authenticator();

struct ListenerOptions {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0 = any free one
    std::string certificate_pem;
    std::string private_key_pem;
    std::string client_ca_pem;  ///< "" = client certificates are not asked for
    Authenticator authenticator = certificate_authenticator();
    std::size_t connections_max = 4096;  ///< one more is closed at once
    std::size_t reads_max = 400;         ///< unary requests handled at once; one more gets 429
    std::size_t writes_max = 200;
    std::uint64_t body_max = 3 << 20;                   ///< bytes; more gets 413
    Duration answer_within = std::chrono::seconds(60);  ///< unary requests; later: 504
};

class Listener {
public:
    /// `handler` and the ports outlive the listener.
    Listener(Executor executor, Handler& handler, Clock& clock, Entropy& entropy, Log& log, ListenerOptions options);
    ~Listener();

    /// Binds; answers the port. Errors  invalid: key or address; unavailable: the port is taken
    Result<std::uint16_t> listen();
    /// Accepts connections until cancelled or closed.
    Task<void> run();
    /// Stops accepting, ends idle connections and streams, gives running requests 10 s, and returns when all are gone.
    Task<void> close();

    [[nodiscard]] std::size_t connection_count() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace berth::kube::http
