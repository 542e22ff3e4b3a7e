// See link_server.hpp.
#include "launcher/edge/link_server.hpp"

#include <unistd.h>

namespace berth::launcher {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kConnectionsMax = 16;
constexpr Duration kPause = 200ms;

// The node's agent is root; a launcher that runs as root may be told by root only.
bool is_allowed(uid_t peer) { return peer == 0 || peer == ::getuid(); }

Result<void> check_hello(const std::optional<std::string>& line, const Uid& pod) {
    if (!line) return fail(ErrorKind::unavailable, "the agent left without a word");
    TRY(const json::Value hello, json::parse(*line));
    if (json::integer_at(hello, "/v") != 1 || json::text_at(hello, "/op") != "hello")
        return fail(ErrorKind::invalid, "the agent does not speak protocol version 1");
    const std::string_view wanted = json::text_at(hello, "/podUid");
    if (!pod.empty() && wanted != pod.value)
        return fail(ErrorKind::invalid, "the agent looks for pod " + std::string(wanted));
    return {};
}

}  // namespace

LinkServer::LinkServer(Executor executor, Launcher& launcher, Clock& clock, Log& log)
    : launcher_(launcher), clock_(clock), log_(log), group_(std::move(executor)) {}

Task<void> LinkServer::run(std::string path) {
    Result<std::unique_ptr<agent::UnixListener>> listener = agent::UnixListener::listen(group_.executor(), path);
    while (!listener) {
        log_.error(
            "no socket for the agent",
            {
                {"error", listener.error().message}
        }
        );
        co_await clock_.sleep_for(kPause);
        listener = agent::UnixListener::listen(group_.executor(), path);
    }
    while (true) {
        Result<std::unique_ptr<agent::UnixStream>> accepted = co_await (*listener)->accept();
        if (!accepted) {
            co_await clock_.sleep_for(kPause);
            continue;
        }
        std::shared_ptr<agent::UnixStream> stream = *std::move(accepted);
        if (!is_allowed(stream->peer_uid()) || group_.size() >= 2 * kConnectionsMax) {
            log_.warn(
                "refused a connection",
                {
                    {"uid", std::to_string(stream->peer_uid())}
            }
            );
            continue;
        }
        group_.spawn("agent", serve(std::move(stream)));
    }
}

Task<void> LinkServer::serve(std::shared_ptr<agent::UnixStream> stream) {
    const std::optional<std::string> hello = co_await stream->read_line();
    if (const Result<void> checked = check_hello(hello, launcher_.options().pod_uid); !checked) {
        log_.warn(
            "refused an agent",
            {
                {"error", checked.error().message}
        }
        );
        co_return;
    }
    const auto syncs = std::make_shared<std::int64_t>(0);
    group_.spawn("reports", tell_reports(stream, syncs));
    while (true) {
        const std::optional<std::string> line = co_await stream->read_line();
        if (!line) break;
        const Result<json::Value> parsed = json::parse(*line);
        if (!parsed) {
            log_.warn(
                "the agent sent what is not JSON",
                {
                    {"error", parsed.error().message}
            }
            );
            break;
        }
        obey(*parsed);
        if (json::text_at(*parsed, "/op") != "sync") continue;
        ++*syncs;
        launcher_.board().changed.notify();
    }
    stream->close();
    launcher_.board().changed.notify();  // ends tell_reports
}

Task<void> LinkServer::tell_reports(
    std::shared_ptr<agent::UnixStream> stream, std::shared_ptr<const std::int64_t> syncs
) {
    Board& board = launcher_.board();
    std::uint64_t sent = 0;
    std::int64_t acknowledged = 0;
    while (true) {
        const auto has_news = [&] {
            return sent != board.version || (board.version != 0 && acknowledged != *syncs);
        };
        while (!has_news() && stream->is_open()) co_await board.changed.wait();
        if (!stream->is_open()) co_return;
        sent = board.version;
        acknowledged = *syncs;
        agent::Report report = board.report;
        report.told = launcher_.told();
        report.syncs = acknowledged;
        std::string line = json::print(agent::to_json(report)) + "\n";
        const Result<void> written = co_await stream->write(std::move(line));
        if (!written) co_return;
        board.mark_delivered(sent);
    }
}

void LinkServer::obey(const json::Value& line) {
    const std::string_view op = json::text_at(line, "/op");
    if (op == "shutdown") return launcher_.shutdown();
    if (op == "destroy") return launcher_.destroy();
    if (op != "sync")
        return log_.warn(
            "the agent asks for what is not known",
            {
                {"op", std::string(op)}
        }
        );
    std::vector<agent::VolumePath> volumes;
    if (const json::Value* list = json::find(line, "/volumes"); list != nullptr && list->is_array()) {
        for (const json::Value& entry : list->get_array()) {
            Result<agent::VolumePath> path = agent::volume_path_from(entry);
            if (!path)
                return log_.warn(
                    "the agent sent a volume without a path",
                    {
                        {"error", path.error().message}
                }
                );
            volumes.push_back(*std::move(path));
        }
    }
    const json::Value* const vmi = json::find(line, "/vmi");
    if (vmi != nullptr) launcher_.sync(*vmi, std::move(volumes));
}

}  // namespace berth::launcher
