// Watch events as text.
#pragma once

#include <array>
#include <string>

#include "kube/transport.hpp"

namespace berth::kube::http {

/// Prints an event once for all watchers that get it one after the other: they share its document.
class EventPrinter {
public:
    /// {"type":…,"object":…} and a line break; valid until the next call.
    const std::string& line(const WatchEvent& event);

private:
    struct Slot {
        WatchEvent event;  ///< holds the document, so that its address names it
        std::string line;
    };
    std::array<Slot, 64> slots_;
};

}  // namespace berth::kube::http
