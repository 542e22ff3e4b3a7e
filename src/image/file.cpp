#include "image/file.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/text.hpp"

namespace berth::image {

Error system_error(const std::string& what, int code) {
    if (code == ENOSPC)
        return {
            ErrorKind::unavailable, what + ": no space left on device: use a larger volume, or make room on the node"
        };
    if (code == EDQUOT)
        return {ErrorKind::unavailable, what + ": disk quota exceeded: use a larger volume, or raise the quota"};
    char text[128];
    std::string reason = strerror_r(code, text, sizeof text);
    if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(reason[0])));
    return {ErrorKind::io, what + ": " + reason};
}

Result<void> write_at(int fd, Chunk bytes, std::int64_t offset, const std::string& name) {
    while (!bytes.empty()) {
        const ssize_t n = ::pwrite(fd, bytes.data(), bytes.size(), offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return std::unexpected(system_error("write " + name, errno));
        bytes = bytes.subspan(static_cast<std::size_t>(n));
        offset += n;
    }
    return {};
}

Result<std::size_t> read_at(int fd, std::span<std::byte> bytes, std::int64_t offset, const std::string& name) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t n =
            ::pread(fd, bytes.data() + done, bytes.size() - done, offset + static_cast<std::int64_t>(done));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return std::unexpected(system_error("read " + name, errno));
        if (n == 0) break;
        done += static_cast<std::size_t>(n);
    }
    return done;
}

Result<void> sync_file(int fd, const std::string& name) {
    if (::fsync(fd) != 0) return std::unexpected(system_error("sync " + name, errno));
    return {};
}

Result<void> sync_parent(const std::string& path) {
    const std::string directory = parent_of(path);
    const Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.is_open()) return std::unexpected(system_error("open " + directory, errno));
    return sync_file(fd.get(), directory);
}

Result<void> replace_file(const std::string& path, std::string_view content) {
    const std::string temporary = path + ".new";
    {
        const Fd fd(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
        if (!fd.is_open()) return std::unexpected(system_error("create " + temporary, errno));
        TRY_DO(write_at(fd.get(), std::as_bytes(std::span(content)), 0, temporary));
        TRY_DO(sync_file(fd.get(), temporary));
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0)
        return std::unexpected(system_error("rename " + temporary, errno));
    return sync_parent(path);
}

std::string read_small_file(const std::string& path) {
    constexpr std::size_t kMax = 1 << 20;
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.is_open()) return {};
    std::string text(kMax, '\0');
    const auto n = read_at(fd.get(), std::as_writable_bytes(std::span(text)), 0, path);
    text.resize(n.value_or(0));
    return text;
}

void remove_file(const std::string& path) { ::unlink(path.c_str()); }

Result<Bytes> free_space(const std::string& directory) {
    struct statvfs room = {};
    if (::statvfs(directory.c_str(), &room) != 0) return std::unexpected(system_error("look at " + directory, errno));
    return Bytes{static_cast<std::int64_t>(room.f_bavail * room.f_frsize)};
}

std::string parent_of(const std::string& path) {
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace berth::image
