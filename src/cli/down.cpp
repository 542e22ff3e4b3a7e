// berth down: stops the guests of a data directory and takes away what runs and is mounted for it.
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "cli/command.hpp"
#include "cli/stop.hpp"
#include "solo/edge/clean_up.hpp"
#include "solo/edge/process.hpp"

namespace berth::cli {
namespace {

struct Flags {
    std::string data_dir = "/var/lib/berth";
    bool purges = false;
    int grace_seconds = 60;
};

// A `berth up` that still has the directory is asked to end first.
void stop_up(const std::string& data_dir) {
    int pid = 0;
    if (!(std::ifstream(data_dir + "/up.pid") >> pid) || pid <= 1) return;
    const solo::ProcessMark mark = solo::process_mark(pid);
    if (!solo::is_alive(mark)) return;
    std::printf("stopping berth up (process %d)\n", pid);
    ::kill(pid, SIGTERM);
    if (!solo::wait_for_end(mark, std::chrono::seconds(20))) ::kill(pid, SIGKILL);
}

// What `berth up` itself keeps: objects, keys, the way in.
void remove_own_files(const std::string& data_dir) {
    std::error_code ignored;
    for (const char* name : {"store.db", "store.db-wal", "store.db-shm", "kubeconfig", "up.pid", "pki"}) {
        std::filesystem::remove_all(data_dir + "/" + name, ignored);
    }
}

int run(const Flags& flags) {
    if (::geteuid() != 0) return complain("down: must run as root (try: sudo berth down)", kUsage);
    const Result<void> done = stop_everything(flags.data_dir, flags.purges, flags.grace_seconds);
    if (!done) return complain("down: " + done.error().message);
    std::printf("%s\n", flags.purges ? "stopped, and all data removed" : "stopped; the data stays");
    return kOk;
}

}  // namespace

Result<void> stop_everything(const std::string& data_dir, bool purges, int grace_seconds) {
    if (!std::filesystem::exists(data_dir)) return fail(ErrorKind::not_found, "there is no data directory \"" + data_dir + "\" (name it with --data-dir)");
    stop_up(data_dir);
    const Duration grace = std::chrono::seconds(grace_seconds);
    const Result<void> done = purges ? solo::purge(data_dir, grace) : solo::clean_up(data_dir, grace);
    if (done && purges) remove_own_files(data_dir);
    return done;
}

void add_down(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("down", "Stop the guests of a data directory, and all that runs for it");
    const auto flags = std::make_shared<Flags>();
    verb->add_option("--data-dir", flags->data_dir, "the directory that `berth up` was given")->capture_default_str();
    verb->add_option("--grace-period", flags->grace_seconds, "seconds that guests have to shut down")->capture_default_str();
    verb->add_flag("--purge", flags->purges, "remove volumes and objects too");
    verb->footer("Examples:\n  berth down\n  berth down --data-dir /tmp/lab --purge");
    verb->callback([flags, &work] { work = [flags] { return run(*flags); }; });
}

}  // namespace berth::cli
