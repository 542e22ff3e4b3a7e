#include "explain/line.hpp"

#include <algorithm>

namespace berth::explain {

void mark_next(std::vector<Line>& lines) {
    const auto says_why = [](const Line& line) { return line.mark == Mark::failed && !line.why.empty(); };
    if (std::ranges::any_of(lines, says_why)) return;
    Line* deepest = nullptr;
    for (Line& line : lines) {
        const bool is_candidate = line.mark == Mark::waits && !line.why.empty();
        if (is_candidate && (deepest == nullptr || line.depth >= deepest->depth)) deepest = &line;
    }
    if (deepest != nullptr) deepest->mark = Mark::next;
}

std::string print(const std::vector<Line>& lines, Timestamp now) {
    std::string text;
    for (const Line& line : lines) {
        constexpr std::string_view kMarks[] = {"✓ ", "· ", "→ ", "✗ "};
        text += std::string(static_cast<std::size_t>(line.depth) * 2, ' ');
        text += kMarks[static_cast<std::size_t>(line.mark)];
        text += line.object + "  " + line.state;
        if (line.since && line.mark != Mark::done) text += "  for " + human_duration(now - *line.since);
        text += '\n';
        if (!line.why.empty()) text += std::string(static_cast<std::size_t>(line.depth) * 2 + 4, ' ') + line.why + '\n';
    }
    return text;
}

json::Value to_json(const std::vector<Line>& lines) {
    json::Array out;
    for (const Line& line : lines) {
        constexpr const char* kMarks[] = {"done", "waits", "next", "failed"};
        json::Object object{
            {"depth",  line.depth                                 },
            {"object", line.object                                },
            {"state",  line.state                                 },
            {"mark",   kMarks[static_cast<std::size_t>(line.mark)]},
        };
        if (!line.why.empty()) object["why"] = line.why;
        if (line.since) object["since"] = to_rfc3339(*line.since);
        out.push_back(std::move(object));
    }
    return out;
}

}  // namespace berth::explain
