// What both acts of the demo need: the clock, the watches, and a line of the timeline for everything that happens.
#pragma once

#include <functional>

#include "cli/client.hpp"
#include "cli/sights.hpp"

namespace berth::cli {

class Stage {
public:
    explicit Stage(Client& client) : client_(client), sights_(client), began_(client.clock().monotonic()) {}

    Client& client() { return client_; }
    Sights& sights() { return sights_; }

    /// A line of the timeline: when, how long after the line before, what.
    void say(const std::string& step);
    /// Shows what happens until `is_so` holds.
    Task<void> show_until(std::function<bool()> is_so);
    /// What was typed into the guest and what it answered.
    void quote(const std::string& question, const std::string& answer);
    [[nodiscard]] Monotonic now() const { return client_.clock().monotonic(); }

    /// The object as it is now; nullptr when it is not there.
    [[nodiscard]] kube::Document find(const api::Kind& kind, const std::string& name) const {
        return sights_.find(kind, name);
    }
    [[nodiscard]] bool is_empty() const;  ///< nothing of the demo is left

private:
    Client& client_;
    Sights sights_;
    Monotonic began_;
    Monotonic last_ = began_;
};

}  // namespace berth::cli
