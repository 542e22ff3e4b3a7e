// The node's side of what leads into a VM pod: the agent link and the console, over unix sockets in the pod's folder.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <sys/types.h>

#include "agent/link.hpp"
#include "kube/handler.hpp"

namespace berth::node {

/// Names of the sockets in the pod's volume "sockets" (mounted at /var/run/kubevirt/sockets).
inline constexpr std::string_view kLinkSocketName = "launcher-sock";
inline constexpr std::string_view kConsoleSocketName = "console-sock";

/// Connects to launchers. The peer must run as uid 107, or as root where machines do.
class UnixConnector final : public agent::Connector {
public:
    /// What to do when a launcher first reports a running guest; `launcher` is its process.
    using OnRunning = std::function<Task<void>(pid_t launcher)>;

    /// `socket_of`: the host's path of a pod's launcher-sock.
    explicit UnixConnector(std::function<std::string(const Uid& pod)> socket_of, OnRunning on_running = {})
        : socket_of_(std::move(socket_of)), on_running_(std::move(on_running)) {}

    Task<Result<std::unique_ptr<agent::Link>>> connect(Uid pod) override;

private:
    std::function<std::string(const Uid&)> socket_of_;
    OnRunning on_running_;
};

/// The guest's serial console: first the end of what it said before, then what it says; what is written is typed.
/// Errors  unavailable: no socket yet, or nobody listens
Task<Result<std::unique_ptr<kube::Duplex>>> open_console(std::string socket_path);

}  // namespace berth::node
