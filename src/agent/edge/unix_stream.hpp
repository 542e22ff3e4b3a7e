// Unix stream sockets for the agent link and the console, on both sides of a pod's border.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

#include "base/async/clock.hpp"
#include "base/async/log.hpp"
#include "base/async/task.hpp"
#include "base/result.hpp"

namespace berth::agent {

constexpr std::size_t kLineMax = 8 << 20;  ///< bytes; a machine with its cloud-init data is far below

class UnixStream {
public:
    /// Connects. The path may be longer than the 108 bytes of a socket address.
    /// Errors  unavailable: there is no socket, or nobody listens
    static Task<Result<std::unique_ptr<UnixStream>>> connect(std::string path);

    ~UnixStream();
    UnixStream(const UnixStream&) = delete;
    UnixStream& operator=(const UnixStream&) = delete;

    /// Who is on the other side, as the kernel saw it when the connection (for a listener: its socket) was made.
    [[nodiscard]] uid_t peer_uid() const;
    [[nodiscard]] pid_t peer_pid() const;

    /// What has come, at most 64 KiB; none at the end.
    Task<std::optional<std::string>> read();
    /// The next line without its end; none at the end, and after a line longer than kLineMax.
    Task<std::optional<std::string>> read_line();
    /// Writes all; calls at the same time do not mix. Errors  io: the far side is gone
    Task<Result<void>> write(std::string bytes);
    /// Ends reads and writes that wait.
    void close();
    /// False after close(), and after a write that failed.
    [[nodiscard]] bool is_open() const;

private:
    friend class UnixListener;
    struct Socket;
    explicit UnixStream(std::shared_ptr<Socket> socket);
    std::shared_ptr<Socket> socket_;
};

class UnixListener {
public:
    /// Listens at `path`, in place of a socket that an earlier process has left there. Only its owner and root may
    /// connect. Errors  io
    static Result<std::unique_ptr<UnixListener>> listen(Executor executor, const std::string& path);

    ~UnixListener();
    UnixListener(const UnixListener&) = delete;
    UnixListener& operator=(const UnixListener&) = delete;

    /// The next connection; cancellable. Errors  io: out of descriptors, for instance; try again later
    Task<Result<std::unique_ptr<UnixStream>>> accept();

private:
    struct Acceptor;
    explicit UnixListener(std::unique_ptr<Acceptor> acceptor);
    std::unique_ptr<Acceptor> acceptor_;
};

/// Listens at `path` and hands over every connection of root or of our own user; until cancelled. A socket that cannot
/// be made is tried again: the folder may be late.
Task<void> serve_socket(
    Clock& clock, Log& log, std::string path, std::function<void(std::shared_ptr<UnixStream>)> on_client
);

}  // namespace berth::agent
