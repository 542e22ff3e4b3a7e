// The pod's own libvirtd, and in it the one domain. Keeps a connection, looks, acts, and says when to look again.
// No libvirt type leaves this file.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/async/blocking.hpp"
#include "base/async/clock.hpp"
#include "base/async/log.hpp"
#include "base/result.hpp"
#include "launcher/plan/flow.hpp"

using virDomainPtr = struct _virDomain*;  // NOLINT: libvirt's own name

namespace berth::launcher {

/// What libvirt shows of the domain.
struct Observed {
    DomainState state = DomainState::unknown;
    std::string reason;
    LiveDomain live;  ///< while it is on
};

class Hypervisor {
public:
    /// Calls that may wait for the guest or for storage run on `disk_pool`, the others on `pool`.
    /// `on_change` is called on the loop: the domain changed, or the connection was made or lost.
    Hypervisor(
        Executor executor,
        Blocking& pool,
        Blocking& disk_pool,
        Clock& clock,
        Log& log,
        std::string uri,
        std::string domain,
        std::function<void()> on_change
    );
    ~Hypervisor();

    /// Connects, and again whenever the daemon was restarted; until cancelled.
    Task<void> keep_connected();

    /// Errors  unavailable: no connection
    Task<Result<Observed>> look();
    /// Defines the domain and starts it. Errors  unavailable, io: it does not run
    Task<Result<void>> start(std::string xml);
    /// Presses the power button. The guest answers when it wants.
    Task<Result<void>> shutdown();
    Task<Result<void>> destroy();

    // One disk of the running domain. libvirt does one such call after the other; none of them holds up look().
    // Errors  unavailable: no connection, nothing is known; io: libvirt's words

    Task<Result<void>> attach(std::string device);
    /// Asks the guest. An event says when it has let go.
    Task<Result<void>> detach(std::string alias);
    Task<Result<void>> change_medium(std::string device);
    /// Bytes. Never makes a disk smaller.
    Task<Result<void>> grow(std::string target, std::int64_t size);
    /// What the guest sees, in bytes by target.
    Task<Result<std::map<std::string, std::int64_t>>> sizes(std::vector<std::string> targets);

private:
    template <class T>
    Task<Result<T>> with_domain(std::function<Result<T>(virDomainPtr)> act);
    struct Connection;
    Task<void> remove_strays(const Connection& connection);
    Executor executor_;
    Blocking& pool_;
    Blocking& disk_pool_;
    Clock& clock_;
    Log& log_;
    std::string uri_;
    std::string domain_;
    std::function<void()> on_change_;
    std::shared_ptr<Connection> connection_;  ///< none: not connected
    std::shared_ptr<struct HypervisorEvents> events_;
};

}  // namespace berth::launcher
