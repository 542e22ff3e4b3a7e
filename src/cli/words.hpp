// How people name machines and lengths of time on the command line.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace berth::cli {

struct MachineName {
    bool is_instance = false;  ///< "vmi NAME"
    std::string name;
    bool operator==(const MachineName&) const = default;
};

/// Reads `NAME`, `vm NAME`, `vmi NAME`, `vm/NAME` or `vmi/NAME`, with the long and plural names of the kinds too.
/// Errors  invalid: it says what is expected
Result<MachineName> read_machine(const std::vector<std::string>& words);

/// Reads "90s", "5m", "1h"; a bare number is minutes, as virtctl has it. Errors  invalid
Result<Duration> read_patience(const std::string& text);

}  // namespace berth::cli
