// `berth timeline vm|vmi X`: how a machine and its plugged volumes came to be where they are, step by step, with the
// time that each step took. From Events, which know microseconds, and from what objects keep, mostly in whole seconds.
// Pure.
#pragma once

#include <string>
#include <vector>

#include "explain/view.hpp"

namespace berth::explain {

struct Step {
    Timestamp at;
    bool is_exact = false;  ///< false: at some moment of that second
    std::string what;
    bool operator==(const Step&) const = default;
};

/// Everything that is known to have happened to the machine of the view, in order of time.
///
/// events   of the machine's namespace; those about other machines are left out
std::vector<Step> history(const View& view, const std::vector<json::Value>& events);

/// Since the start, since the step before, and what: a line each. "~" before a time of whole seconds.
std::string print(const std::vector<Step>& steps);
json::Value to_json(const std::vector<Step>& steps);

}  // namespace berth::explain
