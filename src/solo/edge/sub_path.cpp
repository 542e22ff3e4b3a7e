#include "solo/edge/sub_path.hpp"

#include <cerrno>

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "solo/edge/fd.hpp"
#include "solo/edge/files.hpp"

namespace berth::solo {
namespace {

Fd open_below(int dir, const std::string& path) {
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return Fd(static_cast<int>(::syscall(SYS_openat2, dir, path.c_str(), &how, sizeof how)));
}

/// Opens the path, making folders for parts that are not there.
Result<Fd> open_or_make(int volume, const std::string& path) {
    for (std::size_t end = path.find('/');; end = path.find('/', end + 1)) {
        const std::string part = path.substr(0, end);
        Fd found = open_below(volume, part);
        if (!found.is_open() && errno == ENOENT) {
            const std::size_t slash = part.rfind('/');
            const Fd above = open_below(volume, slash == std::string::npos ? "." : part.substr(0, slash));
            if (above.is_open() && ::mkdirat(above.get(), part.substr(slash + 1).c_str(), 0777) == 0)
                found = open_below(volume, part);
        }
        if (!found.is_open() && (errno == ELOOP || errno == EXDEV)) {
            return fail(
                ErrorKind::invalid, "subPath \"" + path + "\" leads out of its volume; name a folder or file inside it"
            );
        }
        if (!found.is_open()) return fail_errno("subPath \"" + path + "\"", errno);
        if (end == std::string::npos) return found;
    }
}

}  // namespace

Result<void> bind_sub_path(const std::string& volume, const std::string& sub_path, const std::string& target) {
    const Fd top(::open(volume.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!top.is_open()) return fail_errno("open \"" + volume + "\"", errno);
    TRY(const Fd found, open_or_make(top.get(), sub_path));
    struct stat status{};
    if (::fstat(found.get(), &status) != 0) return fail_errno("stat \"" + sub_path + "\"", errno);
    if (S_ISDIR(status.st_mode)) {
        TRY_DO(make_dirs(target, 0755));
    } else {
        TRY_DO(make_dirs(target.substr(0, target.rfind('/')), 0755));
        TRY_DO(write_plain(target, "", 0644));
    }
    const std::string source = "/proc/self/fd/" + std::to_string(found.get());
    if (::mount(source.c_str(), target.c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
        return fail_errno("bind \"" + sub_path + "\"", errno);
    return {};
}

}  // namespace berth::solo
