// Where nodes leave how far their workers have come, and the controllers of DataVolumes look it up.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/kind.hpp"
#include "base/async/clock.hpp"
#include "base/text.hpp"

namespace berth::controllers {

class ProgressBoard {
public:
    explicit ProgressBoard(Clock& clock) : clock_(clock) {}

    /// Takes a figure ("12.34%") of the worker that fills this claim. One that is not new, or that comes sooner than a
    /// second after the one before, is left out: each becomes a write.
    void report(const api::Key& claim, const Uid& uid, const std::string& figure);

    /// The last figure of a claim; none when nobody has said one.
    [[nodiscard]] std::optional<std::string> figure(const Uid& claim) const;

    /// Called with the claim whose figure changed, as long as the listener is there.
    using Listener = std::function<void(const api::Key& claim)>;
    void listen(std::weak_ptr<const Listener> listener) { listeners_.push_back(std::move(listener)); }

private:
    struct Said {
        std::string figure;
        Monotonic at;
    };
    Clock& clock_;
    std::map<Uid, Said> said_;
    std::vector<Uid> order_;  ///< oldest first
    std::vector<std::weak_ptr<const Listener>> listeners_;
};

}  // namespace berth::controllers
