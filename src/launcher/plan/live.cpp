// See live.hpp.
#include "launcher/plan/live.hpp"

#include <algorithm>

namespace berth::launcher {
namespace {

// The text between `from` and `to`, after `at`; moves `at` behind it. "" when there is none.
std::string_view between(std::string_view text, std::size_t& at, std::string_view from, std::string_view to) {
    const std::size_t begin = text.find(from, at);
    if (begin == text.npos) return {};
    const std::size_t end = text.find(to, begin + from.size());
    if (end == text.npos) return {};
    at = end + to.size();
    return text.substr(begin + from.size(), end - begin - from.size());
}

std::string attribute(std::string_view text, std::string_view element, std::string_view name) {
    std::size_t at = 0;
    const std::string tag = " " + std::string(between(text, at, "<" + std::string(element) + " ", ">"));
    at = 0;
    return std::string(between(tag, at, " " + std::string(name) + "='", "'"));
}

}  // namespace

LiveDomain read_live(std::string_view xml) {
    LiveDomain out;
    out.type = attribute(xml, "domain", "type");
    out.machine_type = attribute(xml, "type", "machine");
    std::size_t at = 0;
    for (std::string_view disk = between(xml, at, "<disk ", "</disk>"); !disk.empty();
         disk = between(xml, at, "<disk ", "</disk>")) {
        LiveDisk one;
        // The backing files that follow have sources of their own.
        const std::string_view own = disk.substr(0, disk.find("<backingStore"));
        one.path = attribute(own, "source", own.find(" file='") == own.npos ? "dev" : "file");
        one.has_medium = !one.path.empty();  // an ejected one leaves a source with a number only
        std::size_t start = 0;
        const std::string opening = " " + std::string(between(disk, start, "", ">"));
        start = 0;
        one.device = between(opening, start, " device='", "'");
        one.bus = attribute(disk, "target", "bus");
        one.target = attribute(disk, "target", "dev");
        one.name = attribute(disk, "alias", "name");
        if (one.name.starts_with("ua-")) one.name.erase(0, 3);
        out.disks.push_back(std::move(one));
    }
    return out;
}

}  // namespace berth::launcher
