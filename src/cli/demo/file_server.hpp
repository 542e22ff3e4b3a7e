// A web server for one file on 127.0.0.1, as an image repository would serve it: GET, HEAD and Range.
// For the demo only: it is slow, serves one request a connection, and stops with its object.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "base/result.hpp"

namespace berth::cli {

class FileServer {
public:
    /// Serves `path` as http://127.0.0.1:<port>/<its file name>. Errors  io: the file or the port cannot be had
    static Result<std::unique_ptr<FileServer>> start(const std::string& path);
    ~FileServer();

    [[nodiscard]] std::string url() const;

private:
    FileServer(int listener, int file, std::uint16_t port, std::string name);
    void serve();
    void answer(int client);

    int listener_;
    int file_;
    std::uint16_t port_;
    std::string name_;
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};

}  // namespace berth::cli
