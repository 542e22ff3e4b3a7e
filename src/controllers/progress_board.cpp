#include "controllers/progress_board.hpp"

namespace berth::controllers {
namespace {

constexpr Duration kPause = std::chrono::seconds(1);
// Far more than are filled at a time. The oldest goes: its DataVolume keeps the last figure that it had.
constexpr std::size_t kClaimsMax = 10'000;

}  // namespace

void ProgressBoard::report(const api::Key& claim, const Uid& uid, const std::string& figure) {
    const Monotonic now = clock_.monotonic();
    const auto [it, is_first] = said_.try_emplace(uid);
    if (!is_first && (it->second.figure == figure || now - it->second.at < kPause)) return;
    it->second = {figure, now};
    if (is_first) order_.push_back(uid);
    if (order_.size() > kClaimsMax) {
        said_.erase(order_.front());
        order_.erase(order_.begin());
    }
    std::erase_if(listeners_, [](const auto& listener) { return listener.expired(); });
    const auto listeners = listeners_;
    for (const auto& listener : listeners) {
        if (const auto alive = listener.lock()) (*alive)(claim);
    }
}

std::optional<std::string> ProgressBoard::figure(const Uid& claim) const {
    const auto it = said_.find(claim);
    if (it == said_.end()) return {};
    return it->second.figure;
}

}  // namespace berth::controllers
