// Running crun and conmon: no shell, no inherited descriptors, a time limit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "solo/edge/fd.hpp"

namespace berth::solo {

struct Command {
    std::vector<std::string> argv;  ///< argv[0] is an absolute path
    std::vector<std::string> env;   ///< "NAME=value"; PATH is added
    std::string working_dir = "/";
    std::vector<int> kept_fds;  ///< open in the child under the same number; all others are closed
    /// Mounts that the child must not see. When any: it runs in a copy of the mount namespace that follows ours
    /// (slave) without them.
    std::vector<std::string> hidden_mounts;
};

struct Finished {
    int exit_code = 0;   ///< 128 + signal when a signal ended it
    std::string output;  ///< standard output and error, at most 64 KiB
};

/// Runs a command to its end. Standard input is empty. Blocks.
/// Errors  timeout: it was killed; io: it could not be started
Result<Finished> run(const Command& command, Duration limit);

/// The first of `names` that is an executable of the usual folders. Errors  not_found: says which package to install
Result<std::string> find_program(const std::vector<std::string>& names, const std::string& package);

/// A process as /proc shows it: its number alone may be another's by now.
struct ProcessMark {
    int pid = 0;
    std::int64_t start_ticks = 0;  ///< field 22 of /proc/PID/stat
    bool operator==(const ProcessMark&) const = default;
};

/// 0 ticks when there is no such process, or only its zombie.
ProcessMark process_mark(int pid);
bool is_alive(const ProcessMark& mark);

/// A descriptor that becomes readable when the process ends; not open when it has.
Fd open_process(const ProcessMark& mark);

/// Blocks until the process has ended; false when it has not within the limit.
bool wait_for_end(const ProcessMark& mark, Duration limit);

/// Identity of this boot of the machine.
std::string boot_id();

}  // namespace berth::solo
