#include "kube/http/printer.hpp"

namespace berth::kube::http {

const std::string& EventPrinter::line(const WatchEvent& event) {
    Slot& slot = slots_[std::hash<const void*>()(event.object.get()) / alignof(std::max_align_t) % slots_.size()];
    const bool is_known = slot.event.object && slot.event.object == event.object && slot.event.type == event.type;
    if (is_known) return slot.line;
    slot.event = event;
    slot.line =
        R"({"type":")" + event.type + R"(","object":)" + (event.object ? json::print(*event.object) : "null") + "}\n";
    return slot.line;
}

}  // namespace berth::kube::http
