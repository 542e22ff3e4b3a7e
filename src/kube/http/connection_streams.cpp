// Answers that last: watches and logs as chunks, consoles and watches as WebSockets.
#include "kube/http/connection.hpp"

#include "kube/http/keep.hpp"

namespace berth::kube::http {
namespace {

constexpr Duration kForever = std::chrono::hours(24 * 365);
constexpr std::size_t kPendingMax = 1 << 20;

Task<void> events_to_frames(WatchStream& events, EventPrinter& printer, WebSocket& socket) {
    for (;;) {
        const std::optional<WatchEvent> event = co_await events.next();
        if (!event) break;
        std::string line = printer.line(*event);
        line.pop_back();
        const Result<void> written = co_await socket.write(line, Frame::text);
        if (!written) co_return;
    }
    co_await socket.close();
}

Task<void> frames_to_nowhere(WebSocket& socket) {
    for (;;) {
        const std::optional<std::string> bytes = co_await socket.read();
        if (!bytes) co_return;
    }
}

Task<void> frames_to_duplex(WebSocket& socket, Duplex& duplex) {
    for (;;) {
        std::optional<std::string> bytes = co_await socket.read();
        if (!bytes) co_return;
        const Result<void> written = co_await duplex.write(*std::move(bytes));
        if (!written) co_return;
    }
}

Task<void> duplex_to_frames(Duplex& duplex, WebSocket& socket) {
    for (;;) {
        const std::optional<std::string> bytes = co_await duplex.read();
        if (!bytes) break;
        const Result<void> written = co_await socket.write(*bytes, Frame::binary);
        if (!written) co_return;
    }
    co_await socket.close();
}

}  // namespace

// Bytes between the stream that makes them and the socket that takes them: while one write is under way, more
// gather for the next, so a flush happens whenever the queue drains and never more often.
struct Connection::Outbox {
    explicit Outbox(Executor executor) : ready(executor), drained(executor), never(std::move(executor)) {}

    std::string pending;
    bool has_ended = false;
    Notify ready;
    Notify drained;
    Notify never;

