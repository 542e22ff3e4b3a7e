// berth console: the serial console of a machine, on this terminal.
#include <cstdio>

#include "base/async/notify.hpp"
#include "base/async/task_group.hpp"
#include "cli/client.hpp"
#include "cli/console_link.hpp"
#include "cli/terminal.hpp"
#include "cli/words.hpp"

namespace berth::cli {
namespace {

constexpr char kLeave = 0x1d;  // Ctrl-] and Ctrl-5

struct Flags {
    Target target;
    std::vector<std::string> words;
    std::string patience = "5m";
};

// From the guest to the screen, until the far side ends.
Task<void> show(kube::Duplex& console) {
    while (true) {
        const std::optional<std::string> bytes = co_await console.read();
        if (!bytes || !write_output(*bytes)) co_return;
    }
}

// From the keyboard to the guest, until the leave key. The end of a piped input is not the end of the session.
Task<void> type(kube::Duplex& console, bool is_terminal, bool* left) {
    while (true) {
        std::optional<std::string> bytes = co_await read_input();
        if (!bytes) break;
        const std::size_t leave = is_terminal ? bytes->find(kLeave) : std::string::npos;
        if (leave != std::string::npos) bytes->resize(leave);
        if (!bytes->empty()) {
            const Result<void> written = co_await console.write(*std::move(bytes));
            if (!written) break;
        }
        if (leave != std::string::npos) {
            *left = true;
            co_return;
        }
    }
    const Executor executor = co_await boost::asio::this_coro::executor;
    Notify never(executor);
    co_await never.wait();
}

Task<Result<bool>> hold(Client& client, std::string name, Duration patience) {
    CO_TRY(
        const std::unique_ptr<kube::Duplex> console,
        co_await open_console(client.http(), client.clock(), client.ns(), name, patience)
    );
    std::fprintf(
        stderr, "Successfully connected to %s console. Press Ctrl+] or Ctrl+5 to exit console.\n", name.c_str()
    );
    bool left = false;
    {
        const RawTerminal terminal;
        Task<void> reading = show(*console);
        Task<void> typing = type(*console, terminal.is_terminal(), &left);
        co_await finishes_before(std::move(reading), std::move(typing));
    }
    co_return left;
}

int run(const Flags& flags) {
    const Result<MachineName> machine = read_machine(flags.words);
    if (!machine) return complain("console: " + machine.error().message, kUsage);
    const Result<Duration> patience = read_patience(flags.patience);
    if (!patience) return complain("console: --timeout: " + patience.error().message, kUsage);
    auto client = Client::open(flags.target);
    if (!client) return complain_about("console", client.error());
    (*client)->stops_on_signals();
    const Result<bool> left = (*client)->wait(hold(**client, machine->name, *patience));
    if (!left && (*client)->was_stopped()) return kFailed;
    if (!left) return complain_about("console of \"" + machine->name + "\"", left.error(), (*client)->server());
    std::fputs(*left ? "\n" : "\nThe machine ended the session: it was stopped, or its node restarted.\n", stderr);
    return kOk;
}

}  // namespace

void add_console(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("console", "Connect to the serial console of a machine");
    const auto flags = std::make_shared<Flags>();
    add_target(*verb, flags->target);
    verb->add_option("machine", flags->words, "NAME, vm NAME or vmi NAME")->required()->expected(1, 2);
    verb->add_option("--timeout", flags->patience, "how long to wait until it runs: 90s, 5m; a bare number is minutes")
        ->capture_default_str();
    verb->footer(
        "Waits until the machine runs. Ctrl-] leaves. Input that is no terminal is typed into the guest as it is; the "
        "session\n"
        "then lasts until the machine ends.\n\n"
        "Examples:\n  berth console db\n  printf 'uname -a\\n' | timeout 10 berth console db -n lab"
    );
    verb->callback([flags, &work] { work = [flags] { return run(*flags); }; });
}

}  // namespace berth::cli
