#include "store/history.hpp"

#include <algorithm>

#include "base/ranges.hpp"

namespace berth::store {

std::deque<Event>::const_iterator Timeline::after(Revision revision) const {
    return std::ranges::upper_bound(events, revision, {}, &Event::revision);
}

void History::add(Event event, std::size_t bytes) {
    Timeline& timeline = of(event.now->key.resource);
    timeline.events.push_back(std::move(event));
    order_.push_back({&timeline, bytes});
    bytes_ += bytes;
    if (!contains(grown_, &timeline)) grown_.push_back(&timeline);
    while (order_.size() > limits_.history_events || (bytes_ > limits_.history_bytes && order_.size() > 1))
        forget_oldest();
}

void History::forget_oldest() {
    Timeline& timeline = *order_.front().timeline;
    bytes_ -= order_.front().bytes;
    order_.pop_front();
    timeline.forgotten = forgotten_ = timeline.events.front().revision;
    timeline.events.pop_front();
}

void History::wake() {
    for (Timeline* timeline : std::exchange(grown_, {})) timeline->grew.notify();
}

void History::wake_all() {
    for (auto& [resource, timeline] : timelines_) timeline->grew.notify();
}

Timeline& History::of(const std::string& resource) {
    auto& timeline = timelines_[resource];
    if (!timeline) timeline = std::make_unique<Timeline>(executor_);
    return *timeline;
}

const Timeline* History::find(const std::string& resource) const {
    const auto it = timelines_.find(resource);
    return it == timelines_.end() ? nullptr : it->second.get();
}

bool History::reaches(const std::string& resource, Revision revision) const {
    if (revision < begin_) return false;
    const Timeline* timeline = find(resource);
    return timeline == nullptr || revision >= timeline->forgotten;
}

}  // namespace berth::store
