// WebSockets over a Wire, both ends (RFC 6455; kube-api.md 2.18, 2.29.5).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "kube/handler.hpp"
#include "kube/http/wire.hpp"

namespace berth::kube::http {

enum class Frame { binary, text };

class WebSocket {
public:
    /// Answers an upgrade request. Errors  io; invalid: the handshake is malformed
    static Task<Result<WebSocket>> accept(Wire& wire, const Request& request, std::string subprotocol);
    /// Asks for an upgrade. A server that refuses answers with a Response, which is what `refusal` then holds.
    /// Errors  io
    static Task<Result<WebSocket>> open(Wire& wire, const Request& request, std::optional<Response>& refusal);

    ~WebSocket();
    WebSocket(WebSocket&&) noexcept;
    WebSocket& operator=(WebSocket&&) noexcept;

    /// The next bytes, as they arrive; none at the end, however it came. Cancellable.
    Task<std::optional<std::string>> read();
    /// One message. Errors  io: the far side is gone
    Task<Result<void>> write(std::string_view bytes, Frame frame);
    /// Says goodbye with code 1000 and waits for the answer.
    Task<void> close();

private:
    struct State;
    explicit WebSocket(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Which of the offered subprotocols to speak: ours if it is among them, else the first that carries no credentials.
/// "" = none was offered.
std::string choose_subprotocol(std::string_view offered);
/// The bearer token that a browser hides among the subprotocols (kube-api.md 2.3); "" when there is none.
std::string token_in_subprotocols(std::string_view offered);

}  // namespace berth::kube::http
