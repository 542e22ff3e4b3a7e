#include "cli/demo/up_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/process.hpp"

extern char** environ;

namespace berth::cli {
namespace {

constexpr int kReadyWithinMs = 30'000;
constexpr Duration kEndsWithin = std::chrono::seconds(30);

// Reads one line; none when the other side ends or stays silent for too long.
Result<std::string> read_line(int from) {
    std::string line;
    while (!line.ends_with('\n')) {
        pollfd ready{.fd = from, .events = POLLIN, .revents = 0};
        const int count = ::poll(&ready, 1, kReadyWithinMs);
        if (count < 0 && errno == EINTR) return fail(ErrorKind::timeout, "interrupted");
        if (count <= 0) return fail(ErrorKind::timeout, "not ready within 30 s");
        char c = 0;
        if (::read(from, &c, 1) != 1) return fail(ErrorKind::io, "it ended");
        line += c;
    }
    line.pop_back();
    return line;
}

// Both ends closed in the child but for its standard output, which posix_spawn copies from the write end.
int spawn(const std::vector<std::string>& words, int output, const std::string& log) {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    pid_t pid = 0;
    const int error = ::posix_spawn(&pid, words[0].c_str(), &actions, &attributes, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    errno = error;
    return error == 0 ? pid : -1;
}

}  // namespace

std::string last_lines(const std::string& path, std::size_t count) {
    const Result<std::string> text = solo::read_file(path);
    if (!text) return {};
    std::size_t from = text->size();
    for (std::size_t lines = 0; from > 0; --from) {
        if ((*text)[from - 1] == '\n' && from != text->size() && ++lines == count) break;
    }
    return text->substr(from);
}

Result<UpProcess> UpProcess::start(const std::string& program, const std::string& data_dir, int nodes) {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorKind::io, std::string("pipe: ") + std::strerror(errno));
    const Fd output(ends[0]);
    Fd input(ends[1]);
    const std::string log = data_dir + "/up.log";
    UpProcess up;
    up.pid_ = spawn(
        {program, "up", "--nodes", std::to_string(nodes), "--listen", "127.0.0.1:0", "--data-dir", data_dir},
        input.get(),
        log
    );
    if (up.pid_ < 0) return fail(ErrorKind::io, "start \"" + program + "\": " + std::strerror(errno));
    input = Fd();
    Result<std::string> line = read_line(output.get());
    while (line && line->find("ready in") == std::string::npos) line = read_line(output.get());
    if (!line) {
        up.stop();
        return fail(line.error().kind, "start `berth up`: " + line.error().message + "\n" + last_lines(log, 20));
    }
    up.ready_line_ = *std::move(line);
    return up;
}

void UpProcess::stop() {
    if (pid_ <= 0) return;
    const solo::ProcessMark mark = solo::process_mark(pid_);
    ::kill(pid_, SIGTERM);
    if (!solo::wait_for_end(mark, kEndsWithin)) ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
}

}  // namespace berth::cli
