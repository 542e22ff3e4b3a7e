// berth down: stops the guests of a data directory and takes away what runs and is mounted for it.
#include <csignal>
#include <cstdio>
#include <fstream>

#include <unistd.h>

#include "cli/command.hpp"
#include "cli/stop.hpp"
#include "solo/edge/container_record.hpp"
#include "solo/edge/data_dir.hpp"
#include "solo/edge/files.hpp"

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

// TERM to process 1 of every pod: a launcher shuts its guest down.
void stop_guests(const std::string& data_dir, int grace_seconds) {
    std::vector<solo::ProcessMark> running;
    for (const std::string& node : solo::list_dir(data_dir + "/nodes")) {
        for (const solo::ContainerRecord& record : solo::read_records(solo::NodeDir{data_dir + "/nodes/" + node})) {
            if (record.stage == solo::Stage::exited || !solo::is_alive(record.process)) continue;
            if (::kill(record.process.pid, SIGTERM) == 0) running.push_back(record.process);
        }
    }
    if (running.empty()) return;
    std::printf("asked %zu containers to end; waiting at most %d s\n", running.size(), grace_seconds);
    for (const solo::ProcessMark& process : running) {
        if (!solo::wait_for_end(process, std::chrono::seconds(grace_seconds))) break;  // the rest is ended hard below
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
    if (!solo::exists(data_dir)) return fail(ErrorKind::not_found, "there is no data directory \"" + data_dir + "\" (name it with --data-dir)");
    stop_up(data_dir);
    stop_guests(data_dir, grace_seconds);
    return purges ? solo::purge(data_dir) : solo::clean_up(data_dir);
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
