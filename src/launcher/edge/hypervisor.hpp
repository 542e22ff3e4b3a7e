// The pod's own libvirtd, and in it the one domain. Keeps a connection, looks, acts, and says when to look again.
// No libvirt type leaves this file.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/async/blocking.hpp"
#include "base/async/clock.hpp"
#include "base/async/log.hpp"
#include "base/result.hpp"
#include "launcher/plan/flow.hpp"

namespace berth::launcher {

/// What libvirt shows of the domain.
struct Observed {
    DomainState state = DomainState::unknown;
    std::string reason;
    LiveDomain live;                       ///< while it is on
    std::vector<agent::DiskReport> disks;  ///< name, target, size; while it is on
};

class Hypervisor {
public:
    /// `on_change` is called on the loop: the domain changed, or the connection was made or lost.
    Hypervisor(
        Executor executor,
        Blocking& pool,
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

private:
    struct Connection;
    Executor executor_;
    Blocking& pool_;
    Clock& clock_;
    Log& log_;
    std::string uri_;
    std::string domain_;
    std::function<void()> on_change_;
    std::shared_ptr<Connection> connection_;  ///< none: not connected
    std::shared_ptr<struct HypervisorEvents> events_;
};

}  // namespace berth::launcher
