// `berth up` as a child of the demo: its own process group, so that Ctrl-C is the demo's alone to act on.
#pragma once

#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

namespace berth::cli {

class UpProcess {
public:
    /// Starts `program up` on a free port and waits for the line that says that it is ready. Its log goes to D/up.log.
    ///
    /// Errors  timeout: not ready within 30 s; io: it ended, with the end of its log
    static Result<UpProcess> start(const std::string& program, const std::string& data_dir, int nodes);

    /// What it printed when it was ready.
    [[nodiscard]] const std::string& ready_line() const { return ready_line_; }
    /// Asks it to end and waits; after 30 s it is killed. Guests go on.
    void stop();

private:
    int pid_ = 0;
    std::string ready_line_;
};

/// The last `count` lines of a file; "" when it cannot be read.
std::string last_lines(const std::string& path, std::size_t count);

}  // namespace berth::cli
