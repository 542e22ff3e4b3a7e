// berth start, stop and restart: the verbs of subresources.kubevirt.io, with virtctl's flags and messages.
#include <cstdio>

#include "cli/client.hpp"
#include "cli/words.hpp"

namespace berth::cli {
namespace {

struct Flags {
    Target target;
    std::vector<std::string> words;
    bool paused = false;
    bool forced = false;
    std::int64_t grace_seconds = -1;
};

// The body that the verb's subresource takes.
json::Value body_of(const std::string& verb, const Flags& flags) {
    json::Object body;
    if (verb == "start" && flags.paused) body["paused"] = true;
    if (flags.grace_seconds >= 0) body[verb == "stop" ? "gracePeriod" : "gracePeriodSeconds"] = flags.grace_seconds;
    return json::Value(std::move(body));
}

int run(const std::string& verb, const Flags& flags) {
    const Result<MachineName> machine = read_machine(flags.words);
    if (!machine) return complain(verb + ": " + machine.error().message, kUsage);
    if (machine->is_instance)
        return complain(verb + ": acts on a VM, not on a VMI: use `berth " + verb + " vm NAME`", kUsage);
    if (flags.forced && flags.grace_seconds < 0) {
        return complain(
            verb + ": can not force " + verb + " without a grace period: add --grace-period SECONDS", kUsage
        );
    }
    auto client = Client::open(flags.target);
    if (!client) return complain_about(verb, client.error());
    const std::string path = "/apis/subresources.kubevirt.io/v1/namespaces/" + (*client)->ns() + "/virtualmachines/" +
                             machine->name + "/" + verb;
    const Result<void> done = (*client)->wait(put_verb((*client)->api(), path, json::print(body_of(verb, flags))));
    if (!done) return complain_about(verb + " VM \"" + machine->name + "\"", done.error(), (*client)->server());
    std::printf("VM %s was scheduled to %s\n", machine->name.c_str(), verb.c_str());
    return kOk;
}

CLI::App& add_verb(CLI::App& app, Work& work, const std::string& name, const std::string& help, Flags*& out) {
    CLI::App* const verb = app.add_subcommand(name, help);
    const auto flags = std::make_shared<Flags>();
    add_target(*verb, flags->target);
    verb->add_option("machine", flags->words, "NAME, vm NAME or vm/NAME")->required()->expected(1, 2);
    verb->callback([flags, name, &work] { work = [flags, name] { return run(name, *flags); }; });
    out = flags.get();  // the callback keeps it alive
    return *verb;
}

void add_grace(CLI::App& verb, Flags& flags) {
    verb.add_option("--grace-period", flags.grace_seconds, "seconds the guest gets to shut down; needed with --force")
        ->check(CLI::Range(0, 86400));
    verb.add_flag("--force", flags.forced, "do not wait for the guest longer than --grace-period");
}

}  // namespace

void add_machine_verbs(CLI::App& app, Work& work) {
    Flags* flags = nullptr;
    CLI::App& start = add_verb(app, work, "start", "Start a virtual machine", flags);
    start.add_flag("-p,--paused", flags->paused, "start it paused");
    start.footer("Examples:\n  berth start db\n  berth start vm db -n lab --paused");

    CLI::App& stop = add_verb(app, work, "stop", "Stop a virtual machine", flags);
    add_grace(stop, *flags);
    stop.footer("Examples:\n  berth stop db\n  berth stop db --force --grace-period 0");

    CLI::App& restart = add_verb(app, work, "restart", "Restart a virtual machine", flags);
    add_grace(restart, *flags);
    restart.footer("Examples:\n  berth restart db\n  berth restart db --force --grace-period 0");
}

}  // namespace berth::cli
