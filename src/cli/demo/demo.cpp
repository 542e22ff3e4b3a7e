// berth demo: the main job from start to finish on this machine, as a timeline.
// Two nodes, a machine whose two disks wait for their first consumer, and its guest's shell at the end.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <unistd.h>

#include "base/async/task_group.hpp"
#include "cli/client.hpp"
#include "cli/console_link.hpp"
#include "cli/demo/file_server.hpp"
#include "cli/demo/guest_shell.hpp"
#include "cli/demo/machine.hpp"
#include "cli/demo/sights.hpp"
#include "cli/demo/timeline.hpp"
#include "cli/demo/up_process.hpp"
#include "cli/down.hpp"
#include "cli/machine_view.hpp"
#include "solo/edge/files.hpp"

namespace berth::cli {
namespace {

constexpr Duration kPlayMax = std::chrono::minutes(5);
constexpr Duration kEndMax = std::chrono::minutes(1);
constexpr const char* kQuestion = "ls -l /dev/disk/by-id; cat /proc/partitions";

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

// --- The play
// ------------------------------------------------------------------------------------------------------------

class Play {
public:
    explicit Play(Client& client) : client_(client), sights_(client), began_(client.clock().monotonic()) {}

    Sights& sights() { return sights_; }

    /// Applies the machine and shows what happens until its guest answers.
    Task<Result<void>> run(std::string url) {
        CO_TRY_DO(co_await client_.api().create(demo_machine(url)));
        while (!runs()) co_await show_next();
        CO_TRY(
            std::unique_ptr<kube::Duplex> console,
            co_await open_console(client_.http(), client_.clock(), "default", kDemoMachine, kPlayMax)
        );
        GuestShell shell(std::move(console), client_.clock());
        CO_TRY_DO(co_await shell.await_prompt());
        say("guest shell answers");
        CO_TRY(const std::string answer, co_await shell.ask(kQuestion));
        std::printf("\nguest# %s\n%s\n", kQuestion, answer.c_str());
        std::fflush(stdout);
        co_return Result<void>{};
    }

    /// Deletes the machine and shows what goes, until nothing of it is left.
    Task<Result<void>> end() {
        api::Key key{&api::kVirtualMachine, "default", kDemoMachine};
        const Result<void> removed = co_await client_.api().remove(std::move(key));
        if (!removed && removed.error().kind != ErrorKind::not_found) co_return removed;
        while (has_something_left()) co_await show_next();
        co_return Result<void>{};
    }

private:
    void say(const std::string& step) {
        const std::chrono::duration<double> elapsed = client_.clock().monotonic() - began_;
        std::printf("%8.2f s  %s\n", elapsed.count(), step.c_str());
        std::fflush(stdout);
    }
    Task<void> show_next() {
        const Sight sight = co_await sights_.next();
        for (const std::string& step : steps_between(*sight.kind, sight.before.get(), sight.after.get())) say(step);
    }
    [[nodiscard]] bool runs() const {
        const kube::Document machine = sights_.find(api::kVirtualMachine, kDemoMachine);
        return machine && json::text_at(*machine, "/status/printableStatus") == "Running";
    }
    [[nodiscard]] bool has_something_left() const {
        for (const api::Kind* kind :
             {&api::kVirtualMachine, &api::kVmi, &api::kDataVolume, &api::kClaim, &api::kVolume, &api::kPod}) {
            if (sights_.count(*kind) > 0) return true;
        }
        return false;
    }

    Client& client_;
    Sights sights_;
    Monotonic began_;
};

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

// Where the machine stands, and what the cluster said last.
void show_failure(Client& client, const std::string& data_dir) {
    client.forget_stop();
    const Result<explain::View> view =
        client.wait(gather(client.api(), client.clock(), "default", MachineName{false, kDemoMachine}));
    if (view) std::fprintf(stderr, "\n%s", explain::print(explain::chain(*view), view->now).c_str());
    std::fprintf(stderr, "\nThe end of the log of `berth up`:\n%s", last_lines(data_dir + "/up.log", 25).c_str());
}

void say_how_to_look_around(const std::string& data_dir) {
    std::printf(
        "The cluster is still there:\n"
        "  export KUBECONFIG=%s/kubeconfig\n"
        "  kubectl get vm,vmi,dv,pvc,pv,pods\n"
        "  berth explain vm demo\n"
        "  berth console demo\n"
        "  berth down --data-dir %s --purge     when you have seen enough\n",
        data_dir.c_str(),
        data_dir.c_str()
    );
}

Result<void> play(Client& client, const std::string& url, const Flags& flags) {
    Play drama(client);
    drama.sights().watch_beside();
    Result<void> played = client.wait(within(client.clock(), kPlayMax, drama.run(url)));
    if (!played && !client.was_stopped()) show_failure(client, flags.data_dir);
    if (flags.keeps) return played;
    client.forget_stop();
    drama.sights().watch_beside();
    const Result<void> ended = client.wait(within(client.clock(), kEndMax, drama.end()));
    if (!played || ended) return played;
    if (!client.was_stopped()) show_failure(client, flags.data_dir);
    return fail(ended.error().kind, "delete the machine: " + ended.error().message);
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
    auto* const verb = app.add_subcommand("demo", "Watch a real guest get its disks and boot, from start to finish");
    const auto flags = std::make_shared<Flags>();
    verb->add_flag("--keep", flags->keeps, "leave the cluster and the machine there, and say how to look around");
    verb->add_option(
        "--data-dir", flags->data_dir, "where to keep everything (default: a new folder below $TMPDIR or /var/tmp)"
    );
    verb->footer(
        "Starts a cluster of two nodes on a free port. Needs the guest image that ./dev build makes. Takes about half "
        "a minute\n"
        "where the processor offers no virtualization, and at most five.\n\n"
        "Examples:\n  berth demo\n  berth demo --keep"
    );
    verb->callback([flags, &work] { work = [flags] { return run(*flags); }; });
}

}  // namespace berth::cli
