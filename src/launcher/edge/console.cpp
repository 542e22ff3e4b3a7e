// See console.hpp.
#include "launcher/edge/console.hpp"

#include <algorithm>
#include <fstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace berth::launcher {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kClientsMax = 16;
constexpr std::size_t kBacklogMax = 256 << 10;  // of a client that does not read; then it loses what it has missed
constexpr std::size_t kTrimEvery = 1 << 20;
constexpr off_t kLogKept = 256 << 10;
constexpr Duration kPause = 50ms;

std::string tail_of(const std::string& path, std::size_t length) {
    std::ifstream in(path, std::ios::binary | std::ios::ate);
    if (!in.is_open()) return {};
    const auto size = static_cast<std::size_t>(std::max<std::streamoff>(in.tellg(), 0));
    in.seekg(static_cast<std::streamoff>(size - std::min(size, length)));
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The log lies in memory and grows as long as the guest talks: its beginning becomes a hole. QEMU appends meanwhile.
void trim_log(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    struct stat found{};
    if (::fstat(fd, &found) == 0 && found.st_size > kLogKept) {
        ::fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, found.st_size - kLogKept);
    }
    ::close(fd);
}

}  // namespace

struct Console::Client {
    Client(Executor executor, std::shared_ptr<agent::UnixStream> s)
        : stream(std::move(s)), ready(std::move(executor)) {}

    std::shared_ptr<agent::UnixStream> stream;
    std::string backlog;
    Notify ready;

    void add(std::string_view bytes) {
        if (backlog.size() + bytes.size() > kBacklogMax) backlog.clear();
        backlog += bytes;
        ready.notify();
    }
};

Console::Console(Executor executor, Launcher& launcher, Clock& clock, Log& log)
    : launcher_(launcher), clock_(clock), log_(log), group_(std::move(executor)) {}

Task<void> Console::read_guest(std::string serial_socket, std::string log_path) {
    while (true) {
        while (!launcher_.is_guest_on()) co_await launcher_.guest_changed().wait();
        Result<std::unique_ptr<agent::UnixStream>> connected = co_await agent::UnixStream::connect(serial_socket);
        if (!connected) {
            co_await clock_.sleep_for(kPause);
            continue;
        }
        guest_ = *std::move(connected);
        co_await follow(guest_, log_path);
        guest_.reset();
    }
}

Task<void> Console::follow(std::shared_ptr<agent::UnixStream> guest, std::string log_path) {
    // What was said while nobody was connected is in the log. Its last bytes may come again from the socket; none is
    // lost.
    const std::string before = tail_of(log_path, kScrollback);
    scrollback_.clear();
    said(before);
    std::size_t untrimmed = kTrimEvery;
    while (true) {
        const std::optional<std::string> bytes = co_await guest->read();
        if (!bytes) co_return;
        said(*bytes);
        untrimmed += bytes->size();
        if (untrimmed < kTrimEvery) continue;
        untrimmed = 0;
        trim_log(log_path);
    }
}

void Console::said(std::string_view bytes) {
    scrollback_ += bytes;
    if (scrollback_.size() > 2 * kScrollback) scrollback_.erase(0, scrollback_.size() - kScrollback);
    for (const auto& client : clients_) client->add(bytes);
}

Task<void> Console::serve(std::string path) {
    return agent::serve_socket(clock_, log_, std::move(path), [this](std::shared_ptr<agent::UnixStream> stream) {
        take(std::move(stream));
    });
}

void Console::take(std::shared_ptr<agent::UnixStream> stream) {
    if (clients_.size() >= kClientsMax) return;
    auto client = std::make_shared<Client>(group_.executor(), std::move(stream));
    client->add(std::string_view(scrollback_).substr(scrollback_.size() - std::min(scrollback_.size(), kScrollback)));
    clients_.push_back(client);
    group_.spawn("console output", write_client(client));
    group_.spawn("console input", serve_client(std::move(client)));
}

Task<void> Console::serve_client(std::shared_ptr<Client> client) {
    while (true) {
        std::optional<std::string> typed = co_await client->stream->read();
        if (!typed) break;
        const std::shared_ptr<agent::UnixStream> guest = guest_;
        if (guest) co_await guest->write(*std::move(typed));
    }
    clients_.remove(client);
    client->stream->close();
    client->ready.notify();
}

Task<void> Console::write_client(std::shared_ptr<Client> client) {
    while (client->stream->is_open()) {
        if (client->backlog.empty()) {
            co_await client->ready.wait();
            continue;
        }
        std::string bytes = std::exchange(client->backlog, {});
        const Result<void> written = co_await client->stream->write(std::move(bytes));
        if (!written) co_return;
    }
}

}  // namespace berth::launcher
