#include "kube/http/pool.hpp"

#include "base/async/task_group.hpp"
#include "kube/http/keep.hpp"

namespace berth::kube::http {
namespace {

using std::chrono::seconds;

constexpr std::size_t kInUseMax = 64;
constexpr std::size_t kIdleMax = 16;
constexpr Duration kIdleFor =
    seconds(90);  // below what servers allow (kube-apiserver: 90 s after its last answer; ours 180 s)
constexpr Duration kDialMax = seconds(30);

}  // namespace

Task<Pool::Place> Pool::enter() {
    while (in_use_ >= kInUseMax) co_await freed_.wait();
    co_return Place(*this);
}

std::optional<Link> Pool::take() {
    const Monotonic oldest = clock_.monotonic() - kIdleFor;
    while (!idle_.empty()) {
        Link link = std::move(idle_.back());
        idle_.pop_back();
        if (link.idle_since >= oldest && !link.wire.is_stale()) return link;
    }
    return std::nullopt;
}

Task<Result<Link>> Pool::dial() {
    std::optional<Result<Wire>> wire;
    Task<Result<Wire>> dialling = connect(settings_, address_);
    co_await finishes_within(clock_, kDialMax, keep(std::move(dialling), wire));
    if (!wire) {
        const std::string where = address_.host + ":" + std::to_string(address_.port);
        co_return fail(ErrorKind::timeout, "connect to " + where + ": no answer within 30 s: is the address right?");
    }
    if (!*wire) co_return std::unexpected(std::move(wire->error()));
    co_return Link{.wire = **std::move(wire)};
}

void Pool::give_back(Link link) {
    if (idle_.size() >= kIdleMax) idle_.erase(idle_.begin());
    link.idle_since = clock_.monotonic();
    idle_.push_back(std::move(link));
}

}  // namespace berth::kube::http
