#include "solo/edge/container_disk.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "solo/edge/fd.hpp"
#include "solo/edge/files.hpp"

namespace berth::solo {
namespace {

constexpr const char* kDiskFolder = "/disk";

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

Result<std::string> disk_in(const std::string& folder) {
    const std::vector<std::string> names = list_dir(folder);
    if (names.size() == 1) return folder + "/" + names.front();
    std::string all;
    for (const std::string& name : names) all += " " + name;
    if (names.empty()) return fail(ErrorKind::not_found, "no file in " + folder + ": the image is no containerDisk");
    return fail(
        ErrorKind::not_found,
        "more than one file in " + folder + " (" + all.substr(1) + "): say which with containerDisk.path"
    );
}

/// Readable when one of the signals comes that end a container.
Fd end_signals() {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    ::sigprocmask(SIG_BLOCK, &ends, nullptr);
    return Fd(::signalfd(-1, &ends, SFD_CLOEXEC));
}

Result<Fd> listen_on(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path)
        return fail(ErrorKind::invalid, "socket path \"" + path + "\" is longer than 107 bytes");
    std::memcpy(address.sun_path, path.c_str(), path.size());
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ::unlink(path.c_str());
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return fail_errno("bind \"" + path + "\"", errno);
    if (::listen(socket.get(), 8) != 0) return fail_errno("listen on \"" + path + "\"", errno);
    return socket;
}

/// Waits for a signal, or until the file is gone. Who connects wants to know who listens and is let go: a queue that is
/// full would hold up the next one.
Result<void> stay(const Fd& signals, const std::string& file, const Fd& listening = Fd()) {
    const Fd changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!file.empty() && ::inotify_add_watch(changes.get(), folder_of(file).c_str(), IN_DELETE | IN_MOVED_FROM) < 0) {
        return fail_errno("watch \"" + folder_of(file) + "\"", errno);
    }
    while (file.empty() || exists(file)) {
        pollfd ready[] = {
            {.fd = signals.get(),   .events = POLLIN, .revents = 0},
            {.fd = changes.get(),   .events = POLLIN, .revents = 0},
            {.fd = listening.get(), .events = POLLIN, .revents = 0}
        };
        if (::poll(ready, 3, -1) < 0 && errno != EINTR) return fail_errno("wait", errno);
        if (ready[0].revents != 0) return {};
        if (ready[2].revents != 0) const Fd caller(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
        char events[4096];
        while (::read(changes.get(), events, sizeof events) > 0) {
        }
    }
    return {};
}

Result<void> serve(const std::vector<std::string>& words) {
    TRY(const ContainerDiskWish wish, container_disk_wish(words));
    const Fd signals = end_signals();  // first: a signal during the copy is not lost
    if (!wish.target.empty() || !wish.image_path.empty() || exists(kDiskFolder)) {
        TRY_DO(copy_container_disk(wish, kDiskFolder));
        return stay(signals, "");
    }
    const std::string socket = wish.copy_path + ".sock";
    TRY(const Fd listening, listen_on(socket));
    return stay(signals, socket, listening);
}

}  // namespace

Result<ContainerDiskWish> container_disk_wish(const std::vector<std::string>& words) {
    ContainerDiskWish out;
    const std::pair<std::string_view, std::string*> flags[] = {
        {"--copy-path",  &out.copy_path },
        {"--target",     &out.target    },
        {"--image-path", &out.image_path}
    };
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::size_t equals = words[i].find('=');
        const std::string_view name = std::string_view(words[i]).substr(0, equals);
        std::string* place = nullptr;
        for (const auto& [flag, value] : flags) place = flag == name ? value : place;
        const bool has_value = equals != std::string::npos || i + 1 < words.size();
        if (place == nullptr || !has_value) {
            return fail(
                ErrorKind::invalid,
                "\"" + words[i] + "\": usage: container-disk --copy-path PATH [--target FILE] [--image-path FILE]"
            );
        }
        *place = equals != std::string::npos ? words[i].substr(equals + 1) : words[++i];
    }
    if (out.copy_path.empty() && out.target.empty()) {
        return fail(
            ErrorKind::invalid,
            "nowhere to copy to: usage: container-disk --copy-path PATH [--target FILE] [--image-path FILE]"
        );
    }
    return out;
}

Result<void> copy_container_disk(const ContainerDiskWish& wish, const std::string& folder) {
    const std::string target = wish.target.empty() ? wish.copy_path + ".img" : wish.target;
    if (exists(target)) return {};  // of an earlier attempt of this container: it may be in use
    std::string source = wish.image_path;
    if (source.empty()) {
        TRY(source, disk_in(folder));
    }
    const Fd from(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
    if (!from.is_open()) return fail_errno("open \"" + source + "\"", errno);
    struct stat status{};
    if (::fstat(from.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return fail(ErrorKind::not_found, "\"" + source + "\" in the image is not a file: correct containerDisk.path");
    }
    const std::string temp = target + ".tmp";
    const Fd to(::open(temp.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0660));
    if (!to.is_open()) return fail_errno("open \"" + temp + "\"", errno);
    if (const Result<void> done = copy_content(from.get(), to.get()); !done)
        return within("copy \"" + source + "\"", done.error());
    if (::fchmod(to.get(), 0660) != 0) return fail_errno("chmod \"" + temp + "\"", errno);
    if (::rename(temp.c_str(), target.c_str()) != 0) return fail_errno("rename to \"" + target + "\"", errno);
    return {};
}

int container_disk_main(int argc, char** argv) {
    const Result<void> done = serve(std::vector<std::string>(argv + 1, argv + argc));
    if (done) return 0;
    const std::string line = "container-disk: " + done.error().message + "\n";
    std::fputs(line.c_str(), stderr);
    // Not there outside of a container; the kubelet shows it as the container's message.
    static_cast<void>(write_plain("/dev/termination-log", line, 0666));
    return 1;
}

}  // namespace berth::solo
