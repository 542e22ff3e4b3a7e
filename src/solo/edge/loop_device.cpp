#include "solo/edge/loop_device.hpp"

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "solo/edge/fd.hpp"
#include "solo/edge/files.hpp"

namespace berth::solo {
namespace {

constexpr int kTries = 64;
constexpr uid_t kQemuUser = 107;
constexpr int kLoopMajor = 7;

std::string sys_path(const std::string& name) { return "/sys/block/" + name + "/loop/backing_file"; }

/// Names ("loop3") of devices that stand for some file.
std::vector<std::string> attached_loops() {
    std::vector<std::string> out;
    for (const std::string& name : list_dir("/sys/block")) {
        if (name.starts_with("loop") && exists(sys_path(name))) out.push_back(name);
    }
    return out;
}

/// Opens /dev/loopN, making the node where no devtmpfs does.
Fd open_loop(const std::string& name) {
    const std::string path = "/dev/" + name;
    Fd device(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (device.is_open() || errno != ENOENT) return device;
    const int number = std::atoi(name.c_str() + 4);
    if (::mknod(path.c_str(), S_IFBLK | 0660, makedev(kLoopMajor, static_cast<unsigned>(number))) != 0) return Fd();
    return Fd(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

bool stands_for(const Fd& device, const struct stat& file) {
    loop_info64 info{};
    if (::ioctl(device.get(), LOOP_GET_STATUS64, &info) != 0) return false;
    return info.lo_inode == file.st_ino && info.lo_device == file.st_dev;
}

Result<std::string> name_of(const std::string& file) {
    struct stat status{};
    if (::stat(file.c_str(), &status) != 0) return fail_errno("volume file \"" + file + "\"", errno);
    for (const std::string& name : attached_loops()) {
        const Fd device = open_loop(name);
        if (device.is_open() && stands_for(device, status)) return name;
    }
    return fail(ErrorKind::not_found, "no loop device stands for \"" + file + "\"");
}

Result<void> detach(const std::string& name) {
    {
        const Fd device = open_loop(name);
        if (!device.is_open()) return fail_errno("open /dev/" + name, errno);
        if (::ioctl(device.get(), LOOP_CLR_FD, 0) != 0 && errno != ENXIO)
            return fail_errno("detach /dev/" + name, errno);
    }
    // The call succeeds on a device that others have open: the kernel then waits for them.
    if (exists(sys_path(name)))
        return fail(ErrorKind::conflict, "detach /dev/" + name + ": still open; end the pods that use the volume");
    return {};
}

}  // namespace

Result<std::string> find_loop(const std::string& file) {
    TRY(const std::string name, name_of(file));
    return "/dev/" + name;
}

Result<std::string> attach_loop(const std::string& file) {
    Result<std::string> known = name_of(file);
    if (known) return "/dev/" + *known;
    if (!exists(file)) return std::unexpected(known.error());
    const Fd backing(::open(file.c_str(), O_RDWR | O_CLOEXEC));
    if (!backing.is_open()) return fail_errno("open \"" + file + "\"", errno);
    const Fd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
    if (!control.is_open()) return fail_errno("open /dev/loop-control: load the kernel module \"loop\"", errno);

    loop_config config{};
    config.fd = static_cast<__u32>(backing.get());
    config.info.lo_flags = LO_FLAGS_DIRECT_IO;  // the kernel ignores it where the file system cannot
    std::strncpy(reinterpret_cast<char*>(config.info.lo_file_name), file.c_str(), LO_NAME_SIZE - 1);
    for (int tries = 0; tries < kTries; ++tries) {
        const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
        if (number < 0) return fail_errno("find a free loop device", errno);
        const std::string name = "loop" + std::to_string(number);
        const Fd device = open_loop(name);
        if (!device.is_open()) return fail_errno("open /dev/" + name, errno);
        if (::ioctl(device.get(), LOOP_CONFIGURE, &config) != 0) {
            if (errno == EBUSY) continue;  // somebody else was faster
            return fail_errno("attach \"" + file + "\" to /dev/" + name, errno);
        }
        if (::fchown(device.get(), kQemuUser, kQemuUser) != 0) return fail_errno("chown /dev/" + name, errno);
        return "/dev/" + name;
    }
    return fail(ErrorKind::unavailable, "no loop device is free for \"" + file + "\": detach some (losetup -d)");
}

Result<void> detach_loop(const std::string& file) {
    const Result<std::string> name = name_of(file);
    if (!name) return name.error().kind == ErrorKind::not_found ? Result<void>{} : std::unexpected(name.error());
    return detach(*name);
}

Result<void> resize_loop(const std::string& file) {
    TRY(const std::string name, name_of(file));
    const Fd device = open_loop(name);
    if (!device.is_open()) return fail_errno("open /dev/" + name, errno);
    if (::ioctl(device.get(), LOOP_SET_CAPACITY, 0) != 0) return fail_errno("resize /dev/" + name, errno);
    return {};
}

Result<void> detach_loops_below(const std::string& path) {
    for (const std::string& name : attached_loops()) {
        const Result<std::string> file = read_file(sys_path(name));
        if (file && file->starts_with(path + "/")) TRY_DO(detach(name));
    }
    return {};
}

}  // namespace berth::solo
