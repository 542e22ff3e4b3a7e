// The simulated launcher's side of the agent link: it starts the one guest at the first sync and reports every change.
#include "base/ranges.hpp"
#include "sim/machine/node.hpp"

namespace berth::sim {
namespace {

bool is_plug(const agent::VolumePath& path) { return path.path.starts_with("/var/run/kubevirt/hotplug-disks/"); }

bool is_virtio(const json::Value& vmi, const std::string& name) {
    const json::Value* const disks = json::find(vmi, "/spec/domain/devices/disks");
    if (disks == nullptr || !disks->is_array()) return false;
    return std::ranges::any_of(disks->get_array(), [&](const json::Value& disk) {
        return json::text_at(disk, "/name") == name && json::text_at(disk, "/disk/bus") == "virtio";
    });
}

class SimLink final : public agent::Link {
public:
    SimLink(Machines& machines, Uid pod, Launcher::Listener listener)
        : machines_(machines), pod_(std::move(pod)), listener_(std::move(listener)) {}
    ~SimLink() override { listener_.reports->close(); }

    Task<std::optional<agent::Report>> next() override {
        std::optional<agent::Report> report = co_await listener_.reports->next();
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
                if (is_plug(volumes[i])) continue;  // follow() brings it, in the same moment
                std::string target = "vd";
                target += static_cast<char>('a' + i);
                launcher->report.disks.push_back({volumes[i].name, std::move(target), volumes[i].size});
            }
            machines_.note("guest " + std::string(json::text_at(vmi, "/metadata/name")));
        }
        ++*listener_.syncs;
        launcher->follow(vmi, volumes);
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
    Launcher::Listener listener_;
};

}  // namespace

void Launcher::follow(const json::Value& vmi, const std::vector<agent::VolumePath>& told) {
    machine_ = json::text_at(vmi, "/metadata/name");
    plugs_.clear();
    for (const agent::VolumePath& path : told) {
        if (is_plug(path)) plugs_.push_back(path.name);
    }
    report.told = plugs_;
    report.disk_errors.clear();
    for (const agent::VolumePath& path : told) {
        const auto live = std::ranges::find(report.disks, path.name, &agent::DiskReport::name);
        if (live != report.disks.end()) {
            live->size = path.size;
        } else if (is_plug(path)) {
            attach(vmi, path);
        }
    }
    const std::vector<agent::DiskReport> live = report.disks;
    for (const agent::DiskReport& disk : live) {
        if (attached.contains(disk.name) && !contains(plugs_, disk.name)) detach(disk.name);
    }
    publish();
}

void Launcher::attach(const json::Value& vmi, const agent::VolumePath& told) {
    if (const auto failing = failing_disks.find(told.name); failing != failing_disks.end()) {
        report.disk_errors.push_back({told.name, failing->second});
        return;
    }
    const std::string prefix = is_virtio(vmi, told.name) ? "vd" : "sd";
    std::string target = prefix + 'a';
    while (contains(report.disks | std::views::transform(&agent::DiskReport::target), target)) ++target.back();
    report.disks.push_back({told.name, target, told.size});
    std::ranges::sort(report.disks, {}, &agent::DiskReport::name);
    ++attached[told.name];
    machines.note("attach " + machine_ + "/" + told.name + " " + target);
}

void Launcher::detach(const std::string& volume) {
    if (contains(report.detaching | std::views::transform(&agent::Detaching::name), volume)) return;
    ++asked[volume];
    report.detaching.push_back({volume, machines.clock.now(), 1});
    if (!ignores_unplug.contains(volume)) release(volume);
}

void Launcher::release(const std::string& volume) {
    ignores_unplug.erase(volume);
    if (std::erase_if(report.detaching, [&](const auto& one) { return one.name == volume; }) == 0) return;
    std::erase_if(report.disks, [&](const auto& one) { return one.name == volume; });
    attached.erase(volume);
    machines.note("detach " + machine_ + "/" + volume);
    publish();
}

void Launcher::publish() {
    std::erase_if(listeners, [](const Listener& listener) { return listener.reports->is_closed(); });
    for (const Listener& listener : listeners) {
        agent::Report told = report;
        told.syncs = *listener.syncs;
        listener.reports->push(std::move(told));
    }
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
    Launcher::Listener listener{
        std::make_shared<Channel<agent::Report>>(machines_.context.executor()), std::make_shared<std::int64_t>(0)
    };
    listener.reports->push(it->second->report);
    it->second->listeners.push_back(listener);
    std::unique_ptr<agent::Link> link = std::make_unique<SimLink>(machines_, std::move(pod), std::move(listener));
    co_return link;
}

}  // namespace berth::sim
