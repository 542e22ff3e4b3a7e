// See child.hpp.
#include "launcher/edge/child.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace berth::launcher {
namespace {

constexpr std::size_t kOutputMax = 64 << 10;

std::chrono::steady_clock::time_point now() { return std::chrono::steady_clock::now(); }

// Reads until the program closes its output. False: the limit has passed.
bool read_all(int fd, std::string& out, std::chrono::steady_clock::time_point until) {
    char buffer[4096];
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - now()).count();
        pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
        const int count = left <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        const ssize_t length = ::read(fd, buffer, sizeof buffer);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return true;
        if (out.size() < kOutputMax) out.append(buffer, static_cast<std::size_t>(length));
    }
}

}  // namespace

Result<std::string> run_program(std::vector<std::string> argv, std::chrono::milliseconds limit) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorKind::io, "make a pipe: " + std::string(std::strerror(errno)));
    std::vector<char*> arguments;
    for (std::string& argument : argv) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);  // our sockets must end with us
    pid_t pid = 0;
    const int failed = ::posix_spawnp(&pid, arguments[0], &files, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    ::close(ends[1]);
    std::string output;
    const bool is_done = failed != 0 || read_all(ends[0], output, now() + limit);
    ::close(ends[0]);
    if (failed != 0) return fail(ErrorKind::io, argv[0] + ": " + std::strerror(failed));
    if (!is_done) ::kill(pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (!is_done)
        return fail(ErrorKind::timeout, argv[0] + " took longer than " + std::to_string(limit.count()) + " ms");
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return output;
    while (!output.empty() && output.back() == '\n') output.pop_back();
    return fail(ErrorKind::io, argv[0] + " " + (argv.size() > 1 ? argv[1] : "") + ": " + output);
}

}  // namespace berth::launcher
