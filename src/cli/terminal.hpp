// Standard input and output for a console: raw while it lasts, restored whatever happens.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <termios.h>

#include "base/async/task.hpp"

namespace berth::cli {

/// While it lives, a terminal on standard input hands over every key as it is. Does nothing when it is no terminal.
class RawTerminal {
public:
    RawTerminal();
    ~RawTerminal();
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

    [[nodiscard]] bool is_terminal() const { return before_.has_value(); }

private:
    std::optional<termios> before_;
};

/// The next bytes of standard input; none at its end. Cancellable where the input is no plain file.
Task<std::optional<std::string>> read_input();

/// Writes all of it to standard output at once; false when nobody reads any more.
bool write_output(std::string_view bytes);

}  // namespace berth::cli
