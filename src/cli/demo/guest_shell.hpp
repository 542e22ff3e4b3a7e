// Talking to the demo guest's shell over its console.
#pragma once

#include <memory>
#include <string>

#include "base/async/clock.hpp"
#include "kube/handler.hpp"

namespace berth::cli {

class GuestShell {
public:
    GuestShell(std::unique_ptr<kube::Duplex> console, Clock& clock) : console_(std::move(console)), clock_(clock) {}

    /// Returns when the shell has shown its prompt. Asks for it with an empty line every two seconds.
    /// Errors  unavailable: the console ended
    Task<Result<void>> await_prompt();
    /// Runs one line of at most 50 characters (the guest's terminal wraps longer ones); its output alone.
    /// Errors  unavailable: the console ended
    Task<Result<std::string>> ask(std::string line);
    /// From now on hear() hears: what the guest has said before is forgotten.
    void listen() { heard_.clear(); }
    /// Returns when the guest has said the words by itself since listen(). Errors  unavailable: the console ended
    Task<Result<void>> hear(std::string words);

private:
    Task<void> read_until(std::string text);
    Task<void> nudge();

    std::unique_ptr<kube::Duplex> console_;
    Clock& clock_;
    std::string heard_;
    bool is_at_end_ = false;
};

/// What a shell answered: the part of `heard` between the echo of what was typed and the end mark. Pure.
std::string answer_in(const std::string& heard);

}  // namespace berth::cli
