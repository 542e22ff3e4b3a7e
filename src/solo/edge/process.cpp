#include "solo/edge/process.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <sstream>

#include "solo/edge/files.hpp"

namespace berth::solo {
namespace {

constexpr const char* kPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
constexpr std::size_t kOutputMax = 65536;

/// Everything the child needs, made before the fork: after it only system calls are safe.
struct Prepared {
    std::vector<char*> argv;
    std::vector<char*> env;
    const char* working_dir;
    const std::vector<int>& kept_fds;
    std::vector<const char*> hidden;
    int output = -1;
    int parent = 0;
};

// glibc's wrapper takes locks in some versions; the bare call does not.
void close_others_on_exec() { ::syscall(SYS_close_range, 3U, ~0U, static_cast<unsigned>(CLOSE_RANGE_CLOEXEC)); }

[[noreturn]] void become(const Prepared& prepared) {
    // A caller that is killed takes what it runs along, up to the point where conmon has left its side.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != prepared.parent) ::_exit(126);
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(prepared.output, STDOUT_FILENO);
    ::dup2(prepared.output, STDERR_FILENO);
    close_others_on_exec();
    for (const int fd : prepared.kept_fds) ::fcntl(fd, F_SETFD, 0);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGCHLD, SIG_DFL);
    if (!prepared.hidden.empty()) {
        if (::unshare(CLONE_NEWNS) != 0) ::_exit(126);
        if (::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) ::_exit(126);
        for (const char* path : prepared.hidden) ::umount2(path, MNT_DETACH);
    }
    if (::chdir(prepared.working_dir) != 0) ::_exit(126);
    ::execve(prepared.argv[0], prepared.argv.data(), prepared.env.data());
    ::_exit(127);
}

std::string content_of(int fd) {
    std::string out(kOutputMax, '\0');
    const ssize_t count = ::pread(fd, out.data(), out.size(), 0);
    out.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return out;
}

/// Polls a descriptor; a signal starts the limit again. False when the limit has passed.
bool wait_readable(int fd, Duration limit) {
    pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
    const auto span = std::chrono::duration_cast<std::chrono::milliseconds>(limit);
    int count = -1;
    do count = ::poll(&ready, 1, static_cast<int>(span.count()));
    while (count < 0 && errno == EINTR);
    return count > 0;
}

Result<int> wait_for(int pid, int pidfd, Duration limit) {
    const bool ended = wait_readable(pidfd, limit);
    if (!ended) ::kill(pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) return fail_errno("wait for a child process", errno);
    }
    if (!ended) return fail(ErrorKind::timeout, "took too long and was killed");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts) out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

}  // namespace

Result<Finished> run(const Command& command, Duration limit) {
    std::vector<std::string> argv = command.argv;
    std::vector<std::string> env = command.env;
    env.emplace_back(kPath);
    const Fd output(::memfd_create("output", MFD_CLOEXEC));
    if (!output.is_open()) return fail_errno("start " + argv.front(), errno);
    Prepared prepared{
        .argv = pointers(argv),
        .env = pointers(env),
        .working_dir = command.working_dir.c_str(),
        .kept_fds = command.kept_fds,
        .output = output.get(),
        .parent = ::getpid()
    };
    for (const std::string& path : command.hidden_mounts) prepared.hidden.push_back(path.c_str());

    const pid_t pid = ::fork();
    if (pid < 0) return fail_errno("start " + argv.front(), errno);
    if (pid == 0) become(prepared);
    const Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    const Result<int> code = wait_for(pid, pidfd.get(), limit);
    if (!code) return within(argv.front(), code.error());
    return Finished{.exit_code = *code, .output = content_of(output.get())};
}

Result<std::string> find_program(const std::vector<std::string>& names, const std::string& package) {
    for (const std::string& name : names) {
        for (const char* folder :
             {"/usr/bin/", "/usr/sbin/", "/usr/local/bin/", "/usr/local/sbin/", "/usr/libexec/podman/"}) {
            const std::string path = folder + name;
            if (::access(path.c_str(), X_OK) == 0) return path;
        }
    }
    return fail(ErrorKind::not_found, "program \"" + names.front() + "\" is not installed: apt-get install " + package);
}

ProcessMark process_mark(int pid) {
    if (pid <= 0) return {};
    const Result<std::string> text = read_file("/proc/" + std::to_string(pid) + "/stat");
    if (!text) return {};
    // The name in parentheses may hold anything, so count from its end: state is field 3, start time field 22.
    const std::size_t name_end = text->rfind(')');
    if (name_end == std::string::npos) return {};
    std::istringstream fields(text->substr(name_end + 1));
    std::string field;
    fields >> field;
    if (field == "Z" || field == "X") return {};
    for (int at = 4; at <= 22; ++at) fields >> field;
    return {.pid = pid, .start_ticks = std::atoll(field.c_str())};
}

bool is_alive(const ProcessMark& mark) { return mark.start_ticks != 0 && process_mark(mark.pid) == mark; }

Fd open_process(const ProcessMark& mark) {
    if (mark.pid <= 0) return Fd();
    Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, mark.pid, 0)));
    // Looked at after opening: from here on the descriptor is this process or nothing.
    if (!is_alive(mark)) return Fd();
    return pidfd;
}

bool wait_for_end(const ProcessMark& mark, Duration limit) {
    const Fd pidfd = open_process(mark);
    return !pidfd.is_open() || wait_readable(pidfd.get(), limit);
}

std::string boot_id() {
    Result<std::string> text = read_file("/proc/sys/kernel/random/boot_id");
    if (!text) return "";
    while (!text->empty() && text->back() == '\n') text->pop_back();
    return *text;
}

}  // namespace berth::solo
