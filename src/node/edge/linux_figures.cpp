#include "node/edge/linux_figures.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <optional>

#include "base/fd.hpp"

namespace berth::node {
namespace asio = boost::asio;

namespace {

// "0.00%" to "99.99%": the folder belongs to the pod, so what lies in it is a claim, not a fact.
bool is_figure(std::string_view text) {
    const std::size_t point = text.find('.');
    if (point == 0 || point > 2 || text.size() != point + 4 || text.back() != '%') return false;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return std::ranges::all_of(text.substr(0, point), is_digit) &&
           std::ranges::all_of(text.substr(point + 1, 2), is_digit);
}

std::optional<std::string> figure_in(const std::string& path) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat about{};
    if (!fd.is_open() || ::fstat(fd.get(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
    std::array<char, 16> buffer{};
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count <= 0) return {};
    const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
    if (!is_figure(text)) return {};
    return std::string(text);
}

}  // namespace

struct LinuxFigures::Watch {
    explicit Watch(const Executor& executor) : stream(executor, ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}
    asio::posix::stream_descriptor stream;
};

LinuxFigures::LinuxFigures(Executor executor, std::function<std::string(const Uid&)> folder_of)
    : folder_of_(std::move(folder_of)), watch_(std::make_unique<Watch>(executor)), group_(executor) {
    group_.spawn("worker figures", run());
}

LinuxFigures::~LinuxFigures() = default;

void LinuxFigures::on_figure(std::function<void(const Uid&, const std::string&)> call) { call_ = std::move(call); }

void LinuxFigures::follow(const Uid& pod) {
    if (followed_.contains(pod)) return;
    std::string folder = folder_of_(pod);
    const int number =
        ::inotify_add_watch(watch_->stream.native_handle(), folder.c_str(), IN_MOVED_TO | IN_ONLYDIR | IN_DONT_FOLLOW);
    if (number < 0) return;  // no folder yet: the next change of the pod asks again
    followed_[pod] = {number, folder};
    read(pod, folder);
}

void LinuxFigures::drop(const Uid& pod) {
    const auto it = followed_.find(pod);
    if (it == followed_.end()) return;
    ::inotify_rm_watch(watch_->stream.native_handle(), it->second.number);
    followed_.erase(it);
}

void LinuxFigures::read(const Uid& pod, const std::string& folder) {
    const std::optional<std::string> figure = figure_in(folder + "/" + kFigureFile);
    if (figure && call_) call_(pod, *figure);
}

Task<void> LinuxFigures::run() {
    std::array<char, 4096> buffer{};
    for (;;) {
        boost::system::error_code error;
        co_await watch_->stream.async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return;
        // Which folder it was does not matter: there are few, and a figure that was told before changes nothing.
        const std::map<Uid, Followed> all = followed_;
        for (const auto& [pod, followed] : all) read(pod, followed.folder);
    }
}

}  // namespace berth::node
