#include "cli/demo/file_server.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace berth::cli {
namespace {

struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;
    bool is_partial = false;
};

// "Range: bytes=FIRST-[LAST]" of a request head.
Range range_of(const std::string& head, std::int64_t size) {
    Range range{0, size - 1, false};
    const std::size_t at = head.find("bytes=");
    if (at == std::string::npos) return range;
    const char* const end = head.data() + head.size();
    auto [next, error] = std::from_chars(head.data() + at + 6, end, range.first);
    if (error != std::errc{} || next == end || *next != '-') return {0, size - 1, false};
    std::int64_t last = 0;
    if (std::from_chars(next + 1, end, last).ec == std::errc{}) range.last = std::min(last, size - 1);
    range.is_partial = true;
    return range;
}

bool send_all(int to, const char* bytes, std::size_t count) {
    while (count > 0) {
        const ssize_t sent = ::send(to, bytes, count, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes += sent;
        count -= static_cast<std::size_t>(sent);
    }
    return true;
}

}  // namespace

Result<std::unique_ptr<FileServer>> FileServer::start(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return fail(ErrorKind::io, "open \"" + path + "\": " + std::strerror(errno));
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* const generic = reinterpret_cast<sockaddr*>(&address);
    const bool bound = ::bind(listener, generic, length) == 0 && ::listen(listener, 16) == 0 &&
                       ::getsockname(listener, generic, &length) == 0;
    if (!bound) {
        ::close(file);
        ::close(listener);
        return fail(ErrorKind::io, std::string("listen on 127.0.0.1: ") + std::strerror(errno));
    }
    const std::string name = path.substr(path.rfind('/') + 1);
    return std::unique_ptr<FileServer>(new FileServer(listener, file, ntohs(address.sin_port), name));
}

FileServer::FileServer(int listener, int file, std::uint16_t port, std::string name)
    : listener_(listener), file_(file), port_(port), name_(std::move(name)), thread_([this] { serve(); }) {}

FileServer::~FileServer() {
    stopping_ = true;
    ::shutdown(listener_, SHUT_RDWR);  // wakes accept()
    thread_.join();
    ::close(listener_);
    ::close(file_);
}

std::string FileServer::url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/" + name_; }

void FileServer::serve() {
    while (!stopping_) {
        const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) continue;
        const timeval patience{.tv_sec = 10, .tv_usec = 0};
        ::setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        ::setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
        answer(client);
        ::close(client);
    }
}

void FileServer::answer(int client) {
    std::string head;
    char part[4096];
    while (head.find("\r\n\r\n") == std::string::npos && head.size() < 16384) {
        const ssize_t got = ::recv(client, part, sizeof part, 0);
        if (got <= 0) return;
        head.append(part, static_cast<std::size_t>(got));
    }
    const bool is_head = head.starts_with("HEAD ");
    const bool is_known = head.find(" /" + name_ + " ") != std::string::npos && (is_head || head.starts_with("GET "));
    struct stat info{};
    if (!is_known || ::fstat(file_, &info) != 0) {
        const std::string_view refusal = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        send_all(client, refusal.data(), refusal.size());
        return;
    }
    const Range range = range_of(head, info.st_size);
    std::string answer = range.is_partial ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n";
    answer += "Accept-Ranges: bytes\r\nConnection: close\r\nContent-Type: application/octet-stream\r\n";
    answer += "Content-Length: " + std::to_string(range.last - range.first + 1) + "\r\n";
    if (range.is_partial) {
        answer += "Content-Range: bytes " + std::to_string(range.first) + "-" + std::to_string(range.last) + "/" +
                  std::to_string(info.st_size) + "\r\n";
    }
    answer += "\r\n";
    if (!send_all(client, answer.data(), answer.size()) || is_head) return;
    std::vector<char> buffer(1 << 20);
    for (std::int64_t at = range.first; at <= range.last;) {
        const auto want = std::min<std::int64_t>(static_cast<std::int64_t>(buffer.size()), range.last - at + 1);
        const ssize_t got = ::pread(file_, buffer.data(), static_cast<std::size_t>(want), at);
        if (got <= 0 || !send_all(client, buffer.data(), static_cast<std::size_t>(got))) return;
        at += got;
    }
}

}  // namespace berth::cli
