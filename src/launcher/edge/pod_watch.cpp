// See pod_watch.hpp.
#include "launcher/edge/pod_watch.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace berth::launcher {
namespace asio = boost::asio;

namespace {

constexpr std::uint32_t kEvents = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB;

Task<bool> next_event(asio::posix::stream_descriptor& descriptor, asio::posix::descriptor_base::wait_type kind) {
    boost::system::error_code error;
    co_await descriptor.async_wait(kind, asio::redirect_error(asio::use_awaitable, error));
    co_return !error;
}

}  // namespace

Task<void> watch_folders(std::vector<std::string> folders, std::function<void()> on_change) {
    const Executor executor = co_await asio::this_coro::executor;
    const int fd = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (fd < 0) co_return;
    asio::posix::stream_descriptor descriptor(executor, fd);
    int count = 0;
    for (const std::string& folder : folders) {
        if (::inotify_add_watch(fd, folder.c_str(), kEvents) >= 0) ++count;
    }
    if (count == 0) co_return;
    while (true) {
        const bool is_event = co_await next_event(descriptor, asio::posix::descriptor_base::wait_read);
        if (!is_event) co_return;
        char buffer[4096];
        while (::read(fd, buffer, sizeof buffer) > 0) continue;
        on_change();
    }
}

Task<void> watch_mounts(std::function<void()> on_change) {
    const Executor executor = co_await asio::this_coro::executor;
    const int fd = ::open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    if (fd < 0) co_return;
    asio::posix::stream_descriptor descriptor(executor, fd);
    while (true) {
        // The kernel says POLLPRI and POLLERR on a change of the table (proc(5), /proc/[pid]/mounts).
        const bool is_event = co_await next_event(descriptor, asio::posix::descriptor_base::wait_error);
        if (!is_event) co_return;
        on_change();
    }
}

}  // namespace berth::launcher
