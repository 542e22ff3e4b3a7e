// Request targets: what stands after the method, in both directions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/transport.hpp"

namespace berth::kube::http {

/// "%41+b" as a query value means "A b"; none when an escape is broken.
std::optional<std::string> decode_query_part(std::string_view text);
/// The text with everything escaped that is not plain in a query.
std::string encode_query_part(std::string_view text);

/// Splits a target into path (still escaped: the router decodes names) and query of `request`. A query pair that is
/// broken is dropped. False when the target is neither "/…" nor "https://host/…".
bool read_target(std::string_view target, Request& request);
/// The target of a request, for the request line.
std::string print_target(const Request& request);

}  // namespace berth::kube::http
