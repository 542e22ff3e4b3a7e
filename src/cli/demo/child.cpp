#include "cli/demo/child.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace berth::cli {
namespace {

constexpr int kReadyWithinMs = 60'000;

std::string tail(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    const std::string all = text.str();
    return all.size() > 2000 ? all.substr(all.size() - 2000) : all;
}

// The first line on a pipe; "" when it closed or stayed silent.
std::string first_line(int fd) {
    std::string line;
    for (;;) {
        pollfd wait{.fd = fd, .events = POLLIN, .revents = 0};
        if (::poll(&wait, 1, kReadyWithinMs) <= 0) return {};
        char c = 0;
        if (::read(fd, &c, 1) != 1) return {};
        if (c == '\n') return line;
        line += c;
    }
}

}  // namespace

Result<std::unique_ptr<UpProcess>> UpProcess::start(const std::string& program, const std::string& data_dir) {
    int pipe_ends[2];
    if (::pipe2(pipe_ends, O_CLOEXEC) != 0) return fail(ErrorKind::io, std::string("pipe: ") + std::strerror(errno));
    const std::string log_path = data_dir + "/up.log";
    const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    const int pid = ::fork();
    if (pid == 0) {
        ::setsid();  // Ctrl-C is for the demo: it ends its child in order
        ::dup2(pipe_ends[1], STDOUT_FILENO);
        ::dup2(log, STDERR_FILENO);
        ::execl(program.c_str(), program.c_str(), "up", "--nodes", "2", "--listen", "127.0.0.1:0", "--data-dir", data_dir.c_str(), nullptr);
        ::_exit(127);
    }
    ::close(pipe_ends[1]);
    if (log >= 0) ::close(log);
    std::unique_ptr<UpProcess> out(new UpProcess(pid));
    out->ready_line_ = first_line(pipe_ends[0]);
    // The read end stays open: a later line of the child must not end it.
    if (out->ready_line_.empty()) return fail(ErrorKind::unavailable, "berth up did not become ready:\n" + tail(log_path));
    return out;
}

UpProcess::~UpProcess() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGTERM);
    int status = 0;
    ::waitpid(pid_, &status, 0);
}

}  // namespace berth::cli
