// See source_probe.hpp.
#include "launcher/edge/source_probe.hpp"

#include <cerrno>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace berth::launcher {

SourceFacts probe_source(const MachineDisk& disk) {
    SourceFacts out;
    struct stat found{};
    if (::stat(disk.path.c_str(), &found) != 0) return out;
    out.is_device = S_ISBLK(found.st_mode);
    // To open and close an empty file for writing is an event of its folder, and would make us look again, for ever.
    if (!out.is_device && (!S_ISREG(found.st_mode) || found.st_size == 0)) return out;
    const bool is_written = !out.is_device && !disk.read_only;
    const int fd = ::open(disk.path.c_str(), (is_written ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (fd < 0) return out;
    out.opens = true;
    out.size = found.st_size;
    std::uint64_t length = 0;
    if (out.is_device && ::ioctl(fd, BLKGETSIZE64, &length) == 0) out.size = static_cast<std::int64_t>(length);
    struct statvfs system{};
    if (!out.is_device && ::fstatvfs(fd, &system) == 0)
        out.usable = static_cast<std::int64_t>(system.f_blocks * system.f_frsize);
    ::close(fd);
    out.takes_direct_io = takes_direct_io(disk.path);
    return out;
}

bool takes_direct_io(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0) return errno != EINVAL;
    ::close(fd);
    return true;
}

bool has_content(const std::string& path) {
    struct stat found{};
    return ::stat(path.c_str(), &found) == 0 && (!S_ISREG(found.st_mode) || found.st_size > 0);
}

}  // namespace berth::launcher
