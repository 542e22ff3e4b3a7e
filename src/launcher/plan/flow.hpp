// What the launcher does next, from what it sees. One rule decides: a pod runs one guest, once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/link.hpp"
#include "launcher/plan/live.hpp"

namespace berth::launcher {

enum class DomainState { unknown, absent, starting, running, paused, shutoff, crashed };
enum class Ask { nothing, shutdown, destroy };

/// What is known at one moment.
struct Seen {
    DomainState domain = DomainState::unknown;  ///< unknown: no connection to libvirt
    std::string domain_reason;           ///< of a domain that is off or paused: "shutdown", "destroyed", "ioerror", …
    bool was_started = false;            ///< the record of the start is there: written before the start is tried
    bool start_succeeded = false;        ///< the record says that the start was seen to succeed
    bool has_run_qemu = false;           ///< libvirt has begun QEMU's log, which is the last thing before QEMU runs
    bool has_spec = false;               ///< a sync has come
    std::vector<std::string> waits_for;  ///< volumes and files that are not there yet
    bool is_prepared = false;            ///< every disk's file has been made
    bool is_cooling = false;             ///< the last attempt failed a moment ago
    std::string error;                   ///< of the last attempt
    Ask ask = Ask::nothing;
    bool has_asked_guest = false;  ///< the power button was pressed at least once since the launcher began
    bool may_ask_again = true;     ///< and long enough ago
    bool ends_when_idle = false;   ///< the pod is being stopped: with no guest there is nothing to wait for

    [[nodiscard]] bool is_active() const {
        return domain == DomainState::starting || domain == DomainState::running || domain == DomainState::paused;
    }
};

enum class Step { wait, forget_start, prepare, start, press_power_button, destroy, end };

/// How the pod's program ends.
enum class Ending { none, done, crashed };

struct Decision {
    std::string_view rule;
    Step step = Step::wait;
    std::string_view waits_for = {};  ///< who must act, when nothing is done
    Ending ending = Ending::none;
    bool operator==(const Decision&) const = default;
};

Decision decide(const Seen& seen);

/// What the node is told. `live` is of a domain that is on.
agent::Report report_of(const Seen& seen, const LiveDomain& live, const std::vector<agent::DiskReport>& sizes);

}  // namespace berth::launcher
