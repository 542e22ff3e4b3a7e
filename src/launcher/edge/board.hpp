// The newest report, for all who listen. Who is slow sees the newest one only.
#pragma once

#include <cstdint>

#include "agent/link.hpp"
#include "base/async/notify.hpp"

namespace berth::launcher {

struct Board {
    explicit Board(Executor executor) : changed(executor), delivered(std::move(executor)) {}

    agent::Report report;
    std::uint64_t version = 0;            ///< 0: nothing is known yet
    std::uint64_t delivered_version = 0;  ///< the newest that some agent was sent
    Notify changed;
    Notify delivered;

    void publish(agent::Report next) {
        if (version > 0 && next == report) return;
        report = std::move(next);
        ++version;
        changed.notify();
    }
    void mark_delivered(std::uint64_t sent) {
        if (sent <= delivered_version) return;
        delivered_version = sent;
        delivered.notify();
    }
};

}  // namespace berth::launcher
