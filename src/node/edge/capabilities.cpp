// See capabilities.hpp.
#include "node/edge/capabilities.hpp"

#include <cerrno>
#include <cstring>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.hpp"

namespace berth::node {
namespace {

constexpr char kInsidePod[] = "run/berth/cache/libvirt/qemu/cache/capabilities";
constexpr off_t kFileMax = 1 << 20;

// Below /proc/PID/root an absolute link would lead to our own root: none is followed.
int open_below(int folder, const char* path, int flags) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return static_cast<int>(::syscall(SYS_openat2, folder, path, &how, sizeof how));
}

// "926803a9…3725.xml": the hash of the emulator's path.
bool is_capability_file(std::string_view name) {
    return name.size() == 68 && name.ends_with(".xml") &&
           name.substr(0, 64).find_first_not_of("0123456789abcdef") == name.npos;
}

Result<std::string> read_small(int folder, const char* name) {
    const Fd file(open_below(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    struct stat found{};
    if (!file.is_open() || ::fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_size > kFileMax) {
        return fail(ErrorKind::io, "the pod's capability file is not a small regular file");
    }
    std::string text(static_cast<std::size_t>(found.st_size), '\0');
    if (::read(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
        return fail(ErrorKind::io, "the pod's capability file changed while it was read");
    }
    return text;
}

Result<void> write_new(const std::string& path, const std::string& text) {
    const std::string temporary = path + ".new";
    const Fd file(::open(temporary.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644));
    const auto length = static_cast<ssize_t>(text.size());
    const bool is_done =
        file.is_open() && ::write(file.get(), text.data(), text.size()) == length && ::fchmod(file.get(), 0644) == 0;
    if (!is_done || ::rename(temporary.c_str(), path.c_str()) != 0)
        return fail(ErrorKind::io, "write " + path + ": " + std::strerror(errno));
    return {};
}

}  // namespace

Result<int> harvest_capabilities(pid_t pid, const std::string& folder) {
    const std::string root_path = "/proc/" + std::to_string(pid) + "/root";
    const Fd root(::open(root_path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    Fd inside(root.is_open() ? open_below(root.get(), kInsidePod, O_RDONLY | O_DIRECTORY) : -1);
    if (!inside.is_open())
        return fail(
            ErrorKind::not_found,
            "no capability files in the pod of process " + std::to_string(pid) + ": " + std::strerror(errno)
        );
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(::fdopendir(inside.release()), ::closedir);
    if (!entries) return fail(ErrorKind::io, "list the pod's capability files: " + std::string(std::strerror(errno)));
    const Fd seeds(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    int count = 0;
    for (const dirent* entry = ::readdir(entries.get()); entry != nullptr; entry = ::readdir(entries.get())) {
        const std::string target = folder + "/" + entry->d_name;
        if (!is_capability_file(entry->d_name)) continue;
        TRY(const std::string text, read_small(::dirfd(entries.get()), entry->d_name));
        if (const auto there = read_small(seeds.get(), entry->d_name); there && *there == text) continue;
        TRY_DO(write_new(target, text));
        ++count;
    }
    return count;
}

}  // namespace berth::node
