#include "kube/http/listener.hpp"

#include <list>

#include "base/check.hpp"
#include "kube/http/connection.hpp"

namespace berth::kube::http {
namespace {

constexpr Duration kGraceMax = std::chrono::seconds(10);
constexpr Duration kAcceptAgain = std::chrono::seconds(1);

Task<std::optional<User>> by_certificate(Credentials credentials) {
    if (credentials.certificate) {
        User user = *std::move(credentials.certificate);
        user.groups.emplace_back("system:authenticated");
        co_return user;
    }
    if (!credentials.bearer_token.empty()) co_return std::nullopt;
    co_return User{"system:anonymous", {"system:unauthenticated"}};
}

}  // namespace

Authenticator certificate_authenticator() { return by_certificate; }

struct Listener::State {
    explicit State(Service given)
        : service(std::move(given)), acceptor(service.executor), freed(service.executor), group(service.executor) {}

    Service service;
    std::optional<TlsSettings> tls;
    Acceptor acceptor;
    std::list<Connection> connections;
    bool is_closing = false;
    Notify freed;
    TaskGroup group;

    Task<void> serve(std::list<Connection>::iterator connection) {
        co_await connection->run();
        connections.erase(connection);
        freed.notify();
    }
};

Listener::Listener(
    Executor executor, Handler& handler, Clock& clock, Entropy& entropy, Log& log, ListenerOptions options
) {
    Service service{std::move(executor), handler, clock, entropy, log, std::move(options)};
    state_ = std::make_unique<State>(std::move(service));
}

Listener::~Listener() = default;

Result<std::uint16_t> Listener::listen() {
    const ListenerOptions& options = state_->service.options;
    TRY(TlsSettings tls,
        TlsSettings::for_server({options.certificate_pem, options.private_key_pem, options.client_ca_pem}));
    state_->tls = std::move(tls);
    return state_->acceptor.listen(options.address, options.port);
}

Task<void> Listener::run() {
    State& state = *state_;
    CHECK(state.tls.has_value());
    while (!state.is_closing) {
        Result<Wire> wire = co_await state.acceptor.accept(*state.tls);
        if (!wire) {
            if (wire.error().kind == ErrorKind::io) co_return;
            // No descriptor left: one comes free when a connection ends, ours or somebody else's.
            state.service.log.warn(
                "cannot accept",
                {
                    {"error", wire.error().message}
            }
            );
            co_await finishes_within(state.service.clock, kAcceptAgain, state.freed.wait());
            continue;
        }
        if (state.connections.size() >= state.service.options.connections_max) {
            state.service.log.warn(
                "connection refused",
                {
                    {"limit", std::to_string(state.connections.size())}
            }
            );
            continue;
        }
        state.connections.emplace_back(*std::move(wire), state.service);
        state.group.spawn("connection", state.serve(std::prev(state.connections.end())));
    }
}

Task<void> Listener::close() {
    State& state = *state_;
    state.is_closing = true;
    state.acceptor.close();
    for (Connection& connection : state.connections) connection.stop();
    co_await finishes_within(state.service.clock, kGraceMax, state.group.join());
    co_await state.group.close();
}

std::size_t Listener::connection_count() const { return state_->connections.size(); }

}  // namespace berth::kube::http
