// The launcher of one pod: runs its one guest as the node's agent says, and reports on it. Decisions are in
// launcher/plan/flow.hpp; this class looks, asks the flow, and does the one step it names.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "base/async/blocking.hpp"
#include "base/async/clock.hpp"
#include "base/async/log.hpp"
#include "launcher/edge/board.hpp"
#include "launcher/edge/hypervisor.hpp"
#include "launcher/edge/plugs.hpp"
#include "launcher/plan/accelerator.hpp"
#include "launcher/plan/disks.hpp"

namespace berth::launcher {

struct Options {
    std::string name;
    std::string ns;
    Uid vmi_uid;
    Uid pod_uid;  ///< empty: not known
    Duration grace = std::chrono::seconds(30);
    std::optional<Monotonic> stopping_until;  ///< the pod is being stopped; then the guest is destroyed
    Accelerator accelerator = Accelerator::tcg;
};

class Launcher {
public:
    struct Parts {
        Executor executor;
        Blocking& pool;
        Blocking& disk_pool;  ///< for calls that may wait for a guest or for storage
        Clock& clock;
        Log& log;
    };

    Launcher(Parts parts, Options options);

    /// Returns the process's exit code when the pod's work is done.
    Task<int> run();
    /// Keeps the connection to libvirtd; runs beside run().
    Task<void> keep_connected() { return hypervisor_.keep_connected(); }

    // What the agent and the monitor ask for.
    /// Returns its number. A report with this number, or a later one, takes it into account.
    std::int64_t sync(const json::Value& vmi, std::vector<agent::VolumePath> volumes);
    void shutdown();
    void destroy();
    /// The pod is being stopped: power off, and destroy when the grace period has passed.
    void stop();
    /// Files or mounts of the pod changed: look again.
    void look_again();

    [[nodiscard]] Board& board() { return board_; }
    [[nodiscard]] const Options& options() const { return options_; }
    [[nodiscard]] bool is_guest_on() const { return is_guest_on_; }
    [[nodiscard]] Notify& guest_changed() { return guest_changed_; }

private:
    Task<Seen> look();
    void take_over(const json::Value& vmi, std::vector<agent::VolumePath> volumes);
    void tell_plugs(const Seen& seen);
    [[nodiscard]] agent::Report report(const Seen& seen) const;
    Task<void> do_step(Step step);
    Task<void> prepare_disks();
    Task<void> start_guest();
    Task<void> wait_for_news(const Seen& seen);
    Task<void> deliver_last_report();
    void forget_start();
    [[nodiscard]] std::string qemu_log() const;
    void failed(Error error);
    void note_guest(bool is_on);

    Parts parts_;
    Options options_;
    Board board_;
    Notify news_;
    Notify guest_changed_;
    Hypervisor hypervisor_;

    std::optional<api::VirtualMachineInstance> vmi_;
    std::vector<agent::VolumePath> volumes_;
    std::int64_t syncs_ = 0;
    DiskPlan plan_;
    bool is_prepared_ = false;
    std::set<std::string> without_direct_io_;

    Observed observed_;
    bool was_started_ = false;
    bool start_succeeded_ = false;
    bool is_guest_on_ = false;
    Ask ask_ = Ask::nothing;
    std::optional<Monotonic> asked_at_;  ///< power button
    std::optional<Monotonic> cools_until_;
    Duration cooling_;
    std::string error_;
    std::string_view last_rule_;
    Plugs plugs_;  // last: its tasks use the hypervisor
};

}  // namespace berth::launcher
