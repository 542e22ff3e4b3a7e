#include "base/async/notify.hpp"

#include <list>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace berth {
namespace asio = boost::asio;

struct Notify::Waiters {
    // A waiting coroutine, type-erased: resume(error) hands it back to its executor.
    struct Waiter {
        virtual ~Waiter() = default;
        virtual void resume(boost::system::error_code error) = 0;
        std::uint64_t id = 0;
    };
    template <class Handler>
    struct Waiting final : Waiter {
        Waiting(Executor executor, Handler handler) : executor_(std::move(executor)), handler_(std::move(handler)) {}
        void resume(boost::system::error_code error) override {
            auto slot = asio::get_associated_cancellation_slot(handler_);
            if (slot.is_connected()) slot.clear();
            asio::post(executor_, [handler = std::move(handler_), error]() mutable { std::move(handler)(error); });
        }
        Executor executor_;
        Handler handler_;
    };

    Executor executor;
    std::list<std::unique_ptr<Waiter>> waiting;
    bool notified = false;
    std::uint64_t last_id = 0;

    void wake_all() {
        auto woken = std::move(waiting);
        waiting.clear();
        for (auto& waiter : woken) waiter->resume({});
    }
};

Notify::Notify(Executor executor) : waiters_(std::make_shared<Waiters>()) { waiters_->executor = std::move(executor); }

Notify::~Notify() = default;

void Notify::notify() {
    if (waiters_->waiting.empty()) {
        waiters_->notified = true;
    } else {
        waiters_->wake_all();
    }
}

Task<void> Notify::wait() {
    const std::shared_ptr<Waiters> waiters = waiters_;
    if (std::exchange(waiters->notified, false)) co_return;
    auto start = [waiters](auto handler) {
        using Handler = decltype(handler);
        auto slot = asio::get_associated_cancellation_slot(handler);
        waiters->waiting.push_back(std::make_unique<Waiters::Waiting<Handler>>(waiters->executor, std::move(handler)));
        if (!slot.is_connected()) return;
        const std::uint64_t mine = waiters->waiting.back()->id = ++waiters->last_id;
        slot.assign([weak = std::weak_ptr<Waiters>(waiters), mine](asio::cancellation_type) {
            const auto alive = weak.lock();
            if (!alive) return;
            for (auto it = alive->waiting.begin(); it != alive->waiting.end(); ++it) {
                if ((*it)->id != mine) continue;
                // This function lives in the slot that resume() clears: nothing of it is used after that.
                const std::shared_ptr<Waiters::Waiter> waiter = std::move(*it);
                alive->waiting.erase(it);
                waiter->resume(asio::error::operation_aborted);
                return;
            }
        });
    };
    co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(boost::system::error_code)>(
        start, asio::use_awaitable
    );
}

Task<void> Notify::wait_through() {
    const std::shared_ptr<Waiters> waiters = waiters_;
    if (std::exchange(waiters->notified, false)) co_return;
    auto start = [waiters](auto handler) {
        using Handler = decltype(handler);
        waiters->waiting.push_back(std::make_unique<Waiters::Waiting<Handler>>(waiters->executor, std::move(handler)));
    };
    co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(boost::system::error_code)>(
        start, asio::use_awaitable
    );
}

}  // namespace berth
