// The launcher's side of the agent link (agent/link.hpp): hears what the node's agent wants, tells it every report.
#pragma once

#include "agent/edge/unix_stream.hpp"
#include "base/async/task_group.hpp"
#include "launcher/edge/launcher.hpp"

namespace berth::launcher {

class LinkServer {
public:
    LinkServer(Executor executor, Launcher& launcher, Clock& clock, Log& log);

    /// Until cancelled. A socket that cannot be made is tried again: the pod's volume may be late.
    Task<void> run(std::string path);
    Task<void> close() { return group_.close(); }

private:
    struct Client;
    Task<void> serve(std::shared_ptr<agent::UnixStream> stream);
    Task<void> tell_reports(std::shared_ptr<Client> client);
    void obey(Client& client, const json::Value& line);

    Launcher& launcher_;
    Clock& clock_;
    Log& log_;
    TaskGroup group_;  // last
};

}  // namespace berth::launcher
