// Answers that last: watches, logs, consoles. Each has a connection of its own.
#include "base/async/task_group.hpp"
#include "kube/api.hpp"
#include "kube/http/client_state.hpp"
#include "kube/http/keep.hpp"
#include "kube/http/websocket.hpp"

namespace berth::kube::http {
namespace {

constexpr Duration kHeadMax = std::chrono::seconds(30);
constexpr std::size_t kLineMax = 64 << 20;

// JSON documents, one a line (docs/spec/kube-api.md 2.18).
class Events final : public WatchStream {
public:
    explicit Events(std::unique_ptr<Incoming> incoming) : incoming_(std::move(incoming)) {}

    Task<std::optional<WatchEvent>> next() override {
        for (;;) {
            const std::size_t end = text_.find('\n', searched_);
            if (end != std::string::npos) {
                const std::string line = text_.substr(used_, end - used_);
                used_ = searched_ = end + 1;
                if (line.empty()) continue;
                co_return read_event(line);
            }
            text_.erase(0, std::exchange(used_, 0));
            searched_ = text_.size();
            if (text_.size() > kLineMax) co_return std::nullopt;
            Result<std::optional<std::string>> more = co_await incoming_->more();
            if (!more || !*more) co_return std::nullopt;
            text_ += **more;
        }
    }

private:
    // What is not an event ends the stream: whoever watches lists again.
    static std::optional<WatchEvent> read_event(const std::string& line) {
        Result<json::Value> parsed = json::parse(line);
        if (!parsed || !parsed->is_object()) return std::nullopt;
        WatchEvent event;
        event.type = json::text_at(*parsed, "/type");
        if (json::Value* object = json::find(*parsed, "/object")) {
            event.object = std::make_shared<const json::Value>(std::move(*object));
        }
        if (event.type.empty() || !event.object) return std::nullopt;
        return event;
    }

    std::unique_ptr<Incoming> incoming_;
    std::string text_;
    std::size_t used_ = 0;      // before it: lines that were handed out
    std::size_t searched_ = 0;  // before it: no end of line
};

class Bytes final : public ByteStream {
public:
    explicit Bytes(std::unique_ptr<Incoming> incoming) : incoming_(std::move(incoming)) {}

    Task<std::optional<std::string>> next() override {
        Result<std::optional<std::string>> more = co_await incoming_->more();
        if (!more) co_return std::nullopt;
        co_return *std::move(more);
    }

private:
    std::unique_ptr<Incoming> incoming_;
};

class Console final : public Duplex {
public:
    Console(Wire wire, WebSocket socket) : wire_(std::move(wire)), socket_(std::move(socket)) {}

    Task<std::optional<std::string>> read() override { return socket_.read(); }
    Task<Result<void>> write(std::string bytes) override { co_return co_await socket_.write(bytes, Frame::binary); }

private:
    Wire wire_;
    WebSocket socket_;
};

}  // namespace

Task<Result<std::unique_ptr<Incoming>>> Client::State::begin(std::string message) {
    CO_TRY(Link link, co_await pool.dial());
    auto incoming = std::make_unique<Incoming>(std::move(link));
    CO_TRY_DO(co_await incoming->send(message));
    CO_TRY(const Response head, co_await incoming->head());
    if (head.code / 100 == 2) co_return std::move(incoming);
    CO_TRY(const Response refusal, co_await incoming->whole());
    co_return std::unexpected(error_of(refusal));
}

Task<Result<std::unique_ptr<Incoming>>> Client::State::open(Request request) {
    prepare(request);
    std::optional<Result<std::unique_ptr<Incoming>>> opened;
    Task<Result<std::unique_ptr<Incoming>>> work = begin(print_request(request));
    co_await finishes_within(clock, kHeadMax, keep(std::move(work), opened));
    if (opened) co_return *std::move(opened);
    co_return fail(ErrorKind::timeout, "GET " + request.path + ": the server did not answer within 30 s");
}

Task<Result<std::unique_ptr<WatchStream>>> Client::watch(Request request) {
    CO_TRY(std::unique_ptr<Incoming> incoming, co_await state_->open(std::move(request)));
    co_return std::make_unique<Events>(std::move(incoming));
}

Task<Result<std::unique_ptr<ByteStream>>> Client::stream(Request request) {
    CO_TRY(std::unique_ptr<Incoming> incoming, co_await state_->open(std::move(request)));
    co_return std::make_unique<Bytes>(std::move(incoming));
}

Task<std::expected<std::unique_ptr<Duplex>, Refusal>> Client::open_websocket(
    std::string path, Query query, std::string subprotocol
) {
    Request request{.path = std::move(path), .query = std::move(query)};
    state_->prepare(request);
    if (!subprotocol.empty()) request.headers["sec-websocket-protocol"] = std::move(subprotocol);
    Result<Link> link = co_await state_->pool.dial();
    if (!link) co_return std::unexpected(Refusal{0, std::move(link.error())});
    std::optional<Response> refusal;
    Result<WebSocket> socket = co_await WebSocket::open(link->wire, request, refusal);
    if (refusal) co_return std::unexpected(Refusal{refusal->code, error_of(*refusal)});
    if (!socket) co_return std::unexpected(Refusal{0, std::move(socket.error())});
    co_return std::make_unique<Console>(std::move(link->wire), *std::move(socket));
}

}  // namespace berth::kube::http
