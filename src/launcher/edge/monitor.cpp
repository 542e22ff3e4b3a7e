// Process 1 of a VM pod. See programs.hpp. One thread, no allocation in its loop, nothing that can fail for long.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/edge/layout.hpp"
#include "launcher/edge/programs.hpp"

extern char** environ;

namespace berth::launcher {
namespace {

constexpr char kLibvirtdConf[] = R"(unix_sock_rw_perms = "0700"
auth_unix_rw = "none"
auth_unix_ro = "none"
log_outputs = "4:file:/run/berth/libvirtd.log"
)";

// The pod is the border: no ownership changes, no labels, no namespaces, no cgroups by libvirt.
constexpr char kQemuConf[] = R"(user = "+%u"
group = "+%u"
dynamic_ownership = 0
remember_owner = 0
security_driver = "none"
security_default_confined = 0
namespaces = []
cgroup_controllers = []
stdio_handler = "file"
max_core = 0
)";

constexpr std::int64_t kFirstPause = 100;      // ms
constexpr std::int64_t kLongestPause = 2'000;  // ms
constexpr std::int64_t kLivedLong = 5'000;     // ms: a program that lived this long is started again at once

std::int64_t now_ms() {
    timespec at{};
    ::clock_gettime(CLOCK_MONOTONIC, &at);
    return std::int64_t{at.tv_sec} * 1000 + at.tv_nsec / 1'000'000;
}

void say(const char* what, const char* name, long value) {
    std::fprintf(stderr, "level=info role=monitor msg=%s program=%s value=%ld\n", what, name, value);
}

bool write_file(const std::string& path, const std::string& text) {
    std::ofstream out(path, std::ios::binary | std::ios::trunc);
    out << text;
    return static_cast<bool>(out.flush());
}

bool make_folders() {
    std::error_code error;
    for (const char* path : {kHome, kRuntimeDir, kCacheDir, kCapabilitiesDir})
        std::filesystem::create_directories(path, error);
    std::filesystem::create_directories(std::string(kConfigDir) + "/libvirt", error);
    std::filesystem::permissions(kRuntimeDir, std::filesystem::perms::owner_all, error);
    char qemu_conf[sizeof kQemuConf + 32];
    std::snprintf(qemu_conf, sizeof qemu_conf, kQemuConf, ::getuid(), ::getgid());
    return write_file(std::string(kConfigDir) + "/libvirt/libvirtd.conf", kLibvirtdConf) &&
           write_file(std::string(kConfigDir) + "/libvirt/qemu.conf", qemu_conf);
}

// Asking QEMU what it can do takes libvirt 0.4 s; the answer of an earlier pod of this node saves it. libvirt itself
// checks that it still fits.
void copy_capabilities() {
    const char* from = std::getenv("BERTH_CAPABILITY_SEED");
    std::error_code error;
    // Recursive, or else a folder is copied with no other option only.
    const auto options = std::filesystem::copy_options::recursive | std::filesystem::copy_options::skip_existing;
    std::filesystem::copy(
        from != nullptr && *from != '\0' ? from : "/usr/share/berth/capabilities", kCapabilitiesDir, options, error
    );
}

struct Program {
    const char* name;
    std::vector<std::string> argv;
    const char* path;
    pid_t pid = 0;
    std::int64_t started_at = 0;
    std::int64_t start_at = 0;  ///< when it is due to be started
    std::int64_t pause = kFirstPause;

    void start() {
        std::vector<char*> arguments;
        for (std::string& argument : argv) arguments.push_back(argument.data());
        arguments.push_back(nullptr);
        posix_spawnattr_t attributes;
        sigset_t none;
        sigemptyset(&none);
        sigset_t defaults;
        sigfillset(&defaults);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &defaults);
        started_at = now_ms();
        if (::posix_spawn(&pid, path, nullptr, &attributes, arguments.data(), environ) != 0) {
            pid = 0;
            due_again();
        }
        posix_spawnattr_destroy(&attributes);
        say("started", name, pid);
    }

    void due_again() {
        const std::int64_t now = now_ms();
        if (now - started_at >= kLivedLong) {
            pause = kFirstPause;
            start_at = now;
            return;
        }
        start_at = now + pause;
        pause = std::min(pause * 2, kLongestPause);
    }

    void ended(int status) {
        say(WIFSIGNALED(status) ? "killed" : "exited",
            name,
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        pid = 0;
        due_again();
    }
};

