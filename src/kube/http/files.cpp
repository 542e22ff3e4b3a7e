#include "kube/http/files.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace berth::kube::http {
namespace {

Error io_error(std::string_view what, const std::filesystem::path& path) {
    return {ErrorKind::io, std::string(what) + " \"" + path.string() + "\": " + std::strerror(errno)};
}

Result<void> write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0) return std::unexpected(io_error("write", path));
        bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(fd) != 0) return std::unexpected(io_error("fsync", path));
    return {};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        Error error = io_error("read", path);
        if (errno == ENOENT) error.kind = ErrorKind::not_found;
        return std::unexpected(std::move(error));
    }
    return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<void> write_file(const std::filesystem::path& path, std::string_view bytes) {
    const std::filesystem::path temporary = path.string() + ".new";
    const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return std::unexpected(io_error("create", temporary));
    ::fchmod(fd, 0600);  // the temporary file of an earlier, interrupted write may have had another mode
    const Result<void> written = write_all(fd, bytes, temporary);
    ::close(fd);
    TRY_DO(written);
    if (::rename(temporary.c_str(), path.c_str()) != 0) return std::unexpected(io_error("replace", path));
    const int directory =
        ::open(path.parent_path().empty() ? "." : path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory >= 0) {
        ::fsync(directory);
        ::close(directory);
    }
    return {};
}

}  // namespace berth::kube::http
