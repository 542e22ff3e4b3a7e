// HTTP/1.1 messages as bytes arrive (Beast does the parsing). Limits are of docs/spec/kube-api.md 2.23.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kube/transport.hpp"

namespace berth::kube::http {

inline constexpr const char* kImpersonateUser = "impersonate-user";
inline constexpr const char* kImpersonateGroup = "impersonate-group";  ///< one for each group

struct Limits {
    std::uint32_t head_max = 64 << 10;
    std::size_t target_max = 16 << 10;
    std::uint64_t body_max = 3 << 20;
};

/// What a parser can say after it was fed.
enum class Progress {
    wants_more,
    head,  ///< once: the head is complete, the body is not
    done,
    malformed,
    head_too_large,
    target_too_long,
    body_too_large,
};

class RequestParser {
public:
    explicit RequestParser(const Limits& limits);
    ~RequestParser();

    /// Consumes what it can use from the front of `bytes`.
    Progress feed(std::string& bytes);

    [[nodiscard]] bool has_begun() const;
    [[nodiscard]] bool expects_continue() const;  ///< the client waits for "100 Continue" before it sends the body
    [[nodiscard]] bool keeps_alive() const;
    [[nodiscard]] bool is_http_1_0() const;
    [[nodiscard]] bool wants_websocket() const;

    /// The request without its user; after `done`, once. None: its target is not a path.
    std::optional<Request> take();

private:
    struct State;
    std::unique_ptr<State> state_;
};

class ResponseParser {
public:
    explicit ResponseParser(std::uint64_t body_max);
    ~ResponseParser();

    Progress feed(std::string& bytes);
    /// The connection ended: done when that is how this body ends, malformed when it was cut.
    Progress feed_end();

    [[nodiscard]] bool keeps_alive() const;
    /// Code and headers; after `head`.
    [[nodiscard]] Response head() const;
    /// The part of the body that arrived since the last call.
    std::string take_body();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace berth::kube::http
