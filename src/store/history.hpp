// The newest changes of each resource, for watches and for lists at an older revision. Bounded; the oldest go first.
#pragma once

#include <deque>

#include "store/store.hpp"

namespace berth::store {

/// Changes of one resource in order of revision.
struct Timeline {
    std::deque<Event> events;
    Revision forgotten = 0;  ///< the highest revision that is no longer in `events`
    Notify grew;

    explicit Timeline(Executor executor) : grew(std::move(executor)) {}

    /// The first event after a revision.
    [[nodiscard]] std::deque<Event>::const_iterator after(Revision revision) const;
};

class History {
public:
    History(Executor executor, Limits limits) : executor_(std::move(executor)), limits_(limits) {}

    /// Nothing before `at` is known: a restart forgets what happened before it.
    void begin(Revision at) { begin_ = forgotten_ = at; }
    /// `bytes` is the printed size of the event's content.
    void add(Event event, std::size_t bytes);
    /// Wakes the watchers of what was added since the last call.
    void wake();
    void wake_all();

    [[nodiscard]] Timeline& of(const std::string& resource);
    [[nodiscard]] const Timeline* find(const std::string& resource) const;
    /// Events of this resource after `revision` are all here.
    [[nodiscard]] bool reaches(const std::string& resource, Revision revision) const;
    [[nodiscard]] Revision oldest() const { return forgotten_; }

private:
    struct Mark {
        Timeline* timeline;
        std::size_t bytes;
    };
    void forget_oldest();

    Executor executor_;
    Limits limits_;
    std::map<std::string, std::unique_ptr<Timeline>> timelines_;
    std::deque<Mark> order_;
    std::vector<Timeline*> grown_;
    std::size_t bytes_ = 0;
    Revision begin_ = 0;
    Revision forgotten_ = 0;
};

}  // namespace berth::store
