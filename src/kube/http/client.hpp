// The network side of a client: a kube::Transport over HTTPS, and the streams people look at.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/async/clock.hpp"
#include "base/async/task.hpp"
#include "kube/handler.hpp"
#include "kube/http/client_config.hpp"
#include "kube/transport.hpp"

namespace berth::kube::http {

/// Why a WebSocket was not opened.
struct Refusal {
    int code = 0;  ///< of the server's answer; 0 = there was none. 400 from a console: not running yet, ask again
    Error error;
};

using Query = std::vector<std::pair<std::string, std::string>>;

/// Keeps connections alive between requests. Limits: 64 requests at once (the next waits), 16 idle connections,
/// 30 s for a request, 10 retries of an answer that asks for them (429 or 5xx with Retry-After).
class Client final : public Transport {
public:
    /// Errors  invalid: the server is no https address, or a key is not PEM
    static Result<std::unique_ptr<Client>> make(Executor executor, Clock& clock, ClientConfig config);
    ~Client() override;

    /// A request on a connection that turns out dead is sent once more if it only reads, or if nothing was written.
    /// Errors  unavailable, timeout; forbidden: the server's certificate is not trusted
    Task<Result<Response>> request(Request request) override;
    Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) override;
    /// The body of an answer as it comes (pod log). Errors  as request(), and the server's refusal by its kind
    Task<Result<std::unique_ptr<ByteStream>>> stream(Request request);
    /// A console. Its end is the far side's goodbye; destroying it cuts the connection.
    Task<std::expected<std::unique_ptr<Duplex>, Refusal>> open_websocket(
        std::string path, Query query, std::string subprotocol
    );

private:
    struct State;
    explicit Client(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// The same as a port.
Result<std::unique_ptr<Transport>> http_transport(Executor executor, Clock& clock, ClientConfig config);

}  // namespace berth::kube::http
