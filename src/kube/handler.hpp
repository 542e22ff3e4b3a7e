// Port: what a listener hands decoded requests to. The API server implements it; so can anything that serves HTTP.
#pragma once

#include <expected>

#include "kube/transport.hpp"

namespace berth::kube {

/// Both directions of an upgraded connection (console).
class Duplex {
public:
    virtual ~Duplex() = default;
    /// The next bytes from the far side; none at its end. Cancellable.
    virtual Task<std::optional<std::string>> read() = 0;
    /// Errors  io: the far side is gone
    virtual Task<Result<void>> write(std::string bytes) = 0;
};

/// How an answer will look, decided before anything is done.
enum class Shape {
    unary,   ///< one request, one response
    watch,   ///< a stream of events
    stream,  ///< a stream of bytes (pod log)
    duplex,  ///< an upgraded connection (console), over WebSocket
};

template <class T>
using Answer = std::expected<std::unique_ptr<T>, Response>;  ///< a refusal is a Response with a Status

class Handler {
public:
    virtual ~Handler() = default;

    [[nodiscard]] virtual Shape shape(const Request& request) const = 0;
    /// Never fails: errors are Status answers.
    virtual Task<Response> handle(Request request) = 0;
    virtual Task<Answer<WatchStream>> watch(Request request) = 0;
    virtual Task<Answer<ByteStream>> stream(Request request) = 0;
    /// The listener has checked nothing but authentication; it upgrades only after this succeeded.
    virtual Task<Answer<Duplex>> connect(Request request) = 0;
};

/// The transport to a handler in the same process.
class InProcess final : public Transport {
public:
    explicit InProcess(Handler& handler) : handler_(handler) {}
    Task<Result<Response>> request(Request request) override;
    Task<Result<std::unique_ptr<WatchStream>>> watch(Request request) override;

private:
    Handler& handler_;
};

}  // namespace berth::kube