void set_environment() {
    ::setenv("HOME", kHome, 1);
    ::setenv("XDG_RUNTIME_DIR", kRuntimeDir, 1);
    ::setenv("XDG_CONFIG_HOME", kConfigDir, 1);
    ::setenv("XDG_CACHE_HOME", kCacheDir, 1);
    ::setenv("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", 1);
    ::unsetenv("LIBVIRT_DEFAULT_URI");
    ::setenv("LIBVIRT_AUTOSTART", "0", 1);  // the daemon is ours to start
}

std::int64_t grace_ms(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument(argv[i]);
        constexpr std::string_view kFlag = "--grace-period-seconds";
        if (argument == kFlag && i + 1 < argc) return std::atoll(argv[i + 1]) * 1000;
        if (argument.starts_with(kFlag) && argument.size() > kFlag.size() && argument[kFlag.size()] == '=') {
            return std::atoll(argv[i] + kFlag.size() + 1) * 1000;
        }
    }
    return 30'000;
}

void hand_on_last_words() {
    std::ifstream in(kLastWords, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (text.empty()) return;
    const int fd = ::open(kTerminationLog, O_WRONLY | O_TRUNC | O_CLOEXEC);
    if (fd < 0) return;
    [[maybe_unused]] const ssize_t written = ::write(fd, text.data(), std::min<std::size_t>(text.size(), 4096));
    ::close(fd);
}

class Monitor {
public:
    Monitor(int argc, char** argv)
        : libvirtd_{.name = "libvirtd", .argv = {"libvirtd", "-f", std::string(kConfigDir) + "/libvirt/libvirtd.conf"}, .path = "/usr/sbin/libvirtd"},
          launcher_{.name = "virt-launcher", .argv = {"virt-launcher"}, .path = "/proc/self/exe"},
          grace_(grace_ms(argc, argv)) {
        for (int i = 1; i < argc; ++i) launcher_.argv.emplace_back(argv[i]);
        sigemptyset(&signals_);
        for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&signals_, signal);
        sigprocmask(SIG_BLOCK, &signals_, nullptr);
    }

    int run() {
        while (true) {
            for (Program* program : {&libvirtd_, &launcher_}) {
                if (program->pid == 0 && program->start_at <= now_ms()) program->start();
            }
            const int signal = next_signal();
            if (signal == SIGTERM || signal == SIGINT) stop();
            if (const int code = reap(); code >= 0) return code;
        }
    }

private:
    // The next signal, or 0 when a program is due to be started.
    int next_signal() {
        std::int64_t wait = 60'000;
        for (const Program* program : {&libvirtd_, &launcher_}) {
            if (program->pid == 0) wait = std::min(wait, std::max<std::int64_t>(program->start_at - now_ms(), 1));
        }
        const timespec limit{.tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1'000'000};
        return std::max(::sigtimedwait(&signals_, nullptr, &limit), 0);
    }

    // The launcher powers the guest off. If it dies meanwhile, the next one goes on with the same deadline.
    void stop() {
        if (!is_stopping_) {
            is_stopping_ = true;
            launcher_.argv.emplace_back("--stopping-until=" + std::to_string(now_ms() + grace_));
        }
        if (launcher_.pid > 0) ::kill(launcher_.pid, SIGTERM);
    }

    // Takes every child that has ended, ours or left behind by ours. The pod's exit code when its work is done, else
    // -1.
    int reap() {
        int status = 0;
        for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0; pid = ::waitpid(-1, &status, WNOHANG)) {
            if (pid == libvirtd_.pid) libvirtd_.ended(status);
            if (pid != launcher_.pid) continue;
            launcher_.ended(status);
            if (!WIFEXITED(status)) continue;
            if (WEXITSTATUS(status) == kExitDone) return 0;
            if (WEXITSTATUS(status) == kExitCrashed) return 1;
        }
        return -1;
    }

    Program libvirtd_;
    Program launcher_;
    std::int64_t grace_;
    sigset_t signals_{};
    bool is_stopping_ = false;
};

}  // namespace

int monitor_main(int argc, char** argv) {
    if (!make_folders()) {
        std::fprintf(
            stderr,
            "level=error role=monitor msg=\"cannot write below /run/berth\" error=\"%s\"\n",
            std::strerror(errno)
        );
        return 2;
    }
    copy_capabilities();
    set_environment();
    const int code = Monitor(argc, argv).run();
    hand_on_last_words();
    return code;
}

}  // namespace berth::launcher
