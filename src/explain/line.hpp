// One line of what `berth explain` says, and how lines look.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "json/value.hpp"

namespace berth::explain {

enum class Mark { done, waits, next, failed };  ///< next: the one that must act now

struct Line {
    int depth = 0;
    std::string object;  ///< "dv/db-root"
    std::string state;   ///< "WaitForFirstConsumer"
    Mark mark = Mark::done;
    std::string why;  ///< who must act and why; "" when done
    std::optional<Timestamp> since;
    bool operator==(const Line&) const = default;
};

/// Finds the one that must act: nobody when something failed and says why, else the last of the deepest that wait.
void mark_next(std::vector<Line>& lines);

/// The lines as text for a terminal: marks in front, ages behind.
std::string print(const std::vector<Line>& lines, Timestamp now);
json::Value to_json(const std::vector<Line>& lines);

}  // namespace berth::explain
