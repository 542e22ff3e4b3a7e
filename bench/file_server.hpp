// A file behind http://127.0.0.1:PORT/, with ranges and connections that stay, so that neither side of a comparison
// waits for it.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace berth::bench {

class FileServer {
public:
    explicit FileServer(std::string path) : path_(std::move(path)) {
        listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof address;
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0)
            std::abort();
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
        port_ = ntohs(address.sin_port);
        acceptor_ = std::thread([this] {
            for (int fd = accept_one(); fd >= 0; fd = accept_one()) {
                open_.push_back(fd);
                threads_.emplace_back([this, fd] { serve(fd); });
            }
        });
    }
    ~FileServer() {
        ::shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
        for (std::thread& one : threads_) one.join();
        for (const int fd : open_) ::close(fd);
        ::close(listener_);
    }
    FileServer(const FileServer&) = delete;
    FileServer& operator=(const FileServer&) = delete;

    [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/image"; }

private:
    [[nodiscard]] int accept_one() const { return ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC); }

    void serve(int fd) const {
        std::string inbox;
        char buffer[8192];
        for (;;) {
            const auto end = inbox.find("\r\n\r\n");
            if (end == std::string::npos) {
                const ssize_t n = ::recv(fd, buffer, sizeof buffer, 0);
                if (n <= 0) return;
                inbox.append(buffer, static_cast<std::size_t>(n));
                continue;
            }
            const std::string request = inbox.substr(0, end);
            inbox.erase(0, end + 4);
            if (!answer(fd, request)) return;
        }
    }

    bool answer(int fd, const std::string& request) const {
        const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
        struct stat about = {};
        ::fstat(file, &about);
        long long begin = 0;
        long long last = about.st_size - 1;
        const auto range = request.find("ange: bytes=");
        const bool is_part = range != std::string::npos;
        if (is_part) std::sscanf(request.c_str() + range, "ange: bytes=%lld-%lld", &begin, &last);
        last = std::min<long long>(last, about.st_size - 1);
        std::string head = is_part ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n";
        head += "Accept-Ranges: bytes\r\nContent-Length: " + std::to_string(last - begin + 1) + "\r\n";
        if (is_part) {
            head += "Content-Range: bytes " + std::to_string(begin) + "-" + std::to_string(last) + "/" +
                    std::to_string(about.st_size) + "\r\n";
        }
        head += "\r\n";
        const bool has_body = !request.starts_with("HEAD");
        // In one segment with what follows: apart, a short body would wait for the head's acknowledgement.
        const int flags = has_body ? MSG_NOSIGNAL | MSG_MORE : MSG_NOSIGNAL;
        bool is_sent = ::send(fd, head.data(), head.size(), flags) == static_cast<ssize_t>(head.size());
        off_t at = begin;
        while (is_sent && has_body && at <= last) {
            is_sent = ::sendfile(fd, file, &at, static_cast<std::size_t>(last - at + 1)) > 0;
        }
        ::close(file);
        return is_sent;
    }

    std::string path_;
    int listener_ = -1;
    int port_ = 0;
    std::thread acceptor_;
    std::vector<int> open_;
    std::vector<std::thread> threads_;
};

}  // namespace berth::bench
