// A simulated machine: containers that are small programs, volumes that are rows of a table, guests that boot in no
// time. It implements the ports a kubelet and a node agent use; what runs above them is the product's own code.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/link.hpp"
#include "base/async/task_group.hpp"
#include "node/figures.hpp"
#include "node/plugs.hpp"
#include "sim/core/context.hpp"
#include "solo/runtime.hpp"

namespace berth::sim {

/// What an import source does when a worker reads it. Tests change it while the world runs.
struct Source {
    Duration takes = std::chrono::milliseconds(200);
    std::string content = "image";  ///< what the volume holds afterwards
    int fails = 0;                  ///< this many attempts end with exit code 1 and `message`
    std::string message = "Unable to process data: unexpected EOF";
    bool fatal = false;  ///< a checksum mismatch: never succeeds
    int figures = 0;     ///< how many times, evenly, the worker says how far it has come
};

/// What is on a volume; also says who may be looking at it.
struct Volume {
    Bytes size;
    bool block = false;
    std::string content;            ///< "" = blank
    std::set<std::string> writers;  ///< containers that have it mounted for writing
};

/// How pods of a test behave; the key is a prefix of the pod's name, the longest wins.
struct Behaviour {
    std::optional<int> exit_code;  ///< of the compute container of a temp pod
    bool holds = false;            ///< the container runs until released
    bool image_blocked = false;
};

class Node;

/// What all nodes of one world share.
struct Machines {
    explicit Machines(Context& c) : context(c), clock(c) {}

    Context& context;
    SimClock clock;
    std::map<std::string, Source> sources;        ///< by URL
    std::map<std::string, Behaviour> behaviours;  ///< by prefix of the pod name
    std::map<std::string, Volume> volumes;        ///< by PV name
    std::vector<std::string> trace;               ///< what the machines did, in order
    std::map<Uid, struct Launcher*> launchers;    ///< by pod

    void note(std::string line);
    [[nodiscard]] Behaviour behaviour_of(const std::string& pod) const;
};

/// The program of a VM pod's compute container: monitor, launcher, hypervisor and guest in one.
struct Launcher {
    Launcher(Machines& m, Uid uid) : machines(m), pod(std::move(uid)), changed(m.context.executor()) {}

    Machines& machines;
    Uid pod;
    agent::Report report;
    std::uint64_t version = 0;
    bool ends = false;  ///< the container's program is about to exit
    int exit_code = 0;
    Notify changed;  ///< for the container's program
    struct Listener {
        std::shared_ptr<Channel<agent::Report>> reports;
        std::shared_ptr<std::int64_t> syncs;  ///< of its connection
    };
    std::vector<Listener> listeners;

    // Plugged disks. Tests set the two switches; they count for what is asked after them.
    std::set<std::string> ignores_unplug;              ///< volumes that the guest does not let go until release()
    std::map<std::string, std::string> failing_disks;  ///< volumes that cannot be attached, and libvirt's words
    std::map<std::string, int> attached;               ///< how often each was attached
    std::map<std::string, int> asked;                  ///< how often the guest was asked to let each go

    /// Makes the live disks what the node said: attaches what is told and not live, takes out what is told no more.
    void follow(const json::Value& vmi, const std::vector<agent::VolumePath>& told);
    /// The guest lets a volume go that it ignored.
    void release(const std::string& volume);

    void publish();
    /// The guest powers itself off, or crashes.
    void power_off();
    void crash();

private:
    void attach(const json::Value& vmi, const agent::VolumePath& told);
    void detach(const std::string& volume);

    std::string machine_;             ///< its name, once told
    std::vector<std::string> plugs_;  ///< told
};

/// What one container of the node was started with; `phase` is true at the moment of the question.
struct Running {
    const solo::ContainerSpec* spec = nullptr;
    solo::ContainerPhase phase = solo::ContainerPhase::created;
};

/// The plugged volumes of one simulated node. The record and the "kernel" outlive the node's roles.
class SimPlugs final : public node::Plugs {
public:
    SimPlugs(Machines& machines, Node& node) : machines_(machines), node_(node) {}

    Task<Result<std::vector<node::Plug>>> look(node::PlugHost host) override;
    Task<Result<void>> plug(node::PlugHost host, node::Plug wanted) override;
    Task<Result<void>> unplug(node::PlugHost host, std::string volume) override;
    Task<Result<void>> unplug_all(node::PlugHost host) override;
    Task<Result<std::vector<node::PlugHost>>> hosts() override;

    // Switches of tests, by the volume's name in its machine.
    std::set<std::string> without_image;   ///< the claim holds no disk.img
    std::set<std::string> failing_plug;    ///< "Input/output error"
    std::set<std::string> failing_unplug;  ///< "Device or resource busy"
    std::map<std::string, Duration> slow;  ///< plugging takes this long

