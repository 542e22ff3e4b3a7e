// See unix_stream.hpp.
#include "agent/edge/unix_stream.hpp"

#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace berth::agent {
namespace asio = boost::asio;

namespace {

using Protocol = asio::local::stream_protocol;
constexpr std::size_t kReadMax = 64 << 10;
constexpr Duration kPause = std::chrono::milliseconds(100);  // before a socket or a connection is tried again

bool is_allowed(uid_t peer) { return peer == 0 || peer == ::getuid(); }

// The token of an operation whose error is looked at, not thrown.
auto into(boost::system::error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

// A folder held open, and the short name of a file in it: socket addresses have room for 108 bytes only.
class ShortPath {
public:
    explicit ShortPath(const std::string& path) {
        const std::filesystem::path whole(path);
        const std::string folder = whole.parent_path().empty() ? "." : whole.parent_path().string();
        folder_ = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
        name_ = "/proc/self/fd/" + std::to_string(folder_) + "/" + whole.filename().string();
    }
    ~ShortPath() {
        if (folder_ >= 0) ::close(folder_);
    }
    ShortPath(const ShortPath&) = delete;
    ShortPath& operator=(const ShortPath&) = delete;

    [[nodiscard]] bool is_open() const { return folder_ >= 0 && name_.size() < 108; }
    [[nodiscard]] const std::string& name() const { return name_; }

private:
    int folder_ = -1;
    std::string name_;
};

}  // namespace

struct UnixStream::Socket {
    explicit Socket(Protocol::socket s) : socket(std::move(s)) {
        ucred who{};
        socklen_t length = sizeof who;
        if (::getsockopt(socket.native_handle(), SOL_SOCKET, SO_PEERCRED, &who, &length) != 0) return;
        peer = who.uid;
        peer_pid = who.pid;
    }

    Protocol::socket socket;
    uid_t peer = static_cast<uid_t>(-1);
    pid_t peer_pid = 0;
    std::string unread;
    std::deque<std::string> outgoing;
    bool is_writing = false;
    bool is_closed = false;
    bool is_at_end = false;  // Asio never completes a second read at the end: it waits for an event that has been

