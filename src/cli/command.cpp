#include "cli/command.hpp"

#include <cstdio>

namespace berth::cli {

int complain(const std::string& message, int code) {
    std::fprintf(stderr, "berth: %s\n", message.c_str());
    return code;
}

void add_target(CLI::App& app, Target& target) {
    app.add_option("--kubeconfig", target.kubeconfig, "file that says where the API server is");
    app.add_option("-n,--namespace", target.ns, "namespace of the object (default: the context's)");
}

void add_output(CLI::App& app, Target& target) {
    app.add_option("-o,--output", target.output, "json or yaml instead of text")
        ->check(CLI::IsMember({"json", "yaml"}));
}

}  // namespace berth::cli
