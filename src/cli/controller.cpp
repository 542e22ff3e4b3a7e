// berth controller: the rules of machines and DataVolumes as a process of their own, beside any API server.
#include <cstdio>

#include "base/async/system/system.hpp"
#include "cli/client.hpp"
#include "controllers/datavolume.hpp"
#include "controllers/hotplug_attach.hpp"
#include "controllers/hotplug_template.hpp"
#include "controllers/placement.hpp"

namespace berth::cli {
namespace {

struct Flags {
    Target target;
    bool is_solo = false;
    bool is_verbose = false;
};

Task<Result<void>> run_engine(kube::Engine& engine) {
    co_await engine.run();
    co_return Result<void>{};
}

int run(const Flags& flags) {
    Target target = flags.target;
    target.impersonates = flags.is_solo;
    auto client = Client::open(target);
    if (!client) return complain_about("controller", client.error());
    SystemEntropy entropy;
    StderrLog log("controller", flags.is_verbose ? LogLevel::debug : LogLevel::info);
    kube::Engine engine((*client)->executor(), (*client)->clock(), entropy, log, (*client)->api());
    const auto machines = std::make_shared<controllers::MachineCaches>(
        engine, flags.is_solo ? placement::solo_config() : placement::Config{}
    );
    controllers::add_vm_controller(machines);
    controllers::add_vmi_controller(machines);
    controllers::add_hotplug_attach_controller(machines);
    controllers::add_hotplug_template_controller(machines);
    controllers::add_datavolume_controllers(engine);
    (*client)->stops_on_signals();
    log.info(
        "started",
        {
            {"server", (*client)->server()}
    }
    );
    const Result<void> done = (*client)->wait(run_engine(engine));
    if (!done && !(*client)->was_stopped()) return complain_about("controller", done.error(), (*client)->server());
    return kOk;
}

}  // namespace

void add_controller(CLI::App& app, Work& work) {
    auto* const verb =
        app.add_subcommand("controller", "Run the controllers of machines and DataVolumes against a cluster");
    const auto flags = std::make_shared<Flags>();
    verb->add_option(
        "--kubeconfig",
        flags->target.kubeconfig,
        "file that says where the API server is (default: inside a pod, its service account)"
    );
    verb->add_flag("--solo", flags->is_solo, "the cluster is a `berth up --no-controllers`: it has no device plugins");
    verb->add_flag("-v,--verbose", flags->is_verbose, "log every plan");
    verb->footer(
        "Needs the kinds of kubevirt.io and cdi.kubevirt.io on the server. Ends on SIGTERM; what it was doing is taken "
        "up by\n"
        "the next one.\n\n"
        "Examples:\n  berth controller --kubeconfig ~/.kube/config\n"
        "  berth controller --solo --kubeconfig /var/lib/berth/kubeconfig"
    );
    verb->callback([flags, &work] { work = [flags] { return run(*flags); }; });
}

}  // namespace berth::cli
