// berth demo: the placement story on two nodes with a real guest, told as it happens.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "cli/console_session.hpp"
#include "cli/demo/child.hpp"
#include "cli/demo/file_server.hpp"
#include "cli/demo/timeline.hpp"
#include "cli/explain_view.hpp"
#include "cli/stop.hpp"

namespace berth::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPatience = 5min;
constexpr const char* kMachine = "db";

struct Flags {
    bool keeps = false;
    std::string data_dir;
    std::string image;
};

json::Value disk_template(const std::string& name, json::Value source, const std::string& size) {
    json::Object requests{{"storage", size}};
    return json::Object{
        {"metadata", json::Object{{"name", name}}},
        {"spec",
         json::Object{
             {"source", std::move(source)},
             {"storage", json::Object{{"storageClassName", "local"}, {"resources", json::Object{{"requests", std::move(requests)}}}}},
         }},
    };
}

// The machine of examples/vm-local-disks.yaml.
json::Value machine(const std::string& url) {
    json::Array templates, disks, volumes;
    templates.push_back(disk_template("db-root", json::Object{{"http", json::Object{{"url", url}}}}, "1Gi"));
    templates.push_back(disk_template("db-data", json::Object{{"blank", json::Object{}}}, "2Gi"));
    disks.push_back(json::Object{{"name", "root"}, {"bootOrder", 1}, {"disk", json::Object{{"bus", "virtio"}}}});
    disks.push_back(json::Object{{"name", "data"}, {"serial", "data-1"}, {"disk", json::Object{{"bus", "scsi"}}}});
    volumes.push_back(json::Object{{"name", "root"}, {"dataVolume", json::Object{{"name", "db-root"}}}});
    volumes.push_back(json::Object{{"name", "data"}, {"dataVolume", json::Object{{"name", "db-data"}}}});
    json::Object domain{{"memory", json::Object{{"guest", "128Mi"}}}, {"devices", json::Object{{"disks", std::move(disks)}}}};
    json::Object vmi_spec{{"domain", std::move(domain)}, {"volumes", std::move(volumes)}};
    return json::Object{
        {"apiVersion", "kubevirt.io/v1"},
        {"kind", "VirtualMachine"},
        {"metadata", json::Object{{"name", kMachine}, {"namespace", "default"}}},
        {"spec",
         json::Object{
             {"runStrategy", "Always"},
             {"dataVolumeTemplates", std::move(templates)},
             {"template", json::Object{{"spec", std::move(vmi_spec)}}},
         }},
    };
}

class Demo {
public:
    Demo(Client& client, Monotonic started) : client_(client), started_(started), group_(client.loop().get_executor()) {}

    Task<Result<void>> run(std::string url) {
        for (const api::Kind* kind : {&api::kVirtualMachine, &api::kVmi, &api::kDataVolume, &api::kClaim, &api::kVolume, &api::kPod}) {
            group_.spawn("watch", watch(*kind));
        }
        say("machine " + std::string(kMachine) + " applied: one disk from " + url + ", one blank");
        CO_TRY(const kube::Document made, co_await client_.api().create(machine(url)));
        const Result<void> shown = co_await show_guest();
        co_await group_.close();
        co_return shown;
    }

private:
    void say(const std::string& line) {
        const double seconds = std::chrono::duration<double>(client_.clock().monotonic() - started_).count();
        std::printf("%7.2f s  %s\n", seconds, line.c_str());
        std::fflush(stdout);
    }

    Task<void> watch(const api::Kind& kind) {
        Result<std::unique_ptr<kube::WatchStream>> stream = co_await client_.api().watch(kind, {}, {});
        if (!stream) co_return;
        for (;;) {
            const std::optional<kube::WatchEvent> event = co_await (*stream)->next();
            if (!event || event->type == "ERROR") co_return;
            if (event->type == "BOOKMARK") continue;
            for (const std::string& line : timeline_.tell(kind, *event->object, event->type == "DELETED")) say(line);
        }
    }

    // Types a command at the guest's prompt and returns what it prints.
    Task<Result<std::string>> ask(kube::Duplex& console, std::string command, std::string end) {
        std::string seen;
        CO_TRY_DO(co_await console.write(std::move(command)));
        while (seen.find(end) == std::string::npos) {
            const std::optional<std::string> bytes = co_await console.read();
            if (!bytes) co_return fail(ErrorKind::unavailable, "the console closed");
            seen += *bytes;
        }
        co_return seen;
    }