    /// What lies in a launcher pod's folder: volume → the PV behind it.
    [[nodiscard]] std::map<std::string, std::string> in_place(const Uid& launcher_pod) const;
    /// A pod's folder was removed: what was mounted there is gone, the record stays.
    void drop_pod(const Uid& pod);

private:
    struct Entry {
        node::Plug plug;
        std::string pv;
    };
    struct Host {
        Uid vmi;
        std::map<std::string, Entry> entries;  ///< by volume
    };
    void take_away(const Uid& pod, const Entry& entry);

    Machines& machines_;
    Node& node_;
    std::map<Uid, Host> hosts_;  ///< by launcher pod
};

class Node final : public solo::Runtime, public solo::VolumeHost, public node::WorkerFigures {
public:
    Node(Machines& machines, std::string name);
    ~Node() override;

    /// Who brings containers up is killed: those on their way stay where they are.
    void abandon_starts();

    // Runtime
    Task<Result<void>> resolve_image(std::string image) override;
    Task<Result<void>> start(solo::ContainerSpec spec) override;
    Task<Result<void>> signal(std::string id, std::string name) override;
    Task<Result<void>> remove(std::string id) override;
    Task<Result<std::vector<solo::ContainerInfo>>> list() override;
    void on_change(std::function<void(Uid pod)> call) override { on_change_.push_back(std::move(call)); }
    std::string log_path(const Uid&, const std::string&) override { return {}; }

    // VolumeHost
    Task<Result<std::string>> make_pod_dir(Uid pod) override;
    Task<Result<std::string>> make_empty_dir(
        Uid pod, std::string volume, bool in_memory, std::optional<std::int64_t> fs_group, bool propagates
    ) override;
    Task<Result<std::string>> write_files(
        Uid pod,
        std::string volume,
        std::map<std::string, std::string> files,
        std::int64_t mode,
        std::optional<std::int64_t> fs_group
    ) override;
    Task<Result<std::string>> open_path(std::string path, std::string type, std::optional<std::int64_t> fs_group)
        override;
    Task<Result<void>> remove_pod_dir(Uid pod) override;
    Task<Result<std::vector<Uid>>> list_pods() override;
    Task<Result<std::string>> make_volume(std::string volume, Bytes size, bool block) override;
    Task<Result<void>> delete_volume(std::string volume) override;
    Task<Result<void>> grow_volume(std::string volume, Bytes size) override;
    Task<Result<void>> restore_volumes() override;

    // WorkerFigures
    void follow(const Uid& pod) override;
    void drop(const Uid& pod) override { followed_.erase(pod); }
    void on_figure(std::function<void(const Uid& pod, const std::string& figure)> call) override {
        on_figure_ = std::move(call);
    }

    // For tests
    std::set<std::string> failing_volumes;  ///< make_volume of these answers "no space left on device"
    bool fails_all_volumes = false;         ///< the same for every volume
    bool refuses_volumes = false;           ///< make_volume answers that another node must do it
    /// Ends a held container.
    void release(const std::string& pod_prefix, int exit_code = 0);
    [[nodiscard]] const std::map<std::string, solo::ContainerInfo>& containers() const { return infos_; }
    [[nodiscard]] const std::set<Uid>& pod_dirs() const { return pod_dirs_; }
    void kill_launcher(const std::string& pod_prefix);
    SimPlugs& plugs() { return *plugs_; }
    /// A container of a pod, as long as its program lives.
    [[nodiscard]] Running find(const Uid& pod, const std::string& container) const;
    /// The PV behind a path of this node, or "".
    [[nodiscard]] std::string volume_name(const std::string& host_path) const;
    /// Ends every program without a word, before the world goes.
    void stop() { group_.cancel(); }

private:
    struct Process;
    Task<void> run(std::shared_ptr<Process> process);
    Task<int> program(std::shared_ptr<Process> process);
    Task<int> import_image(std::shared_ptr<Process> process);
    Task<int> launcher(std::shared_ptr<Process> process);
    Task<int> until_signalled(std::shared_ptr<Process> process);
    void ended(const std::shared_ptr<Process>& process, int exit_code);
    void tell(const Uid& pod);
    void tell_figure(const Uid& pod);
    [[nodiscard]] Volume* volume_at(const std::string& host_path);

    Machines& machines_;
    std::string name_;
    std::map<std::string, solo::ContainerInfo> infos_;  ///< by container id
    std::map<std::string, std::shared_ptr<Process>> processes_;
    std::set<Uid> pod_dirs_;
    std::vector<std::function<void(Uid)>> on_change_;
    std::map<Uid, std::string> figures_;  ///< by pod
    std::set<Uid> followed_;
    std::function<void(const Uid&, const std::string&)> on_figure_;
    std::unique_ptr<SimPlugs> plugs_;
    TaskGroup group_;
};

/// Connects agents to the launchers of the world.
class SimConnector final : public agent::Connector {
public:
    explicit SimConnector(Machines& machines) : machines_(machines) {}
    Task<Result<std::unique_ptr<agent::Link>>> connect(Uid pod) override;

private:
    Machines& machines_;
};

}  // namespace berth::sim
