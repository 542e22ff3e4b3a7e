// berth completion bash|zsh|fish: scripts made from the verbs and options themselves, so that they cannot go stale.
#include <cstdio>

#include "cli/command.hpp"

namespace berth::cli {
namespace {

std::string words_of(const CLI::App& app) {
    std::string words;
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (!verb->get_group().empty()) words += verb->get_name() + " ";
    }
    for (const CLI::Option* option : app.get_options()) {
        for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
    }
    return words;
}

// A case per verb: what may follow it.
std::string cases_of(const CLI::App& app) {
    std::string text;
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (!verb->get_group().empty()) text += "    " + verb->get_name() + ") words=\"" + words_of(*verb) + "\" ;;\n";
    }
    return text;
}

std::string bash(const CLI::App& app) {
    return "# bash completion of berth: source <(berth completion bash)\n"
           "_berth() {\n"
           "  local words\n"
           "  case ${COMP_WORDS[1]} in\n" +
           cases_of(app) + "    *) words=\"" + words_of(app) +
           "\" ;;\n"
           "  esac\n"
           "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
           "}\n"
           "complete -F _berth berth\n";
}

std::string zsh(const CLI::App& app) {
    return "#compdef berth\n# zsh completion of berth: source <(berth completion zsh)\nautoload -U +X bashcompinit && "
           "bashcompinit\n" +
           bash(app);
}

std::string fish(const CLI::App& app) {
    std::string text = "# fish completion of berth: berth completion fish | source\n";
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        if (verb->get_group().empty()) continue;
        text += "complete -c berth -n __fish_use_subcommand -a " + verb->get_name() + " -d '" +
                verb->get_description() + "'\n";
        for (const CLI::Option* option : verb->get_options()) {
            for (const std::string& name : option->get_lnames()) {
                text += "complete -c berth -n '__fish_seen_subcommand_from " + verb->get_name() + "' -l " + name +
                        " -d '" + option->get_description() + "'\n";
            }
        }
    }
    return text;
}

}  // namespace

void add_completion(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("completion", "Print a completion script for a shell");
    const auto shell = std::make_shared<std::string>();
    verb->add_option("shell", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
    verb->footer("Example:\n  source <(berth completion bash)");
    verb->callback([shell, &app, &work] {
        work = [shell, &app] {
            const std::string script = *shell == "bash" ? bash(app) : *shell == "zsh" ? zsh(app) : fish(app);
            std::fputs(script.c_str(), stdout);
            return kOk;
        };
    });
}

}  // namespace berth::cli
