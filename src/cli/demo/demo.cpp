// berth demo: the main job from start to finish on this machine, as a timeline.
// Two nodes; a machine whose two disks wait for their first consumer, to the shell of its guest; and a running machine
// that gets a disk, loses it and gets it back (acts.hpp).
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "base/async/task_group.hpp"
#include "cli/client.hpp"
#include "cli/demo/acts.hpp"
#include "cli/demo/file_server.hpp"
#include "cli/demo/machine.hpp"
#include "cli/demo/up_process.hpp"
#include "cli/down.hpp"
#include "cli/machine_view.hpp"
#include "explain/chain.hpp"
#include "solo/edge/files.hpp"

namespace berth::cli {
namespace {

constexpr Duration kPlayMax = std::chrono::minutes(10);
constexpr Duration kEndMax = std::chrono::minutes(1);

struct Flags {
    std::string data_dir;
    bool keeps = false;
};

std::string own_program() {
    char path[4096];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
    return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

Result<std::string> find_guest_image(const std::string& program) {
    const std::string folder = program.substr(0, program.rfind('/'));
    std::string tried;
    for (const std::string& path : {folder + "/guest/guest.qcow2", std::string("build/guest/guest.qcow2")}) {
        if (solo::exists(path)) return path;
        tried += (tried.empty() ? "" : ", ") + path;
    }
    return fail(ErrorKind::not_found, "the guest image is not there (tried " + tried + "): run ./dev build");
}

Task<void> put_into(std::optional<Result<void>>* out, Task<Result<void>> task) {
    Result<void> result = co_await std::move(task);
    out->emplace(std::move(result));
}

Task<Result<void>> within(Clock& clock, Duration limit, Task<Result<void>> task) {
    std::optional<Result<void>> out;
    Task<void> whole = put_into(&out, std::move(task));
    const bool ended = co_await finishes_within(clock, limit, std::move(whole));
    if (ended && out) co_return *std::move(out);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit).count();
    co_return fail(ErrorKind::timeout, "not done after " + std::to_string(seconds) + " s");
}

// --- Around it
// -----------------------------------------------------------------------------------------------------------

// Where the machines stand, and what the cluster said last.
void show_failure(Client& client, const std::string& data_dir) {
    client.forget_stop();
    for (const MachineName& machine : {
             MachineName{false, kDemoMachine },
             MachineName{true,  kDemoInstance}
    }) {
        const Result<explain::View> view = client.wait(gather(client.api(), client.clock(), "default", machine));
        if (view) std::fprintf(stderr, "\n%s", explain::print(explain::chain(*view), view->now).c_str());
    }
    std::fprintf(stderr, "\nThe end of the log of `berth up`:\n%s", last_lines(data_dir + "/up.log", 25).c_str());
}

void say_how_to_look_around(const std::string& data_dir) {
    std::printf(
        "The cluster is still there:\n"
        "  export KUBECONFIG=%s/kubeconfig\n"
        "  kubectl get vm,vmi,dv,pvc,pv,pods\n"
        "  berth explain vm demo\n"
        "  berth timeline vmi demo-plug\n"
        "  berth console demo\n"
        "  berth down --data-dir %s --purge     when you have seen enough\n",
        data_dir.c_str(),
        data_dir.c_str()
    );
}

// Both acts, and after each what it made goes, unless it is kept.
Task<Result<void>> act(Stage& stage, std::string url, bool keeps) {
    std::printf("A machine whose disks are made where it can run\n\n");
    CO_TRY_DO(co_await placement_act(stage, std::move(url)));
    if (!keeps) CO_TRY_DO(co_await end_placement_act(stage));
    std::printf("\nA disk for a machine that runs\n\n");
    CO_TRY_DO(co_await plug_act(stage));
    if (!keeps) CO_TRY_DO(co_await end_plug_act(stage));
    co_return Result<void>{};
}

Task<Result<void>> clean_up(Stage& stage) {
    CO_TRY_DO(co_await end_plug_act(stage));
    co_return co_await end_placement_act(stage);
}

Result<void> play(Client& client, const std::string& url, const Flags& flags) {
    Stage stage(client);
    stage.sights().watch_beside();
    const Result<void> played = client.wait(within(client.clock(), kPlayMax, act(stage, url, flags.keeps)));
    if (played || flags.keeps) return played;
    if (!client.was_stopped()) show_failure(client, flags.data_dir);
    client.forget_stop();
    stage.sights().watch_beside();
    const Result<void> ended = client.wait(within(client.clock(), kEndMax, clean_up(stage)));
    if (!ended && !client.was_stopped()) complain("demo: delete what is left: " + ended.error().message);
    return played;
}

Result<void> perform(const Flags& flags) {
    const std::string program = own_program();
    TRY(const std::string image, find_guest_image(program));
    TRY(const std::unique_ptr<FileServer> server, FileServer::start(image));
    TRY(UpProcess up, UpProcess::start(program, flags.data_dir, 2));
    std::printf("%s\n\n", up.ready_line().c_str());
    std::fflush(stdout);
    Target target;
    target.kubeconfig = flags.data_dir + "/kubeconfig";
    Result<void> done;
    auto client = Client::open(target);
    if (client) {
        (*client)->stops_on_signals();
        done = play(**client, server->url(), flags);
    } else {
        done = std::unexpected(client.error());
    }
    if (!flags.keeps) up.stop();
    return done;
}

Result<std::string> make_data_dir(const std::string& wish) {
    if (!wish.empty()) {
        // All of it is removed at the end: so nothing of anybody's may be in it.
        if (!solo::list_dir(wish).empty())
            return fail(ErrorKind::conflict, "\"" + wish + "\" is not empty: give a new folder");
        TRY_DO(solo::make_dirs(wish, 0755));
        return wish;
    }
    const char* const base = std::getenv("TMPDIR");
    std::string path = std::string(base == nullptr || *base == '\0' ? "/var/tmp" : base) + "/berth-demo-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return fail(ErrorKind::io, "make \"" + path + "\": " + std::strerror(errno));
    return path;
}

int run(Flags flags) {
    if (geteuid() != 0) {
        return complain(
            "demo: must run as root: it mounts volumes and starts containers (try: sudo berth demo)", kUsage
        );
    }
    const bool is_temporary = flags.data_dir.empty();
    const Result<std::string> made = make_data_dir(flags.data_dir);
    if (!made) return complain("demo: " + made.error().message);
    flags.data_dir = *made;
    const Result<void> done = perform(flags);
    if (!done) complain("demo: " + done.error().message);
    if (flags.keeps && solo::exists(flags.data_dir + "/kubeconfig")) {
        say_how_to_look_around(flags.data_dir);
    } else {
        DownOptions down{
            .data_dir = flags.data_dir, .grace = std::chrono::seconds(20), .purges = true, .is_quiet = true
        };
        const Result<void> cleaned = take_down(down);
        if (!cleaned) return complain("demo: clean up \"" + flags.data_dir + "\": " + cleaned.error().message);
        if (is_temporary) static_cast<void>(solo::remove_tree(flags.data_dir));
        if (done) std::printf("\nEverything is removed. `berth demo --keep` leaves it there to look around.\n");
    }
    if (!done) return done.error().kind == ErrorKind::timeout ? kTimedOut : kFailed;
    return kOk;
}

}  // namespace

void add_demo(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("demo", "Watch real guests get their disks, at boot and while they run");
    const auto flags = std::make_shared<Flags>();
    verb->add_flag("--keep", flags->keeps, "leave the cluster and the machine there, and say how to look around");
    verb->add_option(
        "--data-dir", flags->data_dir, "where to keep everything (default: a new folder below $TMPDIR or /var/tmp)"
    );
    verb->footer(
        "Starts a cluster of two nodes on a free port. First a machine gets its disks and boots, then a running "
        "machine "
        "gets a disk,\nloses it and gets it back, with what the guest sees. Needs the guest image that ./dev build "
        "makes. "
        "Takes about a minute\nwhere the processor offers no virtualization, and at most ten.\n\n"
        "Examples:\n  berth demo\n  berth demo --keep"
    );
    verb->callback([flags, &work] { work = [flags] { return run(*flags); }; });
}

}  // namespace berth::cli
