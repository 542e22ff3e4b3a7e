#include "solo/edge/files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "solo/edge/fd.hpp"

namespace berth::solo {
namespace {

constexpr std::size_t kReadMax = 16 << 20;
constexpr int kDepthMax = 32;

std::string quoted(std::string_view path) { return "\"" + std::string(path) + "\""; }

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
    while (!content.empty()) {
        const ssize_t written = ::write(fd, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return fail_errno("write " + quoted(path), errno);
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return {};
}

/// Opens a child of `dir` without following links or entering a mount.
int open_beneath(int dir, const char* name, int flags) {
    open_how how{};
    how.flags = static_cast<__u64>(flags | O_CLOEXEC | O_NOFOLLOW);
    how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
    return static_cast<int>(::syscall(SYS_openat2, dir, name, &how, sizeof how));
}

struct Entries {
    std::vector<std::string> names;
};

Result<Entries> entries_of(int dir) {
    const int copy = ::openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy < 0) return fail_errno("read directory", errno);
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), ::closedir);
    if (!stream) return fail_errno("read directory", errno);
    Entries out;
    while (const dirent* entry = ::readdir(stream.get())) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") out.names.emplace_back(name);
    }
    return out;
}

Result<void> empty_dir(int top, int dir, int depth, std::int64_t& moved);

