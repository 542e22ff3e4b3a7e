// The connections of one node to the launchers of its VM pods, and what each last reported.
#pragma once

#include <functional>
#include <map>
#include <memory>

#include "agent/link.hpp"
#include "base/async/clock.hpp"
#include "base/async/task_group.hpp"

namespace berth::node {

class Launchers {
public:
    /// `on_report` is called with the pod after each report, and when a connection was made or lost.
    Launchers(
        Executor executor, Clock& clock, agent::Connector& connector, std::function<void(const Uid& pod)> on_report
    );
    ~Launchers();

    /// Keeps a connection to this pod's launcher until drop(). Idempotent.
    void want(const Uid& pod);
    void drop(const Uid& pod);

    /// The last report; nullptr while there is no connection.
    [[nodiscard]] const agent::Report* report(const Uid& pod) const;
    /// The report takes into account all that the launcher was told.
    [[nodiscard]] bool has_caught_up(const Uid& pod) const;
    [[nodiscard]] bool is_connected(const Uid& pod) const { return report(pod) != nullptr; }

    // Errors  unavailable: not connected, or the connection broke while sending
    Task<Result<void>> sync(Uid pod, json::Value vmi, std::vector<agent::VolumePath> volumes);
    Task<Result<void>> shutdown(Uid pod);
    Task<Result<void>> destroy(Uid pod);

    Task<void> close() { return group_.close(); }

private:
    struct Connection {
        bool wanted = true;
        std::shared_ptr<agent::Link> link;
        std::optional<agent::Report> report;
        std::int64_t syncs = 0;  ///< told over this link
    };

    Task<void> keep(std::shared_ptr<Connection> connection, Uid pod);
    [[nodiscard]] std::shared_ptr<agent::Link> link_of(const Uid& pod) const;

    Clock& clock_;
    agent::Connector& connector_;
    std::function<void(const Uid&)> on_report_;
    std::map<Uid, std::shared_ptr<Connection>> connections_;
    TaskGroup group_;  // last
};

}  // namespace berth::node
