// Responses as text: head, body and the headers every answer of ours has (docs/spec/kube-api.md 2.2, 2.20, 2.22).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "kube/transport.hpp"

namespace berth::kube::http {

/// A Status with `status: Failure`.
Response status_answer(int code, std::string_view reason, std::string message);

enum class Framing {
    length,  ///< the whole body is known
    chunks,
    to_end,  ///< the end of the connection ends it: HTTP/1.0
};

/// What the head says beyond the response itself.
struct Occasion {
    Timestamp now;
    std::string audit_id;
    bool keeps_alive = true;
    Framing framing = Framing::length;
    std::size_t length = 0;  ///< with Framing::length
};

/// Status line and headers, with the empty line.
std::string print_head(const Response& response, const Occasion& occasion);
/// The body: the document as one line, or indented.
std::string print_body(const Response& response, bool is_pretty);
/// `?pretty=`, or a program that people read the answer of (2.1).
bool wants_pretty(const Request& request);
/// One chunk of a chunked body; empty bytes give the last one.
std::string print_chunk(std::string_view bytes);

/// "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(Timestamp at);

}  // namespace berth::kube::http
