#include "cli/terminal.hpp"

#include <cerrno>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>

namespace berth::cli {
namespace {

// Bytes that are there, or nothing at the end. Blocks when there are none: the caller has waited for them.
std::optional<std::string> read_now() {
    char bytes[4096];
    ssize_t got = 0;
    do {
        got = ::read(STDIN_FILENO, bytes, sizeof bytes);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) return std::nullopt;
    return std::string(bytes, static_cast<std::size_t>(got));
}

// Plain files and /dev/null are always ready and cannot be waited for.
bool can_be_awaited() {
    struct stat info{};
    if (::fstat(STDIN_FILENO, &info) != 0) return false;
    return S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode) || ::isatty(STDIN_FILENO) == 1;
}

}  // namespace

RawTerminal::RawTerminal() {
    termios now{};
    if (::isatty(STDIN_FILENO) != 1 || ::tcgetattr(STDIN_FILENO, &now) != 0) return;
    before_ = now;
    ::cfmakeraw(&now);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &now);
}

RawTerminal::~RawTerminal() {
    if (before_) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
}

Task<std::optional<std::string>> read_input() {
    if (!can_be_awaited()) co_return read_now();
    // A descriptor of our own, so that closing it leaves standard input open.
    const Executor executor = co_await boost::asio::this_coro::executor;
    boost::asio::posix::stream_descriptor input(executor, ::dup(STDIN_FILENO));
    boost::system::error_code error;
    co_await input.async_wait(
        boost::asio::posix::stream_descriptor::wait_read, boost::asio::redirect_error(boost::asio::use_awaitable, error)
    );
    if (error == boost::asio::error::operation_aborted) throw boost::system::system_error(error);
    if (error) co_return std::nullopt;
    co_return read_now();
}

bool write_output(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EAGAIN) {  // a terminal that shares its flags with standard input
            pollfd ready{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
            ::poll(&ready, 1, -1);
            continue;
        }
        if (written <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace berth::cli
