// The guest's serial console. We hold the one connection that QEMU takes, and share it: whoever connects sees what was
// said last, then what is said, and may type.
#pragma once

#include <deque>
#include <list>
#include <string>

#include "agent/edge/unix_stream.hpp"
#include "base/async/clock.hpp"
#include "base/async/task_group.hpp"
#include "launcher/edge/launcher.hpp"

namespace berth::launcher {

constexpr std::size_t kScrollback = 16 << 10;  ///< bytes a new client sees of what was said before

class Console {
public:
    Console(Executor executor, Launcher& launcher, Clock& clock, Log& log);

    /// Reads the guest's serial port while it is on; until cancelled.
    Task<void> read_guest(std::string serial_socket, std::string log_path);
    /// Lets clients in; until cancelled.
    Task<void> serve(std::string path);
    Task<void> close() { return group_.close(); }

private:
    struct Client;
    void take(std::shared_ptr<agent::UnixStream> stream);
    Task<void> serve_client(std::shared_ptr<Client> client);
    Task<void> write_client(std::shared_ptr<Client> client);
    Task<void> follow(std::shared_ptr<agent::UnixStream> guest, std::string log_path);
    void said(std::string_view bytes);

    Launcher& launcher_;
    Clock& clock_;
    Log& log_;
    std::shared_ptr<agent::UnixStream> guest_;
    std::string scrollback_;
    std::list<std::shared_ptr<Client>> clients_;
    TaskGroup group_;  // last
};

}  // namespace berth::launcher
