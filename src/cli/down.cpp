// berth down: stops the guests of a data directory and takes away what they leave on the machine.
#include "cli/down.hpp"

#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <unistd.h>

#include "cli/command.hpp"
#include "solo/edge/clean_up.hpp"
#include "solo/edge/container_record.hpp"
#include "solo/edge/files.hpp"

namespace berth::cli {
namespace {

constexpr Duration kUpEndsWithin = std::chrono::seconds(30);

// What `berth up` keeps in its directory beside what pods use; purge() of the pods' side knows nothing of it.
constexpr const char* kOwnFiles[] = {
    "kubeconfig", "up.pid", "up.log", "store.db", "store.db-wal", "store.db-shm", "pki"
};

void say(const DownOptions& options, const std::string& line) {
    if (!options.is_quiet) std::printf("%s\n", line.c_str());
}

// The process in D/up.pid, when it is alive and is berth.
std::optional<solo::ProcessMark> find_up(const solo::DataPaths& paths) {
    const Result<std::string> text = solo::read_file(paths.path + "/up.pid");
    int pid = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), pid).ec != std::errc{} || pid <= 1)
        return {};
    const Result<std::string> comm = solo::read_file("/proc/" + std::to_string(pid) + "/comm");
    if (!comm || !comm->starts_with("berth")) return {};
    const solo::ProcessMark mark = solo::process_mark(pid);
    if (!solo::is_alive(mark)) return {};
    return mark;
}

Result<void> end_up(const solo::DataPaths& paths, const DownOptions& options) {
    if (solo::lock_data_dir(paths)) return {};  // nobody has it
    const std::optional<solo::ProcessMark> up = find_up(paths);
    if (!up) {
        return fail(
            ErrorKind::conflict,
            "another process uses \"" + paths.path + "\": end its `berth up` first (see: fuser " + paths.path + "/lock)"
        );
    }
    const std::string pid = std::to_string(up->pid);
    if (::kill(up->pid, SIGTERM) != 0)
        return fail(ErrorKind::forbidden, "end process " + pid + ": " + std::strerror(errno));
    if (!solo::wait_for_end(*up, kUpEndsWithin)) {
        return fail(
            ErrorKind::timeout, "`berth up` (process " + pid + ") does not end: kill -9 " + pid + " loses nothing"
        );
    }
    say(options, "ended `berth up` (process " + pid + ")");
    return {};
}

int count_running(const solo::DataPaths& paths) {
    int count = 0;
    for (const std::string& node : solo::list_dir(paths.nodes())) {
        for (const solo::ContainerRecord& record : solo::read_records(paths.node(NodeName{node}))) {
            const bool runs = record.stage == solo::Stage::started && solo::is_alive(record.process);
            if (runs && record.name == "compute") ++count;
        }
    }
    return count;
}

int run(const DownOptions& options) {
    if (geteuid() != 0) {
        return complain(
            "down: must run as root: it ends containers and takes away mounts (try: sudo berth down)", kUsage
        );
    }
    const Result<void> done = take_down(options);
    if (!done)
        return complain("down: " + done.error().message, done.error().kind == ErrorKind::timeout ? kTimedOut : kFailed);
    return kOk;
}

}  // namespace

Result<void> take_down(const DownOptions& options) {
    if (!solo::exists(options.data_dir)) {
        return fail(
            ErrorKind::not_found, "there is no data directory \"" + options.data_dir + "\": give it with --data-dir"
        );
    }
    TRY(const solo::DataPaths paths, solo::find_data_dir(options.data_dir));
    TRY_DO(end_up(paths, options));
    if (const int count = count_running(paths); count > 0) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.grace).count();
        say(options,
            "stopping " + std::to_string(count) + (count == 1 ? " guest" : " guests") + " (at most " +
                std::to_string(seconds) + " s)");
        std::fflush(stdout);
    }
    TRY_DO(solo::clean_up(paths.path, options.grace));
    say(options, "removed containers, mounts, loop devices and control groups of " + paths.path);
    if (!options.purges) return {};
    TRY_DO(solo::purge(paths.path, Duration(0)));
    for (const char* const name : kOwnFiles) TRY_DO(solo::remove_tree(paths.path + "/" + name));
    if (solo::list_dir(paths.path).empty()) ::rmdir(paths.path.c_str());
    say(options,
        "removed the files of " + paths.path + (solo::exists(paths.path) ? "; images/ and files of others stay" : ""));
    return {};
}

void add_down(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("down", "Stop the guests of a one-machine cluster and clean up after them");
    const auto options = std::make_shared<DownOptions>();
    const auto grace = std::make_shared<int>(60);
    verb->add_option("--data-dir", options->data_dir, "the directory that `berth up` was given")->capture_default_str();
    verb->add_option("--grace-period", *grace, "seconds that all guests together get to shut down")
        ->check(CLI::Range(0, 3600))
        ->capture_default_str();
    verb->add_flag("--purge", options->purges, "remove all objects and disks too");
    verb->footer(
        "Ends a running `berth up` of that directory first. Touches nothing of other directories. Without --purge the "
        "next\n"
        "`berth up` finds every object and disk again.\n\n"
        "Examples:\n  berth down\n  berth down --data-dir /tmp/lab --purge"
    );
    verb->callback([options, grace, &work] {
        options->grace = std::chrono::seconds(*grace);
        work = [options] { return run(*options); };
    });
}

}  // namespace berth::cli
