// berth start, stop, restart: the verbs of a VirtualMachine, with virtctl's flags and words.
#include <cstdio>

#include "cli/client.hpp"

namespace berth::cli {
namespace {

struct Verb {
    const char* name;
    const char* path;  ///< of the subresource
    const char* help;
    const char* told;  ///< "VM web was scheduled to start"
};

constexpr Verb kVerbs[] = {
    {"start", "start", "Start a virtual machine", "start"},
    {"stop", "stop", "Stop a virtual machine", "stop"},
    {"restart", "restart", "Restart a virtual machine", "restart"},
};

struct Flags {
    Target target;
    std::string name;
    bool paused = false;
    bool force = false;
    std::optional<std::int64_t> grace;
};

int run(const Verb& verb, const Flags& flags) {
    auto client = Client::open(flags.target);
    if (!client) return complain(client.error().message);
    kube::Request request;
    request.method = "PUT";
    request.path = "/apis/subresources.kubevirt.io/v1/namespaces/" + (*client)->ns() + "/virtualmachines/" + flags.name + "/" + verb.path;
    json::Object body;
    if (flags.paused) body["paused"] = true;
    if (flags.grace || flags.force) body["gracePeriodSeconds"] = flags.grace.value_or(0);
    if (!body.empty()) request.document = json::Value(std::move(body));
    const Result<kube::Response> response = (*client)->wait((*client)->http().request(std::move(request)));
    if (!response) return complain(response.error().message);
    if (response->code >= 300) return complain(std::string(verb.name) + " " + flags.name + ": " + kube::error_of(*response).message);
    std::printf("VM %s was scheduled to %s\n", flags.name.c_str(), verb.told);
    return kOk;
}

}  // namespace

void add_machine_verbs(CLI::App& app, Work& work) {
    for (const Verb& verb : kVerbs) {
        auto* const command = app.add_subcommand(verb.name, verb.help);
        const auto flags = std::make_shared<Flags>();
        command->add_option("vm", flags->name, "name of the virtual machine")->required();
        add_target(*command, flags->target);
        if (std::string(verb.name) == "start") {
            command->add_flag("--paused", flags->paused, "start it paused");
        } else {
            command->add_option("--grace-period", flags->grace, "seconds the guest has to shut down");
            command->add_flag("--force", flags->force, "switch it off at once");
        }
        command->footer(std::string("Example:\n  berth ") + verb.name + " db");
        command->callback([flags, &verb, &work] { work = [flags, &verb] { return run(verb, *flags); }; });
    }
}

}  // namespace berth::cli
