// What has arrived on a wire and was not used yet.
#pragma once

#include <string>

#include "base/async/notify.hpp"
#include "base/async/task_group.hpp"
#include "kube/http/wire.hpp"

namespace berth::kube::http {

/// At most one read is under way, and it outlives whoever asked for it: so a connection can be watched for its end
/// while a request is handled, and a TLS record is never torn by a cancellation.
class Inbox {
public:
    Inbox(Executor executor, Wire& wire) : wire_(wire), arrived_(executor), reads_(std::move(executor)) {}

    std::string bytes;

    /// Waits for more bytes. False at the end of the stream. No read is under way when it returns.
    Task<bool> more();
    /// Returns when the far side is gone. Reads ahead at most 64 KiB; behind that the end is not seen.
    Task<void> until_gone();
    [[nodiscard]] bool is_reading() const { return is_reading_; }
    /// Call after Wire::hang_up().
    Task<void> close() { return reads_.close(); }

private:
    Task<void> read_once();

    Wire& wire_;
    bool has_ended_ = false;
    bool is_reading_ = false;
    Notify arrived_;
    TaskGroup reads_;
};

}  // namespace berth::kube::http
