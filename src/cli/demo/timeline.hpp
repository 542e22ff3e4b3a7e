// What changed between two sights of an object, in the words of the demo's timeline. Pure.
#pragma once

#include <string>
#include <vector>

#include "api/kind.hpp"

namespace berth::cli {

/// Lines worth showing, in order; none when nothing of interest changed.
///
/// before, after  the object as it was and is; nullptr: it was not, or is no longer there
std::vector<std::string> steps_between(const api::Kind& kind, const json::Value* before, const json::Value* after);

}  // namespace berth::cli
