#include "solo/edge/crun_runtime.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "solo/edge/container_start.hpp"
#include "solo/edge/files.hpp"
#include "solo/edge/mounts.hpp"

namespace berth::solo {
namespace asio = boost::asio;
namespace {

/// Waits until a descriptor can be read; cancellable.
Task<void> wait_readable(int fd) {
    const Executor executor = co_await asio::this_coro::executor;
    asio::posix::stream_descriptor stream(executor, fd);
    co_await stream.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
}

}  // namespace

struct CrunRuntime::Fixed {
    Conmon conmon;
    Machine machine;
    NodeDir node;

    [[nodiscard]] std::optional<ContainerRecord> record_of(const std::string& id) const {
        for (ContainerRecord& record : read_records(node)) {
            if (record.id == id) return std::move(record);
        }
        return std::nullopt;
    }
};

Result<std::unique_ptr<CrunRuntime>> CrunRuntime::open(
    Executor executor, CrunParts parts, const DataDir& data, const NodeName& node
) {
    auto fixed = std::make_shared<Fixed>();
    TRY(fixed->conmon, Conmon::find(data.paths()));
    fixed->machine = this_machine(data);
    fixed->machine.accelerator = parts.accelerator;
    fixed->node = data.paths().node(node);
    TRY_DO(make_dirs(fixed->node.pods(), 0711));
    TRY_DO(make_dirs(fixed->node.exits(), 0700));
    // Killed between the note and the act: the container is there, and its first process waits to be let go.
    for (const ContainerRecord& record : read_records(fixed->node)) {
        const bool is_noted = record.stage == Stage::started && record.boot == fixed->machine.boot;
        if (is_noted && fixed->conmon.awaits_start(record.id)) TRY_DO(fixed->conmon.start(record.id));
    }
    return std::unique_ptr<CrunRuntime>(new CrunRuntime(std::move(executor), parts, std::move(fixed)));
}

CrunRuntime::CrunRuntime(Executor executor, CrunParts parts, std::shared_ptr<const Fixed> fixed)
    : parts_(parts), fixed_(std::move(fixed)), group_(std::move(executor)) {
    group_.spawn("container-exits", watch_exits());
}

CrunRuntime::~CrunRuntime() = default;

Task<void> CrunRuntime::close() { co_await group_.close(); }

Task<Result<void>> CrunRuntime::resolve_image(std::string image) {
    const Images& images = parts_.images;
    auto work = [&images, image]() -> Result<void> {
        TRY_DO(images.resolve(image));
        return {};
    };
    co_return co_await blocking(parts_.blocking, std::move(work));
}

Task<Result<void>> CrunRuntime::start(ContainerSpec spec) {
    const auto fixed = fixed_;
    const Images& images = parts_.images;
    const Timestamp now = parts_.clock.now();
    auto work = [fixed, &images, spec, now]() -> Result<ContainerRecord> {
        TRY(const Image image, images.resolve(spec.image));
        return start_container(fixed->conmon, fixed->machine, image, fixed->node, spec, now);
    };
    Result<ContainerRecord> record = co_await blocking(parts_.blocking, std::move(work));
    if (!record) co_return std::unexpected(record.error());
    watch(*record);
    co_return Result<void>{};
}

Task<Result<void>> CrunRuntime::signal(std::string id, std::string name) {
    const auto fixed = fixed_;
    auto work = [fixed, id, name]() -> Result<void> {
        if (!is_plain_name(id)) return {};
        TRY(const std::string status, fixed->conmon.status(id));
        if (status.empty() || status == "stopped") return {};
        return fixed->conmon.signal(id, name);
    };
    co_return co_await blocking(parts_.blocking, std::move(work));
}

Task<Result<void>> CrunRuntime::remove(std::string id) {
    const auto fixed = fixed_;
    auto work = [fixed, id]() -> Result<void> {
        const std::optional<ContainerRecord> record = fixed->record_of(id);
        if (!record) return {};
        const ContainerDir dir = container_dir_of(fixed->node, *record);
        TRY_DO(fixed->conmon.remove(dir, record->stage));
        TRY_DO(unmount_below(dir.path()));
        return remove_tree(dir.path());
    };
    Result<void> done = co_await blocking(parts_.blocking, std::move(work));
    if (done) pods_.erase(id);
    co_return done;
}

Task<Result<std::vector<ContainerInfo>>> CrunRuntime::list() {
    const auto fixed = fixed_;
    const Timestamp now = parts_.clock.now();
    auto work = [fixed, now]() {
        std::vector<ContainerRecord> records = read_records(fixed->node);
        for (ContainerRecord& record : records)
            record = look_at(container_dir_of(fixed->node, record), std::move(record), fixed->machine.boot, now);
        return records;
    };
    const std::vector<ContainerRecord> records = co_await blocking(parts_.blocking, std::move(work));
    std::vector<ContainerInfo> out;
    for (const ContainerRecord& record : records) {
        watch(record);
        out.push_back(info_of(record));
    }
    co_return out;
}

std::string CrunRuntime::log_path(const Uid& pod, const std::string& container) {
    if (!is_plain_name(pod.value) || !is_plain_name(container)) return "";
    const std::string folder = fixed_->node.pod(pod) + "/logs/" + container;
    std::int64_t newest = -1;
    for (const std::string& name : list_dir(folder)) {
        if (name.ends_with(".log")) newest = std::max<std::int64_t>(newest, std::atoll(name.c_str()));
    }
    return newest < 0 ? "" : folder + "/" + std::to_string(newest) + ".log";
}

void CrunRuntime::watch(const ContainerRecord& record) {
    pods_[record.id] = record.pod_uid;
    if (record.stage == Stage::started && watched_.insert(record.id).second)
        group_.spawn("container-process", watch_process(record));
}

void CrunRuntime::changed(const Uid& pod) {
    if (on_change_) on_change_(pod);
}

Task<void> CrunRuntime::watch_exits() {
    const Executor executor = co_await asio::this_coro::executor;
    asio::posix::stream_descriptor stream(executor, ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    // The monitor writes under another name and renames: before that there is nothing to read.
    if (::inotify_add_watch(stream.native_handle(), fixed_->node.exits().c_str(), IN_MOVED_TO) < 0) {
        parts_.log.error(
            "cannot watch for container exits",
            {
                {"dir",   fixed_->node.exits() },
                {"errno", std::to_string(errno)}
        }
        );
    }
    std::array<char, 16384> buffer{};
    for (;;) {
        boost::system::error_code error;
        const std::size_t count =
            co_await stream.async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, error));
        if (error) break;
        for (std::size_t at = 0; at + sizeof(inotify_event) <= count;) {
            inotify_event event{};
            std::copy_n(buffer.data() + at, sizeof event, reinterpret_cast<char*>(&event));
            const std::string name = event.len > 0 ? std::string(buffer.data() + at + sizeof event) : "";
            at += sizeof event + event.len;
            if ((event.mask & IN_Q_OVERFLOW) != 0) {
                const std::map<std::string, Uid> all = pods_;
                for (const auto& [id, pod] : all) changed(pod);
            }
            if (name.empty()) continue;
            const auto known = pods_.find(name);
            if (known != pods_.end()) changed(Uid(known->second));
        }
    }
}

// The usual end is told by the exits folder. When the monitor was killed nobody writes there: the processes themselves
// say it.
Task<void> CrunRuntime::watch_process(ContainerRecord record) {
    for (const ProcessMark& mark : {record.process, record.monitor}) {
        Fd ended = open_process(mark);
        if (!ended.is_open()) continue;
        const int fd = ended.release();  // the stream inside closes it
        co_await wait_readable(fd);
    }
    watched_.erase(record.id);
    changed(record.pod_uid);
}

}  // namespace berth::solo
