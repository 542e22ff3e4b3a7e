#include "base/async/task_group.hpp"

#include <list>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>

#include "base/async/clock.hpp"
#include "base/async/notify.hpp"
#include "base/check.hpp"

namespace berth {
namespace asio = boost::asio;

struct TaskGroup::Children {
    struct Child {
        std::string name;
        asio::cancellation_signal stop;
        bool has_begun = false;
        bool stops_at_once = false;  ///< cancelled before it began
    };

    explicit Children(Executor on) : executor(on), ended(std::move(on)) {}

    Executor executor;
    std::list<std::shared_ptr<Child>> running;
    bool closing = false;
    Notify ended;
};

TaskGroup::TaskGroup(Executor executor) : children_(std::make_shared<Children>(std::move(executor))) {}

TaskGroup::~TaskGroup() {
    // What is still here was parked by an execution context that is being destroyed: its frames are freed with it.
    children_->closing = true;
}

namespace {

// A child's completion handler. It has a cancellation slot and no executor of its own: only then does Asio emit a
// cancellation at once instead of posting it, and what is posted could outlive the signal.
template <class Child, class Group>
struct Done {
    using cancellation_slot_type = asio::cancellation_slot;

    [[nodiscard]] asio::cancellation_slot get_cancellation_slot() const noexcept { return child->stop.slot(); }

    void operator()(const std::exception_ptr& error) const {
        children->running.remove(child);
        children->ended.notify();
        if (!error) return;
        try {
            std::rethrow_exception(error);
        } catch (const boost::system::system_error& caught) {
            if (caught.code() == asio::error::operation_aborted) return;
            base::check_failed(child->name.c_str(), 0, "task left with an exception", caught.what());
        } catch (const std::exception& caught) {
            base::check_failed(child->name.c_str(), 0, "task left with an exception", caught.what());
        }
    }

    std::shared_ptr<Group> children;
    std::shared_ptr<Child> child;
};

// Asio's entry point awaits once more around the task, outside of any handler of ours; that await must not throw. So a
// cancellation is only delivered while the task itself runs, and no longer throws once it has ended.
template <class Child>
Task<void> guarded(std::shared_ptr<Child> child, Task<void> task) {
    child->has_begun = true;
    if (child->stops_at_once) co_return;
    std::exception_ptr error;
    try {
        co_await std::move(task);
    } catch (...) {
        error = std::current_exception();
    }
    co_await keep_going();
    if (error) std::rethrow_exception(error);
}

}  // namespace

void TaskGroup::spawn(std::string name, Task<void> task) {
    if (children_->closing) return;
    const auto child = std::make_shared<Children::Child>();
    child->name = std::move(name);
    children_->running.push_back(child);
    asio::co_spawn(
        children_->executor, guarded(child, std::move(task)), Done<Children::Child, Children>{children_, child}
    );
}

void TaskGroup::cancel() {
    const auto running = children_->running;  // a copy: a child may end inside emit()
    for (const auto& child : running) {
        if (child->has_begun) {
            child->stop.emit(asio::cancellation_type::terminal);
        } else {
            child->stops_at_once = true;
        }
    }
}

Task<void> TaskGroup::close() {
    children_->closing = true;
    const auto children = children_;
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    co_await keep_going();
    cancel();
    while (!children->running.empty()) co_await children->ended.wait_through();
    co_await asio::this_coro::throw_if_cancelled(throws);
}

Task<void> TaskGroup::join() {
    const auto children = children_;
    while (!children->running.empty()) co_await children->ended.wait();
}

std::size_t TaskGroup::size() const { return children_->running.size(); }

const Executor& TaskGroup::executor() const { return children_->executor; }

namespace {

Task<void> mark(Task<void> task, bool& done, Notify& ended) {
    co_await std::move(task);
    done = true;
    ended.notify();
}

Task<void> herald(Task<void> task, Notify& ended) {
    co_await std::move(task);
    ended.notify();
}

}  // namespace

Task<bool> finishes_within(Clock& clock, std::chrono::microseconds limit, Task<void> task) {
    return finishes_before(clock.sleep_for(limit), std::move(task));
}

Task<bool> finishes_before(Task<void> other, Task<void> task) {
    const Executor executor = co_await asio::this_coro::executor;
    const bool throws = co_await asio::this_coro::throw_if_cancelled();
    bool done = false;
    Notify ended(executor);
    TaskGroup group(executor);
    group.spawn("timed", mark(std::move(task), done, ended));
    group.spawn("other", herald(std::move(other), ended));
    bool cancelled = false;
    try {
        co_await ended.wait();
    } catch (const boost::system::system_error&) {
        cancelled = true;  // the caller was asked to stop: stop both children first
    }
    co_await keep_going();
    co_await group.close();
    co_await asio::this_coro::throw_if_cancelled(throws);
    if (cancelled) throw boost::system::system_error(asio::error::operation_aborted);
    co_return done;
}

}  // namespace berth
