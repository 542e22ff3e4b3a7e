// One connection of a listener: requests in, answers out, one after the other.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/http/answer.hpp"
#include "kube/http/inbox.hpp"
#include "kube/http/listener.hpp"
#include "kube/http/message.hpp"
#include "kube/http/printer.hpp"
#include "kube/http/websocket.hpp"

namespace berth::kube::http {

/// What all connections of a listener share.
struct Service {
    Executor executor;
    Handler& handler;
    Clock& clock;
    Entropy& entropy;
    Log& log;
    ListenerOptions options;
    EventPrinter printer = {};
    std::size_t reads = 0;  ///< unary requests being handled
    std::size_t writes = 0;
};

class Connection {
public:
    Connection(Wire wire, Service& service);

    /// Serves until either side ends it.
    Task<void> run();
    /// Ends it at once, or after the unary request it is handling.
    void stop();

private:
    /// One request, with what its answer must know about it.
    struct Exchange {
        Request request;
        bool keeps_alive = true;
        bool is_http_1_0 = false;
        bool wants_websocket = false;
    };
    struct Outbox;

    Task<void> converse();
    Task<Progress> receive(RequestParser& parser);
    Task<void> refuse(Progress why);
    Task<void> discard();
    Task<std::optional<User>> user_of(const Request& request);

    /// These return false when the connection is used up.
    Task<bool> serve(Exchange& exchange);
    Task<bool> serve_unary(Exchange& exchange);
    Task<bool> serve_watch(Exchange& exchange);
    Task<bool> serve_stream(Exchange& exchange);
    Task<bool> serve_duplex(Exchange& exchange);
    Task<bool> send(const Exchange& exchange, Response response);
    Task<bool> send_late(const Exchange& exchange, bool is_late);
    Task<bool> send_stream(const Exchange& exchange, Response head, Outbox& outbox, Task<void> pump);

    Task<std::optional<WebSocket>> upgrade(const Exchange& exchange);
    Task<void> flush(const Exchange& exchange, Outbox& outbox, bool& is_whole);
    Task<bool> write(std::string_view bytes);
    [[nodiscard]] Occasion occasion(const Exchange& exchange, Framing framing);

    /// Returns when the client is gone, or after the deadline (is_late). An upgrade needs the wire to itself: then
    /// only the deadline counts.
    Task<void> until_gone_or_late(bool is_upgrade, bool& is_late);
    Task<void> guard();
    void cut_after(Duration span) { cut_at_ = service_.clock.monotonic() + span; }

    Service& service_;
    Wire wire_;
    std::optional<PeerCertificate> peer_;
    Monotonic cut_at_ = {};  ///< the connection is cut then, unless something moves it
    int answered_ = 0;       ///< the code of the newest answer, for the log
    bool is_stopping_ = false;
    bool is_handling_ = false;  ///< a unary request: stop() lets it end
    Inbox inbox_;
    TaskGroup children_;
};

}  // namespace berth::kube::http
