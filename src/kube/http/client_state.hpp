// What the two halves of the client share.
#pragma once

#include "kube/http/client.hpp"
#include "kube/http/pool.hpp"

namespace berth::kube::http {

struct Client::State {
    State(Executor executor, Clock& at, ClientConfig given, Origin where, TlsSettings settings)
        : clock(at),
          config(std::move(given)),
          origin(std::move(where)),
          pool(std::move(executor), clock, std::move(settings), origin.address) {}

    Clock& clock;
    ClientConfig config;
    Origin origin;
    Pool pool;
    Monotonic token_until = {};  ///< config.token is what the token file said until then

    void prepare(Request& request);
    const std::string& current_token();
    Task<Result<Response>> exchange(const std::string& message, bool only_reads);
    /// Sends the request on a connection of its own and returns when the head of a good answer is there.
    /// Errors  as Client::request(), and the server's refusal by its kind
    Task<Result<std::unique_ptr<Incoming>>> open(Request request);
    Task<Result<std::unique_ptr<Incoming>>> begin(std::string message);
};

}  // namespace berth::kube::http
