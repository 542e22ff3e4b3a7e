// Stable hashes for names. They are part of the wire contract: changing one renames objects.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth {

std::uint64_t fnv1a64(std::string_view bytes);
std::uint32_t fnv1a32(std::string_view bytes);

/// Five characters of Kubernetes' name alphabet, a function of `bytes` alone.
std::string short_hash(std::string_view bytes);

/// SHA-1 as 40 hex digits; only for names whose contract prescribes it (placement.md 1.5).
std::string sha1_hex(std::string_view bytes);

}  // namespace berth
