// The columns of kinds that are served from a schema (docs/spec/kube-api.md 1.4): for tables and for their CRD objects.
#pragma once

#include <span>
#include <string_view>

#include "api/kind.hpp"

namespace berth::apiserver {

struct PrinterColumn {
    std::string_view name;
    std::string_view type;  ///< string, integer, number, boolean, date
    std::string_view json_path;
    std::string_view description;
    int priority = 0;  ///< above 0: only with -o wide
};

/// Without the name, which always comes first. Kinds without columns of their own show their age.
std::span<const PrinterColumn> printer_columns(const api::Kind& kind);

}  // namespace berth::apiserver