    Task<void> put(std::string_view bytes) {
        pending += bytes;
        ready.notify();
        while (pending.size() > kPendingMax) co_await drained.wait();
    }
    // Returns only by cancellation: what is still pending must leave first.
    Task<void> end() {
        has_ended = true;
        ready.notify();
        co_await never.wait();
    }
    Task<void> take_events(WatchStream& events, EventPrinter& printer) {
        for (;;) {
            const std::optional<WatchEvent> event = co_await events.next();
            if (!event) break;
            co_await put(printer.line(*event));
        }
        co_await end();
    }
    Task<void> take_bytes(ByteStream& stream) {
        for (;;) {
            const std::optional<std::string> bytes = co_await stream.next();
            if (!bytes) break;
            co_await put(*bytes);
        }
        co_await end();
    }
};

Task<bool> Connection::serve_watch(Exchange& exchange) {
    std::optional<Answer<WatchStream>> opened;
    bool is_late = false;
    cut_after(kForever);
    Task<Answer<WatchStream>> work = service_.handler.watch(exchange.request);
    co_await finishes_before(until_gone_or_late(exchange.wants_websocket, is_late), keep(std::move(work), opened));
    if (!opened) co_return co_await send_late(exchange, is_late);
    if (!*opened) co_return co_await send(exchange, std::move(opened->error()));
    WatchStream& events = ***opened;
    if (!exchange.wants_websocket) {
        Outbox outbox(service_.executor);
        Response head{.headers = {{"content-type", "application/json"}}};
        co_return co_await send_stream(exchange, std::move(head), outbox, outbox.take_events(events, service_.printer));
    }
    std::optional<WebSocket> socket = co_await upgrade(exchange);
    if (socket)
        co_await finishes_before(frames_to_nowhere(*socket), events_to_frames(events, service_.printer, *socket));
    co_return false;
}

Task<bool> Connection::serve_stream(Exchange& exchange) {
    std::optional<Answer<ByteStream>> opened;
    bool is_late = false;
    cut_after(kForever);
    Task<Answer<ByteStream>> work = service_.handler.stream(exchange.request);
    co_await finishes_before(until_gone_or_late(false, is_late), keep(std::move(work), opened));
    if (!opened) co_return co_await send_late(exchange, is_late);
    if (!*opened) co_return co_await send(exchange, std::move(opened->error()));
    Outbox outbox(service_.executor);
    Response head{.headers = {{"content-type", "text/plain"}}};
    co_return co_await send_stream(exchange, std::move(head), outbox, outbox.take_bytes(***opened));
}

Task<bool> Connection::send_stream(const Exchange& exchange, Response head, Outbox& outbox, Task<void> pump) {
    const Occasion now = occasion(exchange, exchange.is_http_1_0 ? Framing::to_end : Framing::chunks);
    answered_ = head.code;
    const std::string text = print_head(head, now);
    const bool sent = co_await write(text);
    if (!sent) co_return false;
    bool is_whole = false;
    // The inner pair ends when the last byte is written; the outer one also when the client leaves.
    Task<bool> inner = finishes_before(std::move(pump), flush(exchange, outbox, is_whole));
    std::optional<bool> ended;
    co_await finishes_before(inbox_.until_gone(), keep(std::move(inner), ended));
    co_return is_whole&& now.keeps_alive;
}

Task<void> Connection::flush(const Exchange& exchange, Outbox& outbox, bool& is_whole) {
    for (;;) {
        cut_after(kForever);
        while (outbox.pending.empty() && !outbox.has_ended) co_await outbox.ready.wait();
        const bool is_last = outbox.has_ended;
        std::string bytes = std::exchange(outbox.pending, std::string());
        outbox.drained.notify();
        if (!exchange.is_http_1_0) {
            if (!bytes.empty()) bytes = print_chunk(bytes);
            if (is_last) bytes += print_chunk("");
        }
        const bool sent = co_await write(bytes);
        if (!sent) co_return;
        if (is_last) break;
    }
    is_whole = true;
}

Task<std::optional<WebSocket>> Connection::upgrade(const Exchange& exchange) {
    // Bytes that came before our consent are no WebSocket; the socket keeps its own limits from here on.
    if (!inbox_.bytes.empty() || inbox_.is_reading()) co_return std::nullopt;
    std::string subprotocol = choose_subprotocol(exchange.request.header("sec-websocket-protocol"));
    Result<WebSocket> socket = co_await WebSocket::accept(wire_, exchange.request, std::move(subprotocol));
    if (socket) {
        answered_ = 101;
        co_return std::optional<WebSocket>(*std::move(socket));
    }
    service_.log.debug(
        "websocket handshake failed",
        {
            {"error", socket.error().message}
    }
    );
    co_return std::nullopt;
}

Task<bool> Connection::serve_duplex(Exchange& exchange) {
    if (!exchange.wants_websocket) {
        constexpr const char* kPlain = "this address is a WebSocket: ask with Upgrade: websocket";
        co_return co_await send(exchange, status_answer(400, "BadRequest", kPlain));
    }
    std::optional<Answer<Duplex>> opened;
    bool is_late = false;
    cut_after(kForever);
    Task<Answer<Duplex>> work = service_.handler.connect(exchange.request);
    co_await finishes_before(until_gone_or_late(true, is_late), keep(std::move(work), opened));
    if (!opened) co_return co_await send_late(exchange, is_late);
    if (!*opened) co_return co_await send(exchange, std::move(opened->error()));
    Duplex& duplex = ***opened;
    std::optional<WebSocket> socket = co_await upgrade(exchange);
    if (socket) co_await finishes_before(frames_to_duplex(*socket, duplex), duplex_to_frames(duplex, *socket));
    co_return false;
}

}  // namespace berth::kube::http
