// Ending a one-machine cluster: what `berth down` does, and the demo after itself.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

namespace berth::cli {

struct DownOptions {
    std::string data_dir = "/var/lib/berth";
    Duration grace = std::chrono::seconds(60);  ///< for all guests together
    bool purges = false;                        ///< removes the files too
    bool is_quiet = false;                      ///< says nothing on standard output
};

/// Ends the `berth up` of a data directory, then its guests, then what they leave on the machine. Idempotent; blocks.
/// Errors  not_found: no such directory; conflict: the process that holds it does not end; io
Result<void> take_down(const DownOptions& options);

}  // namespace berth::cli
