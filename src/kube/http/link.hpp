// A client's connection: one message out, one answer in.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/async/clock.hpp"
#include "kube/http/client_config.hpp"
#include "kube/http/message.hpp"
#include "kube/http/wire.hpp"

namespace berth::kube::http {

/// Where a configuration points to.
struct Origin {
    Address address;
    std::string authority;  ///< "host:6443", for the Host header
    std::string prefix;     ///< "" or "/k8s/clusters/c1"
};

/// Errors  invalid: not "https://host[:port][/prefix]"
Result<Origin> read_origin(const ClientConfig& config);

/// Adds what every request to this server carries: prefix, host, program, token.
void address_to(const Origin& origin, const ClientConfig& config, const std::string& token, Request& request);
/// The whole request as bytes.
std::string print_request(const Request& request);
/// The texts in a Warning header (docs/spec/kube-api.md 2.22).
std::vector<std::string> read_warnings(std::string_view header);

struct Link {
    Wire wire;
    std::string bytes = {};  ///< arrived, not used yet
    Monotonic idle_since = {};
};

/// An answer whose body is still arriving.
class Incoming {
public:
    explicit Incoming(Link link);

    Task<Result<void>> send(std::string_view message);
    /// Code and headers. Errors  unavailable: the connection was lost
    Task<Result<Response>> head();
    /// More of the body; none at its end. Errors  unavailable: it was cut
    Task<Result<std::optional<std::string>>> more();
    /// The whole answer.
    Task<Result<Response>> whole();

    [[nodiscard]] bool has_heard() const { return has_heard_; }  ///< the server said something
    /// The connection, when the answer is complete and the server keeps it.
    std::optional<Link> reuse();

private:
    Task<Result<void>> read();

    Link link_;
    ResponseParser parser_;
    bool is_done_ = false;
    bool has_head_ = false;
    bool has_heard_ = false;
};

}  // namespace berth::kube::http
