// What every verb of the command line shares: its registration, its exit code, and the way to the API server.
#pragma once

#include <functional>
#include <string>

#include <CLI/CLI.hpp>

namespace berth::cli {

/// Exit codes. Scripts rely on them.
enum Exit : int {
    kOk = 0,
    kFailed = 1,    ///< the server or the machine said no
    kUsage = 2,     ///< the command line or the caller's rights
    kTimedOut = 3,  ///< done as asked, and what was waited for has not come
    kAbsent = 4,    ///< the machine, the claim or the volume is not there
    kRefused = 5,   ///< not now: the name is taken, it does not run, or others changed it all the time
};

/// A verb puts its work here when it was chosen; main runs it after parsing.
using Work = std::function<int()>;

/// Options of every verb that talks to an API server.
struct Target {
    std::string kubeconfig;     ///< --kubeconfig; "" = $KUBECONFIG, /var/lib/berth/kubeconfig, ~/.kube/config
    std::string ns;             ///< --namespace; "" = the context's, else default
    std::string output;         ///< -o: "", json, yaml
    bool impersonates = false;  ///< writes in the name of the installation's own controllers
};

/// Adds --kubeconfig and --namespace.
void add_target(CLI::App& app, Target& target);
/// Adds -o json|yaml.
void add_output(CLI::App& app, Target& target);

// One function a verb, each in its file.
void add_up(CLI::App& app, Work& work);
void add_down(CLI::App& app, Work& work);
void add_demo(CLI::App& app, Work& work);
void add_console(CLI::App& app, Work& work);
void add_machine_verbs(CLI::App& app, Work& work);  ///< start, stop, restart
void add_volume_verbs(CLI::App& app, Work& work);   ///< addvolume, removevolume
void add_explain(CLI::App& app, Work& work);
void add_timeline(CLI::App& app, Work& work);
void add_controller(CLI::App& app, Work& work);
void add_version(CLI::App& app, Work& work);
void add_completion(CLI::App& app, Work& work);

/// Prints "berth: MESSAGE" on standard error and returns the code.
int complain(const std::string& message, int code = kFailed);

}  // namespace berth::cli
