// The forms that Kubernetes asks of names (docs/spec/kube-api.md 2.8).
#pragma once

#include <string_view>

namespace berth {

/// RFC 1123: lower case letters, digits and '-', alphanumeric at both ends, 1 to 63 of them.
bool is_dns_label(std::string_view text);

/// Parts as in a DNS label with dots between them, 1 to 253 characters; a part alone may be longer than a label.
bool is_dns_subdomain(std::string_view text);

/// The name part of a label's key, and a label's value: also upper case, '_' and '.', 1 to 63 characters.
bool is_label_word(std::string_view text);

/// "example.com/name" or "name": the key of a label or an annotation.
bool is_qualified_name(std::string_view text);

}  // namespace berth
