#include "cli/demo/guest_shell.hpp"

#include "base/async/task_group.hpp"

namespace berth::cli {
namespace {

constexpr const char* kPrompt = "guest# ";
// The echo of what is typed does not contain the mark that the shell prints.
constexpr const char* kTypedMark = "; echo END-$((1+1))";
constexpr const char* kEndMark = "END-2";
constexpr std::size_t kHeardMax = 256 * 1024;

}  // namespace

std::string answer_in(const std::string& heard) {
    std::string text = heard;
    std::erase(text, '\r');
    if (const std::size_t end = text.find(kEndMark); end != std::string::npos) text.resize(end);
    if (const std::size_t echo = text.find(kTypedMark); echo != std::string::npos) {
        const std::size_t line_end = text.find('\n', echo);
        text.erase(0, line_end == std::string::npos ? text.size() : line_end + 1);
    }
    return text;
}

Task<void> GuestShell::read_until(std::string text) {
    while (heard_.find(text) == std::string::npos) {
        const std::optional<std::string> bytes = co_await console_->read();
        if (!bytes) {
            is_at_end_ = true;
            co_return;
        }
        heard_ += *bytes;
        if (heard_.size() > kHeardMax) heard_.erase(0, heard_.size() - kHeardMax / 2);
    }
}

// The guest may still be booting: then nobody hears the line, and it is typed again.
Task<void> GuestShell::nudge() {
    while (true) {
        const Result<void> written = co_await console_->write("\n");
        if (!written) co_return;
        co_await clock_.sleep_for(std::chrono::seconds(2));
    }
}

Task<Result<void>> GuestShell::await_prompt() {
    Task<void> nudging = nudge();
    Task<void> reading = read_until(kPrompt);
    const bool answered = co_await finishes_before(std::move(nudging), std::move(reading));
    if (!answered || is_at_end_) co_return fail(ErrorKind::unavailable, "the console ended before the shell answered");
    co_return Result<void>{};
}

Task<Result<void>> GuestShell::hear(std::string words) {
    co_await read_until(words);
    if (is_at_end_) co_return fail(ErrorKind::unavailable, "the console ended before the guest said \"" + words + "\"");
    co_return Result<void>{};
}

Task<Result<std::string>> GuestShell::ask(std::string line) {
    heard_.clear();
    std::string typed = line + kTypedMark + "\n";
    CO_TRY_DO(co_await console_->write(std::move(typed)));
    co_await read_until(kEndMark);
    if (is_at_end_) co_return fail(ErrorKind::unavailable, "the console ended before the answer did");
    co_return answer_in(heard_);
}

}  // namespace berth::cli
