#include "kube/http/inbox.hpp"

namespace berth::kube::http {
namespace {
constexpr std::size_t kReadMax = 16 << 10;
constexpr std::size_t kAheadMax = 64 << 10;
}  // namespace

Task<void> Inbox::read_once() {
    std::string chunk;
    const Result<std::size_t> got = co_await wire_.read(chunk, kReadMax);
    has_ended_ = !got || *got == 0;
    bytes += chunk;
    is_reading_ = false;
    arrived_.notify();
}

Task<bool> Inbox::more() {
    if (has_ended_) co_return false;
    if (!std::exchange(is_reading_, true)) reads_.spawn("read", read_once());
    while (is_reading_) co_await arrived_.wait();
    co_return !has_ended_;
}

Task<void> Inbox::until_gone() {
    bool goes_on = true;
    while (goes_on && bytes.size() < kAheadMax) goes_on = co_await more();
    while (!has_ended_) co_await arrived_.wait();  // whoever uses the bytes reads on
}

}  // namespace berth::kube::http
