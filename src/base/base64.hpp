// Base64 as Kubernetes writes it in Secrets (RFC 4648 4).
#pragma once

#include <string>
#include <string_view>

namespace berth {

/// Skips what is not of the alphabet; the server has refused such values before they are stored.
std::string decode_base64(std::string_view text);

}  // namespace berth
