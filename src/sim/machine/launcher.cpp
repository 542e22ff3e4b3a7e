// The simulated launcher's side of the agent link: it starts the one guest at the first sync and reports every change.
#include "sim/machine/node.hpp"

namespace berth::sim {
namespace {

class SimLink final : public agent::Link {
public:
    SimLink(Machines& machines, Uid pod, std::shared_ptr<Channel<agent::Report>> reports)
        : machines_(machines), pod_(std::move(pod)), reports_(std::move(reports)) {}
    ~SimLink() override { reports_->close(); }

    Task<std::optional<agent::Report>> next() override {
        std::optional<agent::Report> report = co_await reports_->next();
        co_return report;
    }

    Task<Result<void>> sync(json::Value vmi, std::vector<agent::VolumePath> volumes) override {
        Launcher* const launcher = find();
        if (launcher == nullptr) co_return fail(ErrorKind::unavailable, "the launcher is gone");
        if (launcher->report.state.empty()) {
            launcher->report.state = "running";
            launcher->report.accelerator = "tcg";
            launcher->report.machine_type = "q35";
            for (std::size_t i = 0; i < volumes.size(); ++i) {
                std::string target = "vd";
                target += static_cast<char>('a' + i);
                launcher->report.disks.push_back({volumes[i].name, std::move(target), volumes[i].size});
            }
            machines_.note("guest " + std::string(json::text_at(vmi, "/metadata/name")));
            launcher->publish();
        }
        co_return Result<void>();
    }

    Task<Result<void>> shutdown() override {
        if (Launcher* const launcher = find()) {
            launcher->report.reason = "shutdown";
            launcher->power_off();
        }
        co_return Result<void>();
    }

    Task<Result<void>> destroy() override {
        const Result<void> done = co_await shutdown();
        co_return done;
    }

private:
    Launcher* find() {
        const auto it = machines_.launchers.find(pod_);
        return it == machines_.launchers.end() ? nullptr : it->second;
    }

    Machines& machines_;
    Uid pod_;
    std::shared_ptr<Channel<agent::Report>> reports_;
};

}  // namespace

void Launcher::publish() {
    std::erase_if(listeners, [](const auto& listener) { return listener->is_closed(); });
    for (const auto& listener : listeners) listener->push(report);
    changed.notify();
}

void Launcher::power_off() {
    if (report.state != "running" && report.state != "paused") {
        ends = true;
        changed.notify();
        return;
    }
    report.state = "shutoff";
    if (report.reason.empty()) report.reason = "guest";
    ends = true;
    publish();
}

void Launcher::crash() {
    report.state = "crashed";
    exit_code = 1;
    ends = true;
    publish();
}

Task<Result<std::unique_ptr<agent::Link>>> SimConnector::connect(Uid pod) {
    const auto it = machines_.launchers.find(pod);
    if (it == machines_.launchers.end()) co_return fail(ErrorKind::unavailable, "nobody listens in the pod yet");
    auto reports = std::make_shared<Channel<agent::Report>>(machines_.context.executor());
    reports->push(it->second->report);
    it->second->listeners.push_back(reports);
    std::unique_ptr<agent::Link> link = std::make_unique<SimLink>(machines_, std::move(pod), std::move(reports));
    co_return link;
}

}  // namespace berth::sim
