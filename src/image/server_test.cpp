// The server of server_testing.hpp.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "image/server_testing.hpp"

namespace berth::image::testing {
namespace {

std::string header_of(const std::string& request, const std::string& name) {
    std::string lower = request;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto at = lower.find("\r\n" + name + ": ");
    if (at == std::string::npos) return {};
    const auto begin = at + name.size() + 4;
    return request.substr(begin, request.find('\r', begin) - begin);
}

std::string base64(const std::string& text) {
    std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');
    const int n = EVP_EncodeBlock(
        reinterpret_cast<unsigned char*>(out.data()),
        reinterpret_cast<const unsigned char*>(text.data()),
        static_cast<int>(text.size())
    );
    out.resize(static_cast<std::size_t>(n));
    return out;
}

/// A connection, with or without TLS.
struct Stream {
    int fd;
    SSL* ssl = nullptr;

    bool write(const char* data, std::size_t size) const {
        while (size > 0) {
            const auto n = ssl != nullptr ? SSL_write(ssl, data, static_cast<int>(std::min<std::size_t>(size, 1 << 20)))
                                          : ::send(fd, data, size, MSG_NOSIGNAL);
            if (n <= 0) return false;
            data += n;
            size -= static_cast<std::size_t>(n);
        }
        return true;
    }
    std::string read_request() const {
        std::string out;
        char buffer[4096];
        while (out.find("\r\n\r\n") == std::string::npos) {
            const auto n = ssl != nullptr ? SSL_read(ssl, buffer, sizeof buffer) : ::recv(fd, buffer, sizeof buffer, 0);
            if (n <= 0) return {};
            out.append(buffer, static_cast<std::size_t>(n));
        }
        return out;
    }
};

struct Range {
    std::int64_t begin = 0;
    std::int64_t end = 0;  ///< one past the last
    bool is_partial = false;
};

Range range_of(const std::string& text, std::int64_t size) {
    long long begin = 0;
    long long last = size - 1;
    if (std::sscanf(text.c_str(), "bytes=%lld-%lld", &begin, &last) < 1) return {0, size, false};
    return {begin, std::min<std::int64_t>(last + 1, size), true};
}

void send_file(const Stream& stream, const std::string& path, std::int64_t begin, std::int64_t end) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    std::vector<char> buffer(256 * 1024);
    while (begin < end) {
        const auto want =
            static_cast<std::size_t>(std::min<std::int64_t>(end - begin, static_cast<std::int64_t>(buffer.size())));
        const ssize_t n = ::pread(fd, buffer.data(), want, begin);
        if (n <= 0 || !stream.write(buffer.data(), static_cast<std::size_t>(n))) break;
        begin += n;
    }
    ::close(fd);
}

void send_page(const Stream& stream, const Page& page, const Seen& seen, bool closes) {
    struct stat found = {};
    ::stat(page.file.c_str(), &found);
    Range range{0, found.st_size, false};
    if (page.takes_ranges && !seen.range.empty()) range = range_of(seen.range, found.st_size);
    int status = page.status;
    if (seen.method == "HEAD" && !page.takes_head) status = 403;
    if (!page.user.empty() && seen.authorization != "Basic " + base64(page.user + ":" + page.password)) status = 401;
    if (!page.needs_header.empty() && seen.headers.find("\r\n" + page.needs_header + "\r\n") == std::string::npos)
        status = 400;
    if (status == 200 && range.is_partial) status = 206;
    std::string head = "HTTP/1.1 " + std::to_string(status) + (status == 404 ? " Not Found" : " Whatever") +
                       "\r\nConnection: close\r\n";
    if (!page.etag.empty()) head += "ETag: " + page.etag + "\r\n";
    if (!page.location.empty()) head += "Location: " + page.location + "\r\n";
    if (page.takes_ranges) head += "Accept-Ranges: bytes\r\n";
    const bool has_body = status / 100 == 2;
    const std::int64_t lie = seen.method == "HEAD" ? page.lies_on_head : page.lies_on_get;
    if (has_body && page.says_length)
        head += "Content-Length: " + std::to_string(range.end - range.begin + lie) + "\r\n";
    if (range.is_partial) {
        head += "Content-Range: bytes " + std::to_string(range.begin) + "-" + std::to_string(range.end - 1) + "/" +
                std::to_string(found.st_size) + "\r\n";
    }
    if (!stream.write((head + "\r\n").data(), head.size() + 2)) return;
    if (seen.method == "HEAD" || !has_body) return;
    const std::int64_t end = closes ? std::min(range.end, range.begin + page.closes_after) : range.end;
    send_file(stream, page.file, range.begin, end);
}

}  // namespace

struct Server::Tls {
    SSL_CTX* context = nullptr;
    ~Tls() { SSL_CTX_free(context); }
};

Server::Server(const std::string& certificate, const std::string& key) {
    std::signal(SIGPIPE, SIG_IGN);
    if (!certificate.empty()) {
        tls_ = std::make_unique<Tls>();
        tls_->context = SSL_CTX_new(TLS_server_method());
        if (SSL_CTX_use_certificate_file(tls_->context, certificate.c_str(), SSL_FILETYPE_PEM) != 1) std::abort();
        if (SSL_CTX_use_PrivateKey_file(tls_->context, key.c_str(), SSL_FILETYPE_PEM) != 1) std::abort();
    }
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener_, 64) != 0)
        std::abort();
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
}

Server::~Server() {
    stops_ = true;
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (std::thread& one : answers_) one.join();
    ::close(listener_);
}

void Server::put(const std::string& path, Page page) {
    const std::scoped_lock lock(mutex_);
    pages_[path] = std::move(page);
}

std::string Server::url(const std::string& path) const {
    return std::string(tls_ ? "https" : "http") + "://127.0.0.1:" + std::to_string(port_) + path;
}

std::vector<Seen> Server::seen() const {
    const std::scoped_lock lock(mutex_);
    return seen_;
}

int Server::count(const std::string& method) const {
    const std::vector<Seen> all = seen();
    return static_cast<int>(std::ranges::count(all, method, &Seen::method));
}

void Server::serve() {
    while (!stops_) {
        const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd < 0) return;
        answers_.emplace_back([this, fd] { answer(fd); });
    }
}

void Server::answer(int fd) {
    Stream stream{fd};
    if (tls_) {
        stream.ssl = SSL_new(tls_->context);
        SSL_set_fd(stream.ssl, fd);
        SSL_accept(stream.ssl);
    }
    const std::string request = stream.read_request();
    const auto blank = request.find(' ');
    if (blank != std::string::npos) {
        Seen seen{
            request.substr(0, blank),
            request.substr(blank + 1, request.find(' ', blank + 1) - blank - 1),
            header_of(request, "range"),
            header_of(request, "authorization"),
            request
        };
        Page page{.status = 404};
        bool closes = false;
        {
            const std::scoped_lock lock(mutex_);
            seen_.push_back(seen);
            if (const auto it = pages_.find(seen.path); it != pages_.end()) {
                closes = seen.method == "GET" && it->second.closes_times > 0;
                if (closes) --it->second.closes_times;
                page = it->second;
            }
        }
        send_page(stream, page, seen, closes);
    }
    if (stream.ssl != nullptr) {
        SSL_shutdown(stream.ssl);
        SSL_free(stream.ssl);
    }
    ::shutdown(fd, SHUT_WR);
    ::close(fd);
}

}  // namespace berth::image::testing
