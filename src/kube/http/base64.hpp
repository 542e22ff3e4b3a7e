// Base64 as kubeconfigs and tokens have it (RFC 4648 4).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::kube::http {

std::string encode_base64(std::string_view bytes);
/// Accepts line breaks and missing padding; none when it is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace berth::kube::http
