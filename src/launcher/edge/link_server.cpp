// See link_server.hpp.
#include "launcher/edge/link_server.hpp"

namespace berth::launcher {
namespace {

constexpr std::size_t kConnectionsMax = 16;

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

/// One connection. The syncs that came over it, by the launcher's own count.
struct LinkServer::Client {
    explicit Client(std::shared_ptr<agent::UnixStream> s) : stream(std::move(s)) {}
    std::shared_ptr<agent::UnixStream> stream;
    std::vector<std::int64_t> syncs;  // not in a report yet
    std::int64_t reported = 0;        // those before
};

LinkServer::LinkServer(Executor executor, Launcher& launcher, Clock& clock, Log& log)
    : launcher_(launcher), clock_(clock), log_(log), group_(std::move(executor)) {}

Task<void> LinkServer::run(std::string path) {
    return agent::serve_socket(clock_, log_, std::move(path), [this](std::shared_ptr<agent::UnixStream> stream) {
        if (group_.size() < 2 * kConnectionsMax) group_.spawn("agent", serve(std::move(stream)));
    });
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
    const auto client = std::make_shared<Client>(std::move(stream));
    group_.spawn("reports", tell_reports(client));
    while (true) {
        const std::optional<std::string> line = co_await client->stream->read_line();
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
        obey(*client, *parsed);
    }
    client->stream->close();
    launcher_.board().changed.notify();  // ends tell_reports
}

Task<void> LinkServer::tell_reports(std::shared_ptr<Client> client) {
    Board& board = launcher_.board();
    std::uint64_t sent = 0;
    while (true) {
        while (sent == board.version && client->stream->is_open()) co_await board.changed.wait();
        if (!client->stream->is_open()) co_return;
        sent = board.version;
        agent::Report report = board.report;
        client->reported += static_cast<std::int64_t>(std::erase_if(client->syncs, [&](std::int64_t number) {
            return number <= board.report.syncs;
        }));
        report.syncs = client->reported;
        std::string line = json::print(agent::to_json(report)) + "\n";
        const Result<void> written = co_await client->stream->write(std::move(line));
        if (!written) co_return;
        board.mark_delivered(sent);
    }
}

void LinkServer::obey(Client& client, const json::Value& line) {
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
    if (vmi != nullptr) client.syncs.push_back(launcher_.sync(*vmi, std::move(volumes)));
}

}  // namespace berth::launcher
