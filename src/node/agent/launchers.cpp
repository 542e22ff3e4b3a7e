#include "node/agent/launchers.hpp"

namespace berth::node {
namespace {

using namespace std::chrono_literals;

// A launcher listens within some 50 ms of its pod's start; the longest pause is for one that never does.
constexpr Duration kFirstPause = 10ms;
constexpr Duration kLongestPause = 1s;

std::unexpected<Error> not_connected() {
    return fail(ErrorKind::unavailable, "the launcher of the pod cannot be reached yet");
}

}  // namespace

Launchers::Launchers(
    Executor executor, Clock& clock, agent::Connector& connector, std::function<void(const Uid&)> on_report
)
    : clock_(clock), connector_(connector), on_report_(std::move(on_report)), group_(std::move(executor)) {}

Launchers::~Launchers() = default;

void Launchers::want(const Uid& pod) {
    if (connections_.contains(pod)) return;
    auto connection = std::make_shared<Connection>();
    connections_[pod] = connection;
    group_.spawn("launcher connection", keep(std::move(connection), pod));
}

void Launchers::drop(const Uid& pod) {
    const auto it = connections_.find(pod);
    if (it == connections_.end()) return;
    it->second->wanted = false;
    it->second->link.reset();
    connections_.erase(it);
}

const agent::Report* Launchers::report(const Uid& pod) const {
    const auto it = connections_.find(pod);
    return it == connections_.end() || !it->second->report ? nullptr : &*it->second->report;
}

bool Launchers::has_caught_up(const Uid& pod) const {
    const auto it = connections_.find(pod);
    if (it == connections_.end() || !it->second->report) return false;
    return it->second->report->syncs >= it->second->syncs;
}

std::shared_ptr<agent::Link> Launchers::link_of(const Uid& pod) const {
    const auto it = connections_.find(pod);
    return it == connections_.end() ? nullptr : it->second->link;
}

Task<void> Launchers::keep(std::shared_ptr<Connection> connection, Uid pod) {
    Duration pause = kFirstPause;
    while (connection->wanted) {
        Result<std::unique_ptr<agent::Link>> made = co_await connector_.connect(pod);
        if (!made) {
            co_await clock_.sleep_for(pause);
            pause = std::min(pause * 2, kLongestPause);
            continue;
        }
        pause = kFirstPause;
        const std::shared_ptr<agent::Link> link = std::move(*made);
        connection->link = link;
        connection->syncs = 0;
        while (connection->wanted) {
            std::optional<agent::Report> report = co_await link->next();
            if (!report || !connection->wanted) break;
            connection->report = std::move(report);
            on_report_(pod);
        }
        connection->link.reset();
        // A final report stays: the launcher ends after it, and what it said is still true.
        const bool is_final =
            connection->report && (connection->report->state == "shutoff" || connection->report->state == "crashed");
        if (!is_final) connection->report.reset();
        if (connection->wanted) on_report_(pod);
        if (is_final) co_return;
    }
}

Task<Result<void>> Launchers::sync(Uid pod, json::Value vmi, std::vector<agent::VolumePath> volumes) {
    const std::shared_ptr<agent::Link> link = link_of(pod);
    if (!link) co_return not_connected();
    ++connections_.at(pod)->syncs;
    const Result<void> done = co_await link->sync(std::move(vmi), std::move(volumes));
    co_return done;
}

Task<Result<void>> Launchers::shutdown(Uid pod) {
    const std::shared_ptr<agent::Link> link = link_of(pod);
    if (!link) co_return not_connected();
    const Result<void> done = co_await link->shutdown();
    co_return done;
}

Task<Result<void>> Launchers::destroy(Uid pod) {
    const std::shared_ptr<agent::Link> link = link_of(pod);
    if (!link) co_return not_connected();
    const Result<void> done = co_await link->destroy();
    co_return done;
}

}  // namespace berth::node
