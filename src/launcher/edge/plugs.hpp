// The plugged disks of the running guest: looks, asks plan_plugs(), and runs one call for each disk that needs one.
// Calls of different disks do not wait for each other here; what is decided is decided in launcher/plan/plugs.hpp.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/async/blocking.hpp"
#include "base/async/clock.hpp"
#include "base/async/log.hpp"
#include "base/async/task_group.hpp"
#include "launcher/edge/hypervisor.hpp"
#include "launcher/plan/plugs.hpp"

namespace berth::launcher {

class Plugs {
public:
    struct Parts {
        Executor executor;
        Blocking& pool;  ///< for calls that may wait for storage
        Clock& clock;
        Log& log;
        Hypervisor& hypervisor;
    };

    /// `on_change`: a call has ended, the guest is to be looked at again.
    Plugs(Parts parts, std::function<void()> on_change);

    /// Libvirt is about to be asked. What it says tells of the calls that have ended by now, and of no others.
    void before_look();
    /// One pass over a guest that runs. Begins calls, waits for none.
    void pass(
        const api::VirtualMachineInstance& vmi, const std::vector<agent::VolumePath>& volumes, const LiveDomain& live
    );
    /// The same before the node has said what is wanted: nothing is begun.
    void only_look(const LiveDomain& live);
    /// Files or mounts changed: what was not ready is looked at again. What failed is not: to look at a file is an
    /// event of its folder too.
    void files_changed();
    /// What is wanted changed: what failed is tried at once.
    void wishes_changed();

    /// Plugged volumes that must stay in place: those that the guest may be given, and those in the hands of a call.
    [[nodiscard]] std::vector<std::string> told(const std::vector<agent::VolumePath>& volumes) const;
    [[nodiscard]] const std::vector<agent::Detaching>& detaching() const { return detaching_; }
    [[nodiscard]] const std::vector<agent::DiskError>& errors() const { return errors_; }
    /// Name, target and size of the guest's disks, as far as they are known.
    [[nodiscard]] const std::vector<agent::DiskReport>& sizes() const { return sizes_; }
    /// When time alone changes what is to be done.
    [[nodiscard]] std::optional<Timestamp> look_again_at() const { return look_again_at_; }

private:
    Task<void> run(Operation operation);
    Task<Result<void>> do_one(Operation operation);
    Task<void> read_sizes(std::map<std::string, agent::DiskReport> wanted);
    void begin_sizes(const LiveDomain& live);
    void remember(PlugMemory memory);

    Parts parts_;
    std::function<void()> on_change_;
    PlugMemory memory_;
    std::map<std::string, Failure> failures_;
    std::set<std::string> unready_;
    struct Call {
        std::string target;
        enum { runs, ended, seen } state = runs;
    };
    std::map<std::string, Call> calls_;  ///< by disk, until a look that began after the call's end
    std::vector<LiveDisk> last_live_;
    std::map<std::string, std::string_view> last_rules_;
    std::vector<agent::Detaching> detaching_;
    std::vector<agent::DiskError> errors_;
    std::vector<agent::DiskReport> sizes_;
    bool is_reading_sizes_ = false;
    std::optional<Timestamp> look_again_at_;
    TaskGroup group_;  // last
};

}  // namespace berth::launcher
