// berth timeline: how a machine and its plugged volumes got to where they are, and how long each step took.
#include <cstdio>

#include "cli/client.hpp"
#include "cli/machine_view.hpp"
#include "cli/output.hpp"
#include "explain/history.hpp"

namespace berth::cli {
namespace {

struct Flags {
    Target target;
    std::vector<std::string> words;
};

Task<Result<std::vector<explain::Step>>> read_history(Client& client, MachineName machine) {
    CO_TRY(const explain::View view, co_await gather(client.api(), client.clock(), client.ns(), std::move(machine)));
    kube::ListOptions here{.ns = client.ns()};
    CO_TRY(const kube::Listing listing, co_await client.api().list(api::kEvent, std::move(here)));
    std::vector<json::Value> events;
    for (const kube::Document& event : listing.items) events.push_back(*event);
    co_return explain::history(view, events);
}

int run(const Flags& flags) {
    const Result<MachineName> machine = read_machine(flags.words);
    if (!machine) return complain("timeline: " + machine.error().message, kUsage);
    auto client = Client::open(flags.target);
    if (!client) return complain_about("timeline", client.error());
    const auto steps = (*client)->wait(read_history(**client, *machine));
    if (!steps) {
        const char* const kind = machine->is_instance ? "vmi" : "vm";
        return complain_about(
            std::string("timeline ") + kind + " \"" + machine->name + "\"", steps.error(), (*client)->server()
        );
    }
    const std::string& output = flags.target.output;
    std::fputs((output.empty() ? explain::print(*steps) : format(explain::to_json(*steps), output)).c_str(), stdout);
    return kOk;
}

}  // namespace

void add_timeline(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("timeline", "Say how long each step of a machine and its plugged disks took");
    const auto flags = std::make_shared<Flags>();
    add_target(*verb, flags->target);
    add_output(*verb, flags->target);
    verb->add_option("machine", flags->words, "vm NAME, vmi NAME or NAME")->required()->expected(1, 2);
    verb->footer(
        "A line a step: the time since the first, since the one before, and what happened. Events give exact times and "
        "are kept\nfor an hour; ~ marks a time that an object keeps in whole seconds. Asks the API only, so it works "
        "on "
        "any cluster.\n\n"
        "Examples:\n  berth timeline vm db\n  berth timeline vmi web -n lab -o json"
    );
    verb->callback([flags, &work] { work = [flags] { return run(*flags); }; });
}

}  // namespace berth::cli
