// An HTTP server for tests that serves files as well or as badly as a test wants. One connection, one request, one
// thread.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace berth::image::testing {

struct Page {
    std::string file;  ///< what is served
    int status = 200;
    bool takes_head = true;
    bool takes_ranges = true;
    bool says_length = true;
    std::string etag;
    std::string location;            ///< with a 3xx status
    std::string user, password;      ///< asked for with basic auth; "" = no
    std::string needs_header;        ///< a whole line; "" = none
    std::int64_t closes_after = -1;  ///< bytes of body; -1 = never
    int closes_times = 0;            ///< how many GETs that happens to
    std::int64_t lies_on_head = 0;   ///< added to the length that HEAD announces
    std::int64_t lies_on_get = 0;    ///< the same for GET
};

struct Seen {
    std::string method;
    std::string path;
    std::string range;  ///< "bytes=0-511" or ""
    std::string authorization;
    std::string headers;  ///< all, as they came
};

class Server {
public:
    Server() : Server("", "") {}
    /// With TLS.
    Server(const std::string& certificate, const std::string& key);
    ~Server();

    void put(const std::string& path, Page page);
    [[nodiscard]] std::string url(const std::string& path) const;
    [[nodiscard]] std::vector<Seen> seen() const;
    [[nodiscard]] int count(const std::string& method) const;

private:
    struct Tls;
    void serve();
    void answer(int fd);

    std::unique_ptr<Tls> tls_;
    mutable std::mutex mutex_;
    std::map<std::string, Page> pages_;
    std::vector<Seen> seen_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<bool> stops_ = false;
    std::vector<std::thread> answers_;
    std::thread thread_;
};

}  // namespace berth::image::testing
