// What a pass of a flow decides beside its plan: the error that the status will show.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/plan.hpp"
#include "base/result.hpp"

namespace berth::placement {

/// Becomes a condition (Synchronized of a VMI, Failure of a VM).
struct SyncError {
    std::string reason;  ///< "FailedCreate"
    std::string message;
    bool operator==(const SyncError&) const = default;
};

/// What the engine could not do at the last pass over this object; it tries again, the status says why it takes so
/// long.
struct Failed {
    std::string intent;  ///< as api::print gives it: "create pod/default/virt-launcher-web-x7k2p"
    ErrorKind kind = ErrorKind::io;
    std::string message;
};

/// True when the last pass failed at the creation of an object of this kind; `name` "" = any.
inline bool failed_to_create(const std::optional<Failed>& failed, const api::Kind& kind, std::string_view name = {}) {
    if (!failed || !failed->intent.starts_with("create " + std::string(kind.singular) + "/")) return false;
    return name.empty() || failed->intent.ends_with("/" + std::string(name));
}

struct Outcome {
    api::Plan plan;
    std::optional<SyncError> error;
};

/// One line of a flow whose outcome may be an error; otherwise as api::Rule.
template <class View>
struct Line {
    std::string_view spec;
    std::string_view name;
    bool (*when)(const View&);
    Outcome (*then)(const View&);
};

/// The outcome of the first line that applies. The last line of a table must hold always.
template <class View, std::size_t N>
Outcome first_outcome(const Line<View> (&table)[N], const View& view) {
    for (const Line<View>& line : table) {
        if (!line.when(view)) continue;
        Outcome outcome = line.then(view);
        outcome.plan.spec = line.spec;
        outcome.plan.rule = line.name;
        return outcome;
    }
    base::check_failed(__FILE__, __LINE__, "no line of the table applies");
}

}  // namespace berth::placement