    void close() {
        is_closed = true;
        boost::system::error_code ignored;
        socket.close(ignored);
    }
};

UnixStream::UnixStream(std::shared_ptr<Socket> socket) : socket_(std::move(socket)) {}

UnixStream::~UnixStream() { socket_->close(); }

uid_t UnixStream::peer_uid() const { return socket_->peer; }
pid_t UnixStream::peer_pid() const { return socket_->peer_pid; }

void UnixStream::close() { socket_->close(); }

bool UnixStream::is_open() const { return !socket_->is_closed; }

Task<Result<std::unique_ptr<UnixStream>>> UnixStream::connect(std::string path) {
    const Executor executor = co_await asio::this_coro::executor;
    const ShortPath address(path);
    if (!address.is_open()) co_return fail(ErrorKind::unavailable, "no socket " + path + " yet");
    Protocol::socket socket(executor);
    const Protocol::endpoint endpoint(address.name());
    boost::system::error_code error;
    co_await socket.async_connect(endpoint, into(error));
    if (error) co_return fail(ErrorKind::unavailable, "connect to " + path + ": " + error.message());
    auto shared = std::make_shared<Socket>(std::move(socket));
    co_return std::unique_ptr<UnixStream>(new UnixStream(std::move(shared)));
}

Task<std::optional<std::string>> UnixStream::read() {
    const std::shared_ptr<Socket> socket = socket_;
    if (!socket->unread.empty()) co_return std::exchange(socket->unread, {});
    if (socket->is_at_end) co_return std::nullopt;
    std::string bytes(kReadMax, '\0');
    const asio::mutable_buffer buffer = asio::buffer(bytes);
    boost::system::error_code error;
    const std::size_t length = co_await socket->socket.async_read_some(buffer, into(error));
    if (error) {
        socket->is_at_end = true;
        co_return std::nullopt;
    }
    bytes.resize(length);
    co_return bytes;
}

Task<std::optional<std::string>> UnixStream::read_line() {
    const std::shared_ptr<Socket> socket = socket_;
    std::size_t searched = 0;
    while (true) {
        std::string& unread = socket->unread;
        const std::size_t end = unread.find('\n', searched);
        if (end != unread.npos) {
            std::string line = unread.substr(0, end);
            unread.erase(0, end + 1);
            co_return line;
        }
        searched = unread.size();
        if (searched > kLineMax) co_return std::nullopt;
        std::string kept = std::exchange(unread, {});
        std::optional<std::string> more = co_await read();
        if (!more) co_return std::nullopt;
        socket->unread = std::move(kept) + *more;
    }
}

Task<Result<void>> UnixStream::write(std::string bytes) {
    const std::shared_ptr<Socket> socket = socket_;
    if (socket->is_closed) co_return fail(ErrorKind::io, "the connection is closed");
    socket->outgoing.push_back(std::move(bytes));
    if (socket->is_writing) co_return Result<void>();  // whoever writes now takes ours along
    socket->is_writing = true;
    while (!socket->outgoing.empty()) {
        const std::string next = std::move(socket->outgoing.front());
        socket->outgoing.pop_front();
        const asio::const_buffer buffer = asio::buffer(next);
        boost::system::error_code error;
        co_await asio::async_write(socket->socket, buffer, into(error));
        if (error) {
            socket->close();
            co_return fail(ErrorKind::io, "write to the far side: " + error.message());
        }
    }
    socket->is_writing = false;
    co_return Result<void>();
}

struct UnixListener::Acceptor {
    Protocol::acceptor acceptor;
};

UnixListener::UnixListener(std::unique_ptr<Acceptor> acceptor) : acceptor_(std::move(acceptor)) {}

UnixListener::~UnixListener() = default;

Result<std::unique_ptr<UnixListener>> UnixListener::listen(Executor executor, const std::string& path) {
    const ShortPath address(path);
    const auto failed = [&](const std::string& why) { return fail(ErrorKind::io, "listen at " + path + ": " + why); };
    if (!address.is_open()) return failed("its folder cannot be opened");
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return failed(std::strerror(errno));
    Protocol::acceptor acceptor(std::move(executor));
    boost::system::error_code error;
    acceptor.open(Protocol(), error);
    const mode_t before = ::umask(0177);
    if (!error) acceptor.bind(Protocol::endpoint(address.name()), error);
    ::umask(before);
    if (!error) acceptor.listen(64, error);
    if (error) return failed(error.message());
    auto held = std::make_unique<Acceptor>(Acceptor{std::move(acceptor)});
    return std::unique_ptr<UnixListener>(new UnixListener(std::move(held)));
}

Task<Result<std::unique_ptr<UnixStream>>> UnixListener::accept() {
    boost::system::error_code error;
    Protocol::socket socket = co_await acceptor_->acceptor.async_accept(into(error));
    if (error) co_return fail(ErrorKind::io, "accept: " + error.message());
    auto shared = std::make_shared<UnixStream::Socket>(std::move(socket));
    co_return std::unique_ptr<UnixStream>(new UnixStream(std::move(shared)));
}

Task<void> serve_socket(
    Clock& clock, Log& log, std::string path, std::function<void(std::shared_ptr<UnixStream>)> on_client
) {
    const Executor executor = co_await asio::this_coro::executor;
    Result<std::unique_ptr<UnixListener>> listener = UnixListener::listen(executor, path);
    while (!listener) {
        log.error(
            "no socket to listen at",
            {
                {"error", listener.error().message}
        }
        );
        co_await clock.sleep_for(kPause);
        listener = UnixListener::listen(executor, path);
    }
    while (true) {
        Result<std::unique_ptr<UnixStream>> accepted = co_await (*listener)->accept();
        if (!accepted) {
            co_await clock.sleep_for(kPause);
            continue;
        }
        std::shared_ptr<UnixStream> stream = *std::move(accepted);
        if (is_allowed(stream->peer_uid())) {
            on_client(std::move(stream));
            continue;
        }
        log.warn(
            "refused a connection",
            {
                {"socket", path                              },
                {"uid",    std::to_string(stream->peer_uid())}
        }
        );
    }
}

}  // namespace berth::agent
