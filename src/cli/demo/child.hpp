// `berth up` as a child of the demo: started, waited for, ended.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"

namespace berth::cli {

class UpProcess {
public:
    /// Starts `berth up` with two nodes on a free port and waits until it is ready; its log goes to D/up.log.
    /// Errors  unavailable: it ended or was not ready within a minute, with the end of its log
    static Result<std::unique_ptr<UpProcess>> start(const std::string& program, const std::string& data_dir);
    /// Ends it, unless it is left running. Guests go on until they are stopped.
    ~UpProcess();

    [[nodiscard]] const std::string& ready_line() const { return ready_line_; }
    void leave_running() { pid_ = 0; }

private:
    explicit UpProcess(int pid) : pid_(pid) {}
    int pid_;
    std::string ready_line_;
};

}  // namespace berth::cli