Result<void> remove_entry(int top, int dir, const std::string& name, int depth, std::int64_t& moved) {
    if (::unlinkat(dir, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    if (errno == EBUSY)
        return fail(ErrorKind::conflict, "remove " + quoted(name) + ": a mount is on it; unmount it first");
    if (errno != EISDIR && errno != EPERM) return fail_errno("remove " + quoted(name), errno);
    if (depth >= kDepthMax) {
        // Each level holds a descriptor: what lies too deep is moved to the top and dealt with from there.
        for (;;) {
            const std::string shallow = ".deep-" + std::to_string(++moved);
            if (::renameat(dir, name.c_str(), top, shallow.c_str()) == 0) return {};
            if (errno != EEXIST && errno != ENOTEMPTY) return fail_errno("move " + quoted(name), errno);
        }
    }
    const Fd child(open_beneath(dir, name.c_str(), O_RDONLY | O_DIRECTORY));
    if (!child.is_open() && errno == EXDEV) {
        return fail(ErrorKind::conflict, "remove " + quoted(name) + ": a mount is on it; unmount it first");
    }
    if (!child.is_open()) return errno == ENOENT ? Result<void>{} : fail_errno("open " + quoted(name), errno);
    TRY_DO(empty_dir(top, child.get(), depth + 1, moved));
    if (::unlinkat(dir, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    if (errno == EBUSY)
        return fail(ErrorKind::conflict, "remove " + quoted(name) + ": a mount is on it; unmount it first");
    return fail_errno("remove " + quoted(name), errno);
}

Result<void> empty_dir(int top, int dir, int depth, std::int64_t& moved) {
    for (;;) {
        TRY(const Entries entries, entries_of(dir));
        if (entries.names.empty()) return {};
        for (const std::string& name : entries.names) TRY_DO(remove_entry(top, dir, name, depth, moved));
        if (depth > 0) return {};  // only the top fills up again while we work
    }
}

Result<void> give_entry(int dir, const char* name, gid_t group, int depth) {
    struct stat status{};
    if (::fstatat(dir, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return fail_errno("stat " + quoted(name), errno);
    if (::fchownat(dir, name, static_cast<uid_t>(-1), group, AT_SYMLINK_NOFOLLOW) != 0) {
        return fail_errno("chown " + quoted(name), errno);
    }
    if (S_ISLNK(status.st_mode)) return {};
    const mode_t more = S_ISDIR(status.st_mode) ? (S_IRWXG | S_ISGID) : (S_IRGRP | S_IWGRP);
    if (::fchmodat(dir, name, (status.st_mode | more) & 07777, 0) != 0)
        return fail_errno("chmod " + quoted(name), errno);
    if (!S_ISDIR(status.st_mode)) return {};
    if (depth >= kDepthMax) return {};  // deeper folders keep their owner; nothing of ours lies there
    const Fd child(open_beneath(dir, name, O_RDONLY | O_DIRECTORY));
    if (!child.is_open()) return errno == EXDEV ? Result<void>{} : fail_errno("open " + quoted(name), errno);
    TRY(const Entries entries, entries_of(child.get()));
    for (const std::string& inner : entries.names) TRY_DO(give_entry(child.get(), inner.c_str(), group, depth + 1));
    return {};
}

Result<void> copy_range(int from, int to, off_t begin, off_t end) {
    std::vector<char> buffer;  // only when the kernel cannot copy between these two
    while (begin < end) {
        off_t source = begin;
        off_t target = begin;
        const auto length = static_cast<std::size_t>(end - begin);
        ssize_t count = buffer.empty() ? ::copy_file_range(from, &source, to, &target, length, 0) : -1;
        if (count < 0) {
            buffer.resize(1 << 20);
            count = ::pread(from, buffer.data(), std::min(length, buffer.size()), begin);
            if (count > 0) count = ::pwrite(to, buffer.data(), static_cast<std::size_t>(count), begin);
        }
        if (count < 0) return fail_errno("copy", errno);
        if (count == 0) return fail(ErrorKind::io, "copy: the file became shorter meanwhile");
        begin += count;
    }
    return {};
}

std::pair<std::string, std::string> split_path(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return {".", path};
    return {slash == 0 ? "/" : path.substr(0, slash), path.substr(slash + 1)};
}

Result<void> sync_dir(const std::string& path) {
    const Fd dir(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!dir.is_open() || ::fsync(dir.get()) != 0) return fail_errno("sync directory " + quoted(path), errno);
    return {};
}

}  // namespace

std::unexpected<Error> fail_errno(std::string_view context, int number) {
    ErrorKind kind = ErrorKind::io;
    if (number == ENOENT || number == ENXIO) kind = ErrorKind::not_found;
    if (number == EEXIST) kind = ErrorKind::already_exists;
    if (number == EBUSY || number == EXDEV) kind = ErrorKind::conflict;
    if (number == EACCES || number == EPERM) kind = ErrorKind::forbidden;
    if (number == EINVAL) kind = ErrorKind::invalid;
    return fail(kind, std::string(context) + ": " + std::strerror(number));
}

Result<std::string> read_file(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return fail_errno("open " + quoted(path), errno);
    std::string out;
    char buffer[16384];
    for (;;) {
        const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return fail_errno("read " + quoted(path), errno);
        if (count == 0) return out;
        out.append(buffer, static_cast<std::size_t>(count));
        if (out.size() > kReadMax) return fail(ErrorKind::invalid, "read " + quoted(path) + ": larger than 16 MiB");
    }
}

Result<void> write_durably(const std::string& path, std::string_view content, mode_t mode) {
    const auto [dir, name] = split_path(path);
    std::string temp = dir + "/.tmp-" + name + "-XXXXXX";
    const Fd file(::mkostemp(temp.data(), O_CLOEXEC));
    if (!file.is_open()) return fail_errno("make a file in " + quoted(dir), errno);
    Result<void> done = write_all(file.get(), content, path);
    if (done && (::fchmod(file.get(), mode) != 0 || ::fsync(file.get()) != 0))
        done = fail_errno("sync " + quoted(path), errno);
    if (done && ::rename(temp.c_str(), path.c_str()) != 0) done = fail_errno("rename to " + quoted(path), errno);
    if (!done) {
        ::unlink(temp.c_str());
        return done;
    }
    return sync_dir(dir);
}

Result<void> write_plain(const std::string& path, std::string_view content, mode_t mode) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!file.is_open()) return fail_errno("open " + quoted(path), errno);
    if (::fchmod(file.get(), mode) != 0) return fail_errno("chmod " + quoted(path), errno);
    return write_all(file.get(), content, path);
}

Result<void> make_dirs(const std::string& path, mode_t mode) {
    for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
        const std::string above = path.substr(0, at);
        if (::mkdir(above.c_str(), 0755) != 0 && errno != EEXIST)
            return fail_errno("make directory " + quoted(above), errno);
    }
    if (::mkdir(path.c_str(), mode) == 0) {
        if (::chmod(path.c_str(), mode) != 0) return fail_errno("chmod " + quoted(path), errno);
        return {};
    }
    if (errno != EEXIST) return fail_errno("make directory " + quoted(path), errno);
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return fail_errno("stat " + quoted(path), errno);
    if (!S_ISDIR(status.st_mode)) return fail_errno("make directory " + quoted(path), ENOTDIR);
    if ((status.st_mode & 07777) != mode && ::chmod(path.c_str(), mode) != 0)
        return fail_errno("chmod " + quoted(path), errno);
    return {};
}

Result<void> replace_link(const std::string& target, const std::string& path) {
    const std::string temp = path + ".tmp";
    ::unlink(temp.c_str());
    if (::symlink(target.c_str(), temp.c_str()) != 0) return fail_errno("make link " + quoted(temp), errno);
    if (::rename(temp.c_str(), path.c_str()) != 0) return fail_errno("rename to " + quoted(path), errno);
    return {};
}

std::vector<std::string> list_dir(const std::string& path) {
    const Fd dir(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!dir.is_open()) return {};
    Result<Entries> entries = entries_of(dir.get());
    if (!entries) return {};
    std::ranges::sort(entries->names);
    return std::move(entries->names);
}

bool exists(const std::string& path) {
    struct stat status{};
    return ::lstat(path.c_str(), &status) == 0;
}

Result<void> remove_tree(const std::string& path) {
    const auto [parent, name] = split_path(path);
    const Fd dir(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!dir.is_open()) return errno == ENOENT ? Result<void>{} : fail_errno("open " + quoted(parent), errno);
    const Result<void> done = remove_tree_at(dir.get(), name);
    return done ? Result<void>{} : within("in " + quoted(parent), done.error());
}

Result<void> remove_tree_at(int dir, const std::string& name) {
    if (::unlinkat(dir, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    const Fd top(open_beneath(dir, name.c_str(), O_RDONLY | O_DIRECTORY));
    if (!top.is_open() && errno == ENOENT) return {};
    if (!top.is_open() && errno == EXDEV) {
        return fail(ErrorKind::conflict, "remove " + quoted(name) + ": a mount is on it; unmount it first");
    }
    if (!top.is_open()) return fail_errno("remove " + quoted(name), errno);
    std::int64_t moved = 0;
    TRY_DO(empty_dir(top.get(), top.get(), 0, moved));
    if (::unlinkat(dir, name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT)
        return fail_errno("remove " + quoted(name), errno);
    return {};
}

Result<void> copy_content(int from, int to) {
    struct stat status{};
    if (::fstat(from, &status) != 0) return fail_errno("stat", errno);
    if (::ioctl(to, FICLONE, from) == 0) return {};
    if (::ftruncate(to, status.st_size) != 0) return fail_errno("make room", errno);
    off_t at = 0;
    while (at < status.st_size) {
        const off_t data = ::lseek(from, at, SEEK_DATA);
        if (data < 0 && errno == ENXIO) return {};  // only a hole is left
        if (data < 0) return fail_errno("find data", errno);
        const off_t hole = ::lseek(from, data, SEEK_HOLE);
        if (hole < 0) return fail_errno("find a hole", errno);
        TRY_DO(copy_range(from, to, data, hole));
        at = hole;
    }
    return {};
}

Result<void> give_to_group(const std::string& path, gid_t group) {
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return fail_errno("stat " + quoted(path), errno);
    const mode_t wanted = S_ISDIR(status.st_mode) ? (S_IRWXG | S_ISGID) : (S_IRGRP | S_IWGRP);
    if (status.st_gid == group && (status.st_mode & wanted) == wanted) return {};
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) return {};
    const Fd root(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!root.is_open()) return fail_errno("open " + quoted(path), errno);
    if (S_ISDIR(status.st_mode)) {
        TRY(const Entries entries, entries_of(root.get()));
        for (const std::string& name : entries.names) TRY_DO(give_entry(root.get(), name.c_str(), group, 1));
    }
    // The root comes last: while it is not as wanted, an interrupted run is done again.
    if (::fchown(root.get(), static_cast<uid_t>(-1), group) != 0) return fail_errno("chown " + quoted(path), errno);
    if (::fchmod(root.get(), (status.st_mode | wanted) & 07777) != 0) return fail_errno("chmod " + quoted(path), errno);
    return {};
}

bool is_plain_name(std::string_view name) {
    return !name.empty() && name.front() != '.' && name.find('/') == std::string_view::npos &&
           name.find('\0') == std::string_view::npos && name.size() < 250;
}

}  // namespace berth::solo
