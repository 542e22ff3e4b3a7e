// berth explain: where a machine stands, and who must act next.
#include <cstdio>

#include "cli/client.hpp"
#include "cli/machine_view.hpp"
#include "cli/output.hpp"
#include "explain/chain.hpp"
#include "explain/plug.hpp"

namespace berth::cli {
namespace {

struct Flags {
    Target target;
    std::vector<std::string> words;
    bool watches = false;
};

std::string text_of(const explain::View& view, const std::string& output) {
    const std::vector<explain::Line> lines = explain::chain(view);
    return output.empty() ? explain::print(lines, view.now) : format(explain::to_json(lines), output);
}

// Prints the chain each time it says something else, until the machine runs.
Task<Result<void>> follow(Client& client, MachineName machine, std::string output) {
    std::string shown;
    while (true) {
        CO_TRY(explain::View view, co_await gather(client.api(), client.clock(), client.ns(), machine));
        const bool is_done = explain::is_running(view);
        const Timestamp now = view.now;
        view.now = Timestamp{};  // ages would make every text a new one
        std::string text = text_of(view, output);
        if (text != shown) {
            view.now = now;
            std::fputs((shown.empty() ? text_of(view, output) : "\n" + text_of(view, output)).c_str(), stdout);
            std::fflush(stdout);
            shown = std::move(text);
        }
        if (is_done) co_return Result<void>{};
        co_await client.clock().sleep_for(std::chrono::seconds(1));
    }
}

int run(const Flags& flags) {
    const Result<MachineName> machine = read_machine(flags.words);
    if (!machine) return complain("explain: " + machine.error().message, kUsage);
    auto client = Client::open(flags.target);
    if (!client) return complain_about("explain", client.error());
    const std::string what =
        "explain " + std::string(machine->is_instance ? "vmi" : "vm") + " \"" + machine->name + "\"";
    if (flags.watches) {
        const Result<void> done = (*client)->wait(follow(**client, *machine, flags.target.output));
        return done ? static_cast<int>(kOk) : complain_about(what, done.error(), (*client)->server());
    }
    const Result<explain::View> view =
        (*client)->wait(gather((*client)->api(), (*client)->clock(), (*client)->ns(), *machine));
    if (!view) return complain_about(what, view.error(), (*client)->server());
    std::fputs(text_of(*view, flags.target.output).c_str(), stdout);
    return kOk;
}

}  // namespace

void add_explain(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("explain", "Say where a machine stands and who must act next");
    const auto flags = std::make_shared<Flags>();
    add_target(*verb, flags->target);
    add_output(*verb, flags->target);
    verb->add_option("machine", flags->words, "vm NAME, vmi NAME or NAME")->required()->expected(1, 2);
    verb->add_flag("-w,--watch", flags->watches, "print it again whenever it changes, until the machine runs");
    verb->footer(
        "One line an object: its disks with their DataVolume, claim and volume, its pods, the guest. Marks: done (✓), "
        "waits (·),\n"
        "must act now (→), failed (✗). Asks the API only, so it works on any cluster.\n\n"
        "Examples:\n  berth explain vm db\n  berth explain vmi db -n lab -o json\n  berth explain db --watch"
    );
    verb->callback([flags, &work] { work = [flags] { return run(*flags); }; });
}

}  // namespace berth::cli
