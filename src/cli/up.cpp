// berth up: the one-machine cluster, in the foreground.
#include <cstdio>

#include <unistd.h>

#include "base/quantity.hpp"
#include "cli/command.hpp"
#include "roles/up/up.hpp"

namespace berth::cli {
namespace {

struct Flags {
    roles::UpOptions options;
    std::string listen;
    std::string cpu, memory, storage;
};

Result<void> read_sizes(Flags& flags) {
    if (!flags.listen.empty()) TRY_DO(roles::read_listen(flags.listen, flags.options));
    if (!flags.cpu.empty()) {
        TRY(const MilliCpu cpu, to_milli_cpu({flags.cpu}));
        flags.options.node_cpu = cpu;
    }
    if (!flags.memory.empty()) {
        TRY(const Bytes memory, to_bytes({flags.memory}));
        flags.options.node_memory = memory;
    }
    if (!flags.storage.empty()) {
        TRY(const Bytes storage, to_bytes({flags.storage}));
        flags.options.node_storage = storage;
    }
    return {};
}

int run(Flags flags) {
    if (const Result<void> read = read_sizes(flags); !read) return complain(read.error().message, kUsage);
    if (geteuid() != 0) {
        return complain("up: must run as root: it mounts volumes and starts containers (try: sudo berth up)", kUsage);
    }
    return roles::up(std::move(flags.options));
}

}  // namespace

void add_up(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("up", "Run a one-machine cluster in the foreground");
    const auto flags = std::make_shared<Flags>();
    roles::UpOptions& options = flags->options;
    verb->add_option("--data-dir", options.data_dir, "where everything is kept")->capture_default_str();
    verb->add_option("--nodes", options.nodes, "nodes n1 to nN, all on this machine")
        ->check(CLI::Range(1, 16))
        ->capture_default_str();
    verb->add_option(
        "--listen", flags->listen, "ADDRESS:PORT of the API server (default 127.0.0.1:6443; port 0: any free one)"
    );
    verb->add_option("--accel", options.accelerator, "how guests run")
        ->check(CLI::IsMember({"auto", "kvm", "tcg"}))
        ->capture_default_str();
    verb->add_option("--node-cpu", flags->cpu, "CPUs each node offers, e.g. 4 (default: the machine's share)");
    verb->add_option("--node-memory", flags->memory, "memory each node offers, e.g. 8Gi");
    verb->add_option("--node-storage", flags->storage, "bytes of claims each node takes, e.g. 100Gi");
    verb->add_option("--guest-image", options.guest_archive, "OCI archive behind the image berth.local/guest");
    verb->add_flag_callback(
        "--no-controllers",
        [flags] { flags->options.has_controllers = false; },
        "leave machines and DataVolumes to a `berth controller --solo`"
    );
    verb->add_flag("-v,--verbose", options.is_verbose, "log every plan");
    verb->footer(
        "Prints one line when ready and keeps a kubeconfig in the data directory. Ctrl-C or SIGTERM ends it; guests go "
        "on\n"
        "running and are found again by the next `berth up`. `berth down` stops them.\n\n"
        "Examples:\n"
        "  berth up\n"
        "  berth up --nodes 2 --data-dir /tmp/lab --listen 127.0.0.1:7443"
    );
    verb->callback([flags, &work] { work = [flags] { return run(*flags); }; });
}

}  // namespace berth::cli
