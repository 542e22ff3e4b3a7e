// The node's side of what leads into a VM pod: the agent link and the console, over unix sockets in the pod's folder.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "agent/link.hpp"
#include "kube/handler.hpp"

namespace berth::node {

/// Names of the sockets in the pod's volume "sockets" (mounted at /var/run/kubevirt/sockets).
inline constexpr std::string_view kLinkSocketName = "launcher-sock";
inline constexpr std::string_view kConsoleSocketName = "console-sock";

/// Connects to launchers. The peer must run as uid 107, or as root where machines do.
class UnixConnector final : public agent::Connector {
public:
    /// `socket_of`: the host's path of a pod's launcher-sock.
    explicit UnixConnector(std::function<std::string(const Uid& pod)> socket_of) : socket_of_(std::move(socket_of)) {}

    Task<Result<std::unique_ptr<agent::Link>>> connect(Uid pod) override;

private:
    std::function<std::string(const Uid&)> socket_of_;
};

/// The guest's serial console: first the end of what it said before, then what it says; what is written is typed.
/// Errors  unavailable: no socket yet, or nobody listens
Task<Result<std::unique_ptr<kube::Duplex>>> open_console(std::string socket_path);

}  // namespace berth::node
