// What has happened to an object, read from what it shows now: the lines of `berth timeline`, and, as the difference of
// two sights, those of the demo. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/kind.hpp"
#include "base/time.hpp"

namespace berth::explain {

struct Milestone {
    std::string text;             ///< "pvc/db-root bound"
    std::optional<Timestamp> at;  ///< as the object has it, mostly in whole seconds; none: it keeps no time of it
    std::string event_reason;     ///< of the Event that tells the same exactly; "" = there is none
    std::string event_word;       ///< what the message of that event contains, when the object has several such
    bool operator==(const Milestone&) const = default;
};

/// In the order of a machine's way, not of time.
std::vector<Milestone> milestones(const api::Kind& kind, const json::Value& object);

/// Lines worth showing, in order; none when nothing of interest changed.
///
/// before, after  the object as it was and is; nullptr: it was not, or is no longer there
std::vector<std::string> steps_between(const api::Kind& kind, const json::Value* before, const json::Value* after);

/// What a pod is for: "launcher pod", "attachment pod hp-volume-x".
std::string role_of_pod(const json::Value& pod);

}  // namespace berth::explain