    Task<Result<void>> show_guest() {
        CO_TRY(const std::unique_ptr<kube::Duplex> console, co_await open_console(client_, kMachine, kPatience, Absent::waits));
        CO_TRY(const std::string boot, co_await ask(*console, "\n", "guest# "));
        say("the guest's shell answers");
        // The end marker is split so that the terminal's echo of the command does not match it.
        CO_TRY(const std::string answer, co_await ask(*console, "ls -l /dev/disk/by-id; cat /proc/partitions; echo DEMO''-END\n", "DEMO-END"));
        std::printf("\n--- in the guest: ls -l /dev/disk/by-id; cat /proc/partitions\n");
        std::size_t at = answer.find("echo DEMO");
        at = at == std::string::npos ? 0 : std::min(answer.find('\n', at), answer.size() - 1) + 1;
        std::string shown = answer.substr(at, answer.rfind("DEMO-END") - at);
        std::erase(shown, '\r');
        std::printf("%s---\n\n", shown.c_str());
        co_return Result<void>();
    }

    Client& client_;
    Monotonic started_;
    Timeline timeline_;
    TaskGroup group_;  // last
};

std::string program_dir() {
    char path[4096];
    const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
    const std::string program(path, length > 0 ? static_cast<std::size_t>(length) : 0);
    return program.substr(0, program.rfind('/'));
}

void explain_failure(Client& client) {
    const Timestamp now = client.clock().now();
    const Result<explain::View> view = client.wait(read_view(client.api(), "default", kMachine, now));
    if (view) std::fprintf(stderr, "\nwhere it stands:\n%s", explain::print(explain::chain(*view), now).c_str());
}

Task<Result<void>> limited(Client& client, Demo& demo, std::string url) {
    Result<void> done = fail(ErrorKind::timeout, "the guest did not answer within 5 minutes");
    const auto run = [](Demo& one, std::string from, Result<void>& out) -> Task<void> { out = co_await one.run(std::move(from)); };
    co_await finishes_within(client.clock(), kPatience, run(demo, std::move(url), done));
    co_return done;
}

int play(const Flags& flags, const std::string& data_dir, const std::string& image) {
    const SystemClock clock;
    const Monotonic started = clock.monotonic();
    auto server = FileServer::start(image);
    if (!server) return complain("demo: " + server.error().message);
    auto up = UpProcess::start(program_dir() + "/berth", data_dir);
    if (!up) return complain("demo: " + up.error().message);
    std::printf("%7.2f s  %s\n", std::chrono::duration<double>(clock.monotonic() - started).count(), (*up)->ready_line().c_str());
    Target target;
    target.kubeconfig = data_dir + "/kubeconfig";
    auto client = Client::open(target);
    if (!client) return complain("demo: " + client.error().message);
    Result<void> done;
    {
        Demo demo(**client, started);
        done = (*client)->wait(limited(**client, demo, (*server)->url()));
        if (!done) explain_failure(**client);
    }
    if (!done) complain("demo: " + done.error().message + " (log: " + data_dir + "/up.log)");
    if (flags.keeps) {
        (*up)->leave_running();
        std::printf(
            "left running:\n  export KUBECONFIG=%s/kubeconfig\n  kubectl get vm,vmi,dv,pvc,pods\n  berth explain vm %s\n  berth console %s\n"
            "and to end it:\n  berth down --data-dir %s --purge\n",
            data_dir.c_str(), kMachine, kMachine, data_dir.c_str()
        );
        return done ? kOk : kFailed;
    }
    client->reset();
    up->reset();
    const Result<void> stopped = stop_everything(data_dir, true, 30);
    if (!stopped) complain("demo: " + stopped.error().message);
    std::printf("%7.2f s  everything removed\n", std::chrono::duration<double>(clock.monotonic() - started).count());
    return done && stopped ? kOk : kFailed;
}

int run(Flags flags) {
    if (::geteuid() != 0) return complain("demo: must run as root: it mounts volumes and starts containers (try: sudo)", kUsage);
    if (flags.image.empty()) flags.image = program_dir() + "/guest/guest.qcow2";
    bool is_temporary = false;
    if (flags.data_dir.empty()) {
        char name[] = "/var/tmp/berth-demo-XXXXXX";
        if (::mkdtemp(name) == nullptr) return complain("demo: no temporary directory can be made in /var/tmp");
        flags.data_dir = name;
        ::chmod(name, 0755);
        is_temporary = true;
    }
    const int code = play(flags, flags.data_dir, flags.image);
    if (is_temporary && !flags.keeps) {
        ::unlink((flags.data_dir + "/up.log").c_str());
        ::rmdir(flags.data_dir.c_str());
    }
    return code;
}

}  // namespace

void add_demo(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("demo", "Watch a guest boot from disks that were placed, imported and bound");
    const auto flags = std::make_shared<Flags>();
    verb->add_flag("--keep", flags->keeps, "leave everything running and say how to look around");
    verb->add_option("--data-dir", flags->data_dir, "where to keep its data (default: a temporary directory)");
    verb->add_option("--image", flags->image, "the disk image to import (default: the bundled guest)");
    verb->footer("Example:\n  berth demo --keep");
    verb->callback([flags, &work] { work = [flags] { return run(*flags); }; });
}

}  // namespace berth::cli
