// The connections of a client.
#pragma once

#include <vector>

#include "base/async/notify.hpp"
#include "kube/http/link.hpp"

namespace berth::kube::http {

class Pool {
public:
    Pool(Executor executor, Clock& clock, TlsSettings settings, Address address)
        : clock_(clock), settings_(std::move(settings)), address_(std::move(address)), freed_(std::move(executor)) {}

    /// The right to use one connection; at most 64 exist, the next caller waits.
    class Place {
    public:
        explicit Place(Pool& pool) : pool_(&pool) { ++pool.in_use_; }
        ~Place() {
            if (pool_ == nullptr) return;
            --pool_->in_use_;
            pool_->freed_.notify();
        }
        Place(Place&& other) noexcept : pool_(std::exchange(other.pool_, nullptr)) {}
        Place& operator=(Place&&) = delete;

    private:
        Pool* pool_;
    };
    Task<Place> enter();

    /// An idle connection that is still good, or none.
    std::optional<Link> take();
    /// A connection of its own, within 30 s. Errors  as connect(), timeout
    Task<Result<Link>> dial();
    void give_back(Link link);
    [[nodiscard]] std::size_t idle_count() const { return idle_.size(); }

private:
    Clock& clock_;
    TlsSettings settings_;
    Address address_;
    std::vector<Link> idle_;
    std::size_t in_use_ = 0;
    Notify freed_;
};

}  // namespace berth::kube::http
