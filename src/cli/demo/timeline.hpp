// The story of a placement, told from what changes in the API. A pure function of one change.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/kind.hpp"
#include "json/value.hpp"

namespace berth::cli {

class Timeline {
public:
    /// The lines that a change adds, in order; each line is told once.
    std::vector<std::string> tell(const api::Kind& kind, const json::Value& object, bool is_deleted);

private:
    void pod(const json::Value& object, bool is_deleted, std::vector<std::string>& out);
    void once(const std::string& key, std::string line, std::vector<std::string>& out);

    std::set<std::string> told_;
    std::map<std::string, std::string> progress_;
};

}  // namespace berth::cli
