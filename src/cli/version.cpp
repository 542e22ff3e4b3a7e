// berth version: what this program is, and what it found on the other side.
#include <cstdio>

#include "cli/command.hpp"
#include "cli/version.hpp"

namespace berth::cli {

void add_version(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("version", "Print the version of this program");
    const auto output = std::make_shared<std::string>();
    verb->add_option("-o,--output", *output, "json or yaml")->check(CLI::IsMember({"json", "yaml"}));
    verb->callback([output, &work] {
        work = [output] {
            if (*output == "json") {
                std::printf("{\"clientVersion\":{\"gitVersion\":\"%s\"}}\n", kVersion);
            } else if (*output == "yaml") {
                std::printf("clientVersion:\n  gitVersion: %s\n", kVersion);
            } else {
                std::printf("berth %s\n", kVersion);
            }
            return kOk;
        };
    });
}

}  // namespace berth::cli
