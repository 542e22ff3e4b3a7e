// The one program: by the name it is called with it is a part of a pod, otherwise the command line.
#include "cli/command.hpp"
#include "cli/programs.hpp"

namespace berth::cli {

namespace {

// How people call it: `berth`, or `virtctl` where a link of that name points to it.
std::string called(const char* path) {
    const std::string name = path;
    return name.substr(name.rfind('/') + 1);
}

int run(int argc, char** argv) {
    CLI::App app{
        "The storage path of virtual machines on Kubernetes: on one machine, or on any cluster.",
        argc > 0 ? called(argv[0]) : "berth"
    };
    app.require_subcommand(1);
    app.footer(
        "Examples:\n"
        "  berth up                      one-machine cluster in the foreground\n"
        "  kubectl apply -f vm.yaml      with the kubeconfig that `berth up` prints\n"
        "  berth explain vm db           where a machine stands and who must act next\n"
        "  berth addvolume db --volume-name data --wait    plug a disk into it while it runs\n"
        "  berth console db              its serial console\n"
        "\n`berth VERB --help` says more."
    );
    Work work;
    add_up(app, work);
    add_down(app, work);
    add_demo(app, work);
    add_console(app, work);
    add_machine_verbs(app, work);
    add_volume_verbs(app, work);
    add_explain(app, work);
    add_timeline(app, work);
    add_controller(app, work);
    add_version(app, work);
    add_completion(app, work);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        const int code = app.exit(error);
        return code == 0 ? kOk : kUsage;
    }
    return work ? work() : kOk;
}

}  // namespace
}  // namespace berth::cli

int main(int argc, char** argv) {
    if (const auto program = berth::cli::program_of(argc, argv)) return program(argc, argv);
    return berth::cli::run(argc, argv);
}
