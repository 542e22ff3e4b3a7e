#include "solo/edge/pod_log.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "solo/edge/fd.hpp"

namespace berth::solo {
namespace {

namespace asio = boost::asio;
using Descriptor = asio::posix::basic_stream_descriptor<Executor>;

constexpr std::size_t kChunk = 64 << 10;

std::string read_more(int fd) {
    std::string out(kChunk, '\0');
    const ssize_t got = ::read(fd, out.data(), out.size());
    out.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return out;
}

class PodLog final : public kube::ByteStream {
public:
    PodLog(Fd file, Fd changes, Executor executor, LogWishes wishes, std::function<bool()> has_ended)
        : file_(std::move(file)),
          wishes_(std::move(wishes)),
          left_(wishes_.limit_bytes),
          has_ended_(std::move(has_ended)) {
        if (changes.is_open()) changes_.emplace(std::move(executor), changes.release());
    }

    Task<std::optional<std::string>> next() override {
        if (wishes_.tail_lines) {
            // What is there now is cut to its last lines; what comes later is passed on.
            std::string all;
            for (std::string part = read_more(file_.get()); !part.empty(); part = read_more(file_.get())) all += part;
            std::string text = last_lines(render_log(all, wishes_, rest_), *wishes_.tail_lines);
            wishes_.tail_lines.reset();
            if (!text.empty()) co_return limited(std::move(text));
        }
        for (;;) {
            // Asked before reading: what was written before the end is then read after it.
            const bool is_last_look = !wishes_.follow || has_ended_();
            std::string text;
            for (std::string part = read_more(file_.get()); !part.empty() && text.empty();
                 part = text.empty() ? read_more(file_.get()) : "") {
                text = render_log(rest_ + part, wishes_, rest_);
            }
            if (left_ && *left_ <= 0) co_return std::nullopt;
            if (!text.empty()) co_return limited(std::move(text));
            if (is_last_look || !changes_) co_return std::nullopt;
            char events[4096];
            co_await changes_->async_read_some(asio::buffer(events), asio::use_awaitable);
        }
    }

private:
    std::string limited(std::string text) {
        if (left_) {
            text.resize(std::min(text.size(), static_cast<std::size_t>(std::max<std::int64_t>(*left_, 0))));
            *left_ -= static_cast<std::int64_t>(text.size());
        }
        return text;
    }

    Fd file_;
    std::optional<Descriptor> changes_;
    LogWishes wishes_;
    std::optional<std::int64_t> left_;
    std::function<bool()> has_ended_;
    std::string rest_;
};

}  // namespace

std::string render_log(std::string_view cri, const LogWishes& wishes, std::string& rest) {
    std::string out;
    std::string kept;
    while (!cri.empty()) {
        const std::size_t end = cri.find('\n');
        if (end == std::string_view::npos) {
            kept = std::string(cri);
            break;
        }
        const std::string_view line = cri.substr(0, end);
        cri.remove_prefix(end + 1);
        // "2026-12-02T04:22:19.639968360+00:00 stdout F text"
        const std::size_t stream = line.find(' ');
        const std::size_t tag = stream == std::string_view::npos ? stream : line.find(' ', stream + 1);
        if (tag == std::string_view::npos || tag + 2 > line.size()) continue;
        const bool is_partial = line[tag + 1] == 'P';
        const std::string_view text = line.size() > tag + 3 ? line.substr(tag + 3) : std::string_view();
        if (wishes.since) {
            const auto at = from_rfc3339(line.substr(0, stream));
            if (at && *at < *wishes.since) continue;
        }
        const bool begins_line = out.empty() || out.back() == '\n';
        if (wishes.timestamps && begins_line) out += std::string(line.substr(0, stream)) + " ";
        out += text;
        if (!is_partial) out += '\n';
    }
    rest = std::move(kept);
    return out;
}

std::string last_lines(std::string_view text, std::int64_t count) {
    if (count <= 0) return {};
    std::size_t at = text.size();
    if (at > 0 && text[at - 1] == '\n') --at;
    for (std::int64_t seen = 0; at > 0; --at) {
        if (text[at - 1] == '\n' && ++seen == count) break;
    }
    return std::string(text.substr(at));
}

Result<std::unique_ptr<kube::ByteStream>> open_pod_log(
    Executor executor,
    const std::string& path,
    const std::string& exits,
    LogWishes wishes,
    std::function<bool()> has_ended
) {
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return fail_errno("open \"" + path + "\"", errno);
    Fd changes;
    if (wishes.follow) {
        changes = Fd(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
        if (!changes.is_open()) return fail_errno("inotify", errno);
        ::inotify_add_watch(changes.get(), path.c_str(), IN_MODIFY);
        ::inotify_add_watch(changes.get(), exits.c_str(), IN_MOVED_TO);
    }
    return std::make_unique<PodLog>(
        std::move(file), std::move(changes), std::move(executor), std::move(wishes), std::move(has_ended)
    );
}

}  // namespace berth::solo
