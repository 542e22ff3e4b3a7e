#include "image/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "image/file.hpp"

namespace berth::image {
namespace {

constexpr std::size_t kOutputMax = 1 << 20;
constexpr std::size_t kErrorsMax = 64 * 1024;

struct Child {
    pid_t pid = -1;
    Fd output;
    Fd errors;
};

// Between fork and exec only calls that are safe there.
[[noreturn]] void become(const Command& command, char* const* argv, pid_t parent, int output, int errors) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    const auto limit = [](auto what, std::int64_t value) {
        const rlimit both{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
        if (value > 0) ::setrlimit(what, &both);
    };
    limit(RLIMIT_AS, command.memory_max);
    limit(RLIMIT_CPU, command.cpu_seconds_max);
    const int null = ::open("/dev/null", O_RDONLY);
    ::dup2(null, 0);
    ::dup2(output, 1);
    ::dup2(errors, 2);
    ::execvp(argv[0], argv);
    ::_exit(127);
}

Result<Child> spawn(const Command& command) {
    int output[2];
    int errors[2];
    if (::pipe2(output, O_CLOEXEC) != 0) return std::unexpected(system_error("pipe", errno));
    Fd output_read(output[0]);
    const Fd output_write(output[1]);
    if (::pipe2(errors, O_CLOEXEC) != 0) return std::unexpected(system_error("pipe", errno));
    Fd errors_read(errors[0]);
    const Fd errors_write(errors[1]);
    std::vector<char*> argv;
    for (const std::string& one : command.argv)
        argv.push_back(const_cast<char*>(one.c_str()));  // execvp does not write
    argv.push_back(nullptr);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return std::unexpected(system_error("start " + command.argv[0], errno));
    if (pid == 0) become(command, argv.data(), parent, output_write.get(), errors_write.get());
    return Child{pid, std::move(output_read), std::move(errors_read)};
}

void keep_tail(std::string& text, std::size_t most) {
    if (text.size() > most) text.erase(0, text.size() - most);
}

// Reads what is there; false at the end.
bool read_some(const Fd& fd, std::string& into, std::size_t most, const std::function<void(std::string_view)>& tell) {
    std::array<char, 16 * 1024> buffer;
    const ssize_t n = ::read(fd.get(), buffer.data(), buffer.size());
    if (n <= 0) return n < 0 && (errno == EINTR || errno == EAGAIN);
    const std::string_view text(buffer.data(), static_cast<std::size_t>(n));
    if (tell) tell(text);
    into += text;
    keep_tail(into, most);
    return true;
}

int reap(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void trim(std::string& text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
}

}  // namespace

Result<Ended> run(const Command& command) {
    TRY(Child child, spawn(command));
    Ended ended;
    const Fd exit_fd(static_cast<int>(::syscall(SYS_pidfd_open, child.pid, 0)));
    bool has_exited = false;
    // Its pipes may be held open by what it left behind: the end of the program is what counts.
    while (!has_exited) {
        pollfd fds[3] = {
            {child.output.get(), POLLIN, 0},
            {child.errors.get(), POLLIN, 0},
            {exit_fd.get(),      POLLIN, 0}
        };
        const int ready = ::poll(fds, 3, static_cast<int>(command.silence_max.count()));
        if (ready < 0 && errno == EINTR) continue;
        if (ready <= 0) {
            ::kill(child.pid, SIGKILL);
            reap(child.pid);
            return fail(
                ErrorKind::timeout,
                command.argv[0] + " made no step for " + std::to_string(command.silence_max.count() / 1000) +
                    " s and was stopped"
            );
        }
        if (fds[0].revents != 0 && !read_some(child.output, ended.output, kOutputMax, command.on_output))
            child.output.close();
        if (fds[1].revents != 0 && !read_some(child.errors, ended.errors, kErrorsMax, {})) child.errors.close();
        has_exited = fds[2].revents != 0;
    }
    for (const Fd* fd : {&child.output, &child.errors}) {
        if (fd->is_open()) ::fcntl(fd->get(), F_SETFL, O_NONBLOCK);
    }
    const auto drain = [](Fd& fd, std::string& into, std::size_t most, const auto& tell) {
        errno = 0;
        while (fd.is_open() && errno != EAGAIN && read_some(fd, into, most, tell)) {
        }
    };
    drain(child.output, ended.output, kOutputMax, command.on_output);
    drain(child.errors, ended.errors, kErrorsMax, std::function<void(std::string_view)>());
    ended.exit_code = reap(child.pid);
    trim(ended.errors);
    if (ended.exit_code == 127 && ended.errors.empty())
        return fail(ErrorKind::io, command.argv[0] + " cannot be started: install it");
    return ended;
}

Result<Background> Background::start(const Command& command) {
    TRY(Child child, spawn(command));
    ::fcntl(child.errors.get(), F_SETFL, O_NONBLOCK);
    return Background(child.pid, std::move(child.errors));
}

Background::Background(Background&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)), errors_fd_(std::move(other.errors_fd_)), errors_(std::move(other.errors_)) {}

Background::~Background() {
    if (pid_ > 0) {
        ::kill(pid_, SIGKILL);
        reap(pid_);
    }
}

bool Background::is_running() {
    if (pid_ <= 0) return false;
    if (::waitpid(pid_, nullptr, WNOHANG) != pid_) return true;
    pid_ = -1;
    return false;
}

std::string Background::errors() {
    std::array<char, 16 * 1024> buffer;
    ssize_t n = 0;
    while ((n = ::read(errors_fd_.get(), buffer.data(), buffer.size())) > 0)
        errors_.append(buffer.data(), static_cast<std::size_t>(n));
    keep_tail(errors_, kErrorsMax);
    std::string out = errors_;
    trim(out);
    return out;
}

}  // namespace berth::image
