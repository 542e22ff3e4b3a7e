// Records Events: one object per (object, reason, message, source), counted up when it repeats.
// Contract: docs/spec/kube-api.md 2.21, 4.10
#pragma once

#include <list>
#include <map>

#include "api/plan.hpp"
#include "base/async/clock.hpp"
#include "kube/api.hpp"

namespace berth::kube {

class EventRecorder {
public:
    /// Repeats of one event within this time are one write.
    static constexpr Duration kQuietTime = std::chrono::seconds(10);
    /// Events remembered for counting; the oldest is forgotten first and starts over.
    static constexpr std::size_t kRemembered = 4096;

    EventRecorder(Api api, Clock& clock) : api_(std::move(api)), clock_(clock) {}

    /// Never fails: an event that cannot be written is lost, and nothing else changes.
    Task<void> record(std::string source, api::Emit event);

private:
    struct Known {
        std::string ns;
        std::int64_t count = 0;
        Monotonic written{};
    };

    Api api_;
    Clock& clock_;
    std::map<std::string, Known> known_;  ///< by event name
    std::list<std::string> order_;
};

}  // namespace berth::kube
