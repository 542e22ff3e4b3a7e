// See unix_connector.hpp.
#include "node/edge/unix_connector.hpp"

#include <unistd.h>

#include "agent/edge/unix_stream.hpp"

namespace berth::node {
namespace {

constexpr uid_t kMachineUser = 107;

// The socket lies in a folder that the pod may write to: make sure that the pod's own program listens there.
Result<void> check_peer(const agent::UnixStream& stream) {
    if (stream.peer_uid() == kMachineUser || stream.peer_uid() == 0) return {};
    return fail(
        ErrorKind::forbidden, "the socket belongs to uid " + std::to_string(stream.peer_uid()) + ", not to a launcher"
    );
}

class UnixLink final : public agent::Link {
public:
    UnixLink(std::unique_ptr<agent::UnixStream> stream, UnixConnector::OnRunning on_running)
        : stream_(std::move(stream)), on_running_(std::move(on_running)) {}

    Task<std::optional<agent::Report>> next() override {
        const std::shared_ptr<agent::UnixStream> stream = stream_;
        const std::optional<std::string> line = co_await stream->read_line();
        if (!line) co_return std::nullopt;
        const Result<json::Value> parsed = json::parse(*line);
        if (!parsed) co_return std::nullopt;
        Result<agent::Report> report = agent::report_from(*parsed);
        if (!report) co_return std::nullopt;
        if (report->state == "running" && on_running_) {
            const UnixConnector::OnRunning tell = std::exchange(on_running_, {});
            co_await tell(stream->peer_pid());
        }
        co_return *std::move(report);
    }

    Task<Result<void>> sync(json::Value vmi, std::vector<agent::VolumePath> volumes) override {
        json::Array list;
        for (const agent::VolumePath& volume : volumes) list.push_back(agent::to_json(volume));
        json::Object line;
        line["vmi"] = std::move(vmi);
        line["volumes"] = std::move(list);
        const Result<void> sent = co_await send("sync", std::move(line));
        co_return sent;
    }

    Task<Result<void>> shutdown() override { return send("shutdown", {}); }
    Task<Result<void>> destroy() override { return send("destroy", {}); }

    Task<Result<void>> send(std::string op, json::Object line) {
        const std::shared_ptr<agent::UnixStream> stream = stream_;
        line["v"] = 1;
        line["op"] = op;
        std::string text = json::print(json::Value(std::move(line))) + "\n";
        Result<void> sent = co_await stream->write(std::move(text));
        if (!sent) sent.error().kind = ErrorKind::unavailable;
        co_return sent;
    }

private:
    std::shared_ptr<agent::UnixStream> stream_;
    UnixConnector::OnRunning on_running_;
};

class ConsoleDuplex final : public kube::Duplex {
public:
    explicit ConsoleDuplex(std::unique_ptr<agent::UnixStream> stream) : stream_(std::move(stream)) {}
    Task<std::optional<std::string>> read() override { return stream_->read(); }
    Task<Result<void>> write(std::string bytes) override { return stream_->write(std::move(bytes)); }

private:
    std::unique_ptr<agent::UnixStream> stream_;
};

}  // namespace

Task<Result<std::unique_ptr<agent::Link>>> UnixConnector::connect(Uid pod) {
    std::string path = socket_of_(pod);
    CO_TRY(std::unique_ptr<agent::UnixStream> stream, co_await agent::UnixStream::connect(std::move(path)));
    CO_TRY_DO(check_peer(*stream));
    auto link = std::make_unique<UnixLink>(std::move(stream), on_running_);
    json::Object hello;
    hello["podUid"] = pod.value;
    const Result<void> sent = co_await link->send("hello", std::move(hello));
    if (!sent) co_return std::unexpected(sent.error());
    std::unique_ptr<agent::Link> out = std::move(link);
    co_return out;
}

Task<Result<std::unique_ptr<kube::Duplex>>> open_console(std::string socket_path) {
    CO_TRY(std::unique_ptr<agent::UnixStream> stream, co_await agent::UnixStream::connect(std::move(socket_path)));
    CO_TRY_DO(check_peer(*stream));
    std::unique_ptr<kube::Duplex> out = std::make_unique<ConsoleDuplex>(std::move(stream));
    co_return out;
}

}  // namespace berth::node
