// The columns of the built-in kinds, as `kubectl get` shows them (docs/spec/kube-api.md 2.19).
#pragma once

#include <span>
#include <string_view>

#include "api/kind.hpp"
#include "base/time.hpp"

namespace berth::apiserver {

using Cell = json::Value (*)(const json::Value& object, Timestamp now);

struct Column {
    std::string_view name;
    std::string_view type;  ///< string, integer, boolean, date
    Cell cell = nullptr;
    int priority = 0;
};

/// Without the name. Empty: the kind has no columns of its own.
std::span<const Column> built_in_columns(const api::Kind& kind);
/// Events show their name last, with priority 1; all other kinds first.
bool shows_name_first(const api::Kind& kind);

/// How long ago the RFC 3339 time at the pointer was: "5m", "<unknown>" when there is none, "<invalid>" when it is no
/// time.
std::string age_at(const json::Value& object, std::string_view pointer, Timestamp now);

}  // namespace berth::apiserver
