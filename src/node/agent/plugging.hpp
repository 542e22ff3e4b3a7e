// The plugged volumes of a node's machines as last looked, and the work on them. The work on each volume is a task of
// its own, so that a slow or broken one delays no other.
#pragma once

#include <functional>
#include <map>
#include <set>

#include "api/plan.hpp"
#include "base/async/clock.hpp"
#include "base/async/task_group.hpp"
#include "node/plan/vmi.hpp"

namespace berth::node {

class Plugging {
public:
    /// `on_change` is called with the launcher pod whenever there is something new about its plugs.
    Plugging(Executor executor, Clock& clock, Plugs& plugs, std::function<void(const Uid& pod)> on_change);

    /// What is known of the plugs of a launcher pod.
    void fill(const Uid& pod, PlugsView& view) const;
    /// The pod is over or gone and may still have plugs.
    [[nodiscard]] std::optional<PlugHost> left(const Uid& pod) const;
    /// The machines that were recorded when this agent began; none: not looked yet.
    [[nodiscard]] const std::optional<std::vector<PlugHost>>& recorded() const { return recorded_; }

    /// There were events about these troubles.
    void set_said(const Uid& pod, std::vector<std::string> texts);
    /// Forgets the failures of volumes that are not among these.
    void keep_failures(const Uid& pod, const std::set<std::string>& volumes);
    void forget(const Uid& pod) { hosts_.erase(pod); }

    /// The verb is one of its own. Plugs and unplugs go on after it has returned.
    static bool knows(std::string_view verb);
    Task<Result<void>> run(api::Effect effect);

    Task<void> close() { return group_.close(); }

private:
    struct Host {
        Uid vmi;
        std::optional<std::vector<Plug>> plugs;
        std::set<std::string> busy;
        std::map<std::string, PlugFailure> failures;
        std::vector<std::string> said;
        bool is_over = false;  ///< all was unplugged for good: what still comes is taken away again
    };

    Task<Result<void>> look(PlugHost host);
    Task<Result<void>> unplug_all(PlugHost host);
    Task<void> plug(PlugHost host, Plug wanted);
    Task<void> unplug(PlugHost host, std::string volume);
    Task<void> finish(PlugHost host, std::string volume, Result<void> done);
    void try_conflicts_again();

    Clock& clock_;
    Plugs& plugs_;
    std::function<void(const Uid&)> on_change_;
    std::map<Uid, Host> hosts_;  ///< by launcher pod
    std::optional<std::vector<PlugHost>> recorded_;
    TaskGroup group_;  // last
};

}  // namespace berth::node
