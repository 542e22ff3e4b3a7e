#include "sim/machine/node.hpp"

#include "base/check.hpp"

namespace berth::sim {
namespace {

using namespace std::chrono_literals;

constexpr Duration kContainerStart = 50ms;
constexpr Duration kQuickProgram = 20ms;

bool is_prefix(const std::string& prefix, const std::string& text) { return text.starts_with(prefix); }

std::string env_of(const solo::ContainerSpec& spec, std::string_view name) {
    for (const auto& [key, value] : spec.env) {
        if (key == name) return value;
    }
    return {};
}

}  // namespace

struct Node::Process {
    Process(Executor on, solo::ContainerSpec s) : spec(std::move(s)), wake(std::move(on)) {}
    solo::ContainerSpec spec;
    std::string id;
    std::string message;
    std::optional<int> killed_with;
    bool is_abandoned = false;
    Notify wake;
};

void Machines::note(std::string line) {
    context.trace(line);
    trace.push_back(std::move(line));
}

Behaviour Machines::behaviour_of(const std::string& pod) const {
    Behaviour found;
    std::size_t longest = 0;
    for (const auto& [prefix, behaviour] : behaviours) {
        if (!is_prefix(prefix, pod) || prefix.size() < longest) continue;
        longest = prefix.size();
        found = behaviour;
    }
    return found;
}

Node::Node(Machines& machines, std::string name)
    : machines_(machines),
      name_(std::move(name)),
      plugs_(std::make_unique<SimPlugs>(machines, *this)),
      group_(machines.context.executor()) {}

Node::~Node() = default;

Task<Result<void>> Node::resolve_image(std::string image) {
    const bool known = image.starts_with("berth.local/") || image.starts_with("test.local/");
    if (known) co_return Result<void>();
    co_return fail(ErrorKind::not_found, "image \"" + image + "\" is not on this machine");
}

Task<Result<void>> Node::start(solo::ContainerSpec spec) {
    const std::string id = spec.pod_uid.value + "-" + spec.name + "-" + std::to_string(spec.attempt);
    if (infos_.contains(id)) co_return Result<void>();
    if (machines_.behaviour_of(spec.pod_name).image_blocked) {
        co_return fail(ErrorKind::not_found, "image \"" + spec.image + "\" cannot be pulled");
    }
    const auto process = std::make_shared<Process>(machines_.context.executor(), std::move(spec));
    process->id = id;
    const solo::ContainerSpec& s = process->spec;
    for (const solo::Mount& mount : s.mounts) {
        if (Volume* volume = mount.read_only ? nullptr : volume_at(mount.host_path)) volume->writers.insert(id);
    }
    for (const solo::Device& device : s.devices) {
        if (Volume* volume = device.read_only ? nullptr : volume_at(device.host_path)) volume->writers.insert(id);
    }
    infos_[id] = {
        .pod_uid = s.pod_uid, .name = s.name, .attempt = s.attempt, .id = id, .phase = solo::ContainerPhase::created
    };
    processes_[id] = process;
    group_.spawn("container", run(process));
    co_return Result<void>();
}

void Node::abandon_starts() {
    for (const auto& [id, process] : processes_) {
        const auto info = infos_.find(id);
        if (info != infos_.end() && info->second.phase == solo::ContainerPhase::created) process->is_abandoned = true;
    }
}

Task<void> Node::run(std::shared_ptr<Process> process) {
    co_await machines_.clock.sleep_for(kContainerStart);
    if (process->is_abandoned) co_return;
    machines_.note("start " + name_ + " " + process->spec.pod_name + "/" + process->spec.name);
    solo::ContainerInfo& info = infos_[process->id];
    info.phase = solo::ContainerPhase::running;
    info.started_at = machines_.clock.now();
    info.pid = 1000;
    tell(process->spec.pod_uid);
    const int exit_code = co_await program(process);
    ended(process, exit_code);
}

Task<int> Node::program(std::shared_ptr<Process> process) {
    const solo::ContainerSpec& spec = process->spec;
    const std::string command = spec.argv.empty() ? "" : spec.argv.front();
    const Behaviour behaviour = machines_.behaviour_of(spec.pod_name);
    if (command == "/bin/bash") {
        if (behaviour.holds) {
            const int code = co_await until_signalled(process);
            co_return code;
        }
        co_await machines_.clock.sleep_for(kQuickProgram);
        co_return process->killed_with.value_or(behaviour.exit_code.value_or(0));
    }
    if (command == "/usr/bin/virt-launcher-monitor") {
        const int code = co_await launcher(process);
        co_return code;
    }
    if (!env_of(spec, "IMPORTER_SOURCE").empty()) {
        const int code = co_await import_image(process);
        co_return code;
    }
    const int code = co_await until_signalled(process);
    co_return code;
}

Task<int> Node::until_signalled(std::shared_ptr<Process> process) {
    while (!process->killed_with) co_await process->wake.wait();
    co_return *process->killed_with;
}

Task<int> Node::import_image(std::shared_ptr<Process> process) {
    const solo::ContainerSpec& spec = process->spec;
    Source& source =
        machines_.sources[env_of(spec, "IMPORTER_SOURCE") == "none" ? "" : env_of(spec, "IMPORTER_ENDPOINT")];
    const int steps = source.figures + 1;
    for (int step = 1; step <= steps; ++step) {
        co_await machines_.clock.sleep_for(source.takes / steps);
        if (process->killed_with || step == steps) break;
        char text[16];
        std::snprintf(text, sizeof text, "%.2f%%", 100.0 * step / steps);
        figures_[spec.pod_uid] = text;
        tell_figure(spec.pod_uid);
    }
    if (process->killed_with) co_return *process->killed_with;
    if (source.fatal) {
        process->message = R"({"message":"checksum mismatch: the source is not what the DataVolume asks for"})";
        co_return 0;
    }
    if (source.fails > 0) {
        --source.fails;
        process->message = source.message;
        co_return 1;
    }
    for (const solo::Mount& mount : spec.mounts) {
        if (Volume* volume = volume_at(mount.host_path)) volume->content = source.content;
    }
    for (const solo::Device& device : spec.devices) {
        if (Volume* volume = volume_at(device.host_path)) volume->content = source.content;
    }
    machines_.note("filled " + spec.pod_name);
    process->message = R"({"message":"Import Complete"})";
    co_return 0;
}

Task<int> Node::launcher(std::shared_ptr<Process> process) {
    Launcher launcher(machines_, process->spec.pod_uid);
    machines_.launchers[launcher.pod] = &launcher;
    while (!launcher.ends && !process->killed_with) {
        co_await launcher.changed.wait();
        if (process->killed_with == 143) {  // TERM: the guest is asked to shut down
            launcher.report.state = "shutoff";
            launcher.report.reason = "shutdown";
            launcher.ends = true;
            launcher.publish();
        }
    }
    for (const auto& listener : launcher.listeners) listener.reports->close();
    machines_.launchers.erase(launcher.pod);
    co_return launcher.ends ? launcher.exit_code : process->killed_with.value_or(0);
}

void Node::ended(const std::shared_ptr<Process>& process, int exit_code) {
    solo::ContainerInfo& info = infos_[process->id];
    info.phase = solo::ContainerPhase::exited;
    info.finished_at = machines_.clock.now();
    info.exit_code = exit_code;
    info.pid = 0;
    info.termination_message = process->message;
    for (auto& [name, volume] : machines_.volumes) volume.writers.erase(process->id);
    machines_.note(
        "exit " + name_ + " " + process->spec.pod_name + "/" + process->spec.name + " " + std::to_string(exit_code)
    );
    processes_.erase(process->id);
    tell(process->spec.pod_uid);
}

Task<Result<void>> Node::signal(std::string id, std::string name) {
    const auto it = processes_.find(id);
    if (it == processes_.end()) co_return Result<void>();
    const std::shared_ptr<Process> process = it->second;
    process->killed_with = name == "KILL" ? 137 : 143;
    process->wake.notify();
    const auto launcher = machines_.launchers.find(process->spec.pod_uid);
    if (launcher != machines_.launchers.end()) launcher->second->changed.notify();
    co_return Result<void>();
}

Task<Result<void>> Node::remove(std::string id) {
    infos_.erase(id);
    co_return Result<void>();
}

Task<Result<std::vector<solo::ContainerInfo>>> Node::list() {
    std::vector<solo::ContainerInfo> out;
    for (const auto& [id, info] : infos_) out.push_back(info);
    co_return out;
}

void Node::tell(const Uid& pod) {
    for (const auto& call : on_change_) call(pod);
}

std::string Node::volume_name(const std::string& host_path) const {
    const std::string name = host_path.substr(host_path.rfind('/') + 1);
    const std::string base = name.ends_with(".dev") ? name.substr(0, name.size() - 4) : name;
    return machines_.volumes.contains(base) ? base : std::string();
}

void Node::tell_figure(const Uid& pod) {
    const auto it = figures_.find(pod);
    if (it != figures_.end() && followed_.contains(pod) && on_figure_) on_figure_(pod, it->second);
}

void Node::follow(const Uid& pod) {
    if (followed_.insert(pod).second) tell_figure(pod);
}

Volume* Node::volume_at(const std::string& host_path) {
    const auto it = machines_.volumes.find(volume_name(host_path));
    return it == machines_.volumes.end() ? nullptr : &it->second;
}

Running Node::find(const Uid& pod, const std::string& container) const {
    for (const auto& [id, process] : processes_) {
        if (process->spec.pod_uid == pod && process->spec.name == container)
            return {&process->spec, infos_.at(id).phase};
    }
    return {};
}

Task<Result<std::string>> Node::make_pod_dir(Uid pod) {
    pod_dirs_.insert(pod);
    co_return "/sim/" + name_ + "/pods/" + pod.value;
}

Task<Result<std::string>> Node::make_empty_dir(Uid pod, std::string volume, bool, std::optional<std::int64_t>, bool) {
    co_return "/sim/" + name_ + "/pods/" + pod.value + "/" + volume;
}

Task<Result<std::string>> Node::
    write_files(Uid pod, std::string volume, std::map<std::string, std::string>, std::int64_t, std::optional<std::int64_t>) {
    co_return "/sim/" + name_ + "/pods/" + pod.value + "/" + volume;
}

Task<Result<std::string>> Node::open_path(std::string path, std::string, std::optional<std::int64_t>) {
    co_return path;
}

Task<Result<void>> Node::remove_pod_dir(Uid pod) {
    pod_dirs_.erase(pod);
    figures_.erase(pod);
    plugs_->drop_pod(pod);
    co_return Result<void>();
}

Task<Result<std::vector<Uid>>> Node::list_pods() { co_return std::vector<Uid>(pod_dirs_.begin(), pod_dirs_.end()); }

Task<Result<std::string>> Node::make_volume(std::string volume, Bytes size, bool block) {
    if (refuses_volumes) co_return fail(ErrorKind::gone, "node \"" + name_ + "\" takes no more volumes");
    if (fails_all_volumes || failing_volumes.contains(volume)) co_return fail(ErrorKind::io, "no space left on device");
    machines_.volumes.try_emplace(volume, Volume{size, block, "", {}});
    machines_.note("make volume " + name_);
    co_return "/sim/" + name_ + "/volumes/" + volume + (block ? ".dev" : "");
}

Task<Result<void>> Node::delete_volume(std::string volume) {
    const auto it = machines_.volumes.find(volume);
    if (it != machines_.volumes.end()) {
        CHECK(it->second.writers.empty());
        machines_.volumes.erase(it);
        machines_.note("delete volume " + name_);
    }
    co_return Result<void>();
}

Task<Result<void>> Node::grow_volume(std::string volume, Bytes size) {
    machines_.volumes[volume].size = size;
    co_return Result<void>();
}

Task<Result<void>> Node::restore_volumes() { co_return Result<void>(); }

void Node::release(const std::string& pod_prefix, int exit_code) {
    for (const auto& [id, process] : processes_) {
        if (!is_prefix(pod_prefix, process->spec.pod_name)) continue;
        process->killed_with = exit_code;
        process->wake.notify();
    }
}

void Node::kill_launcher(const std::string& pod_prefix) {
    for (const auto& [id, process] : processes_) {
        const auto it = machines_.launchers.find(process->spec.pod_uid);
        if (!is_prefix(pod_prefix, process->spec.pod_name) || it == machines_.launchers.end()) continue;
        process->killed_with = 137;
        it->second->changed.notify();
    }
}

}  // namespace berth::sim
