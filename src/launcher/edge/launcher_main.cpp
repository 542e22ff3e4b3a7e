// The launcher process: its arguments, its loop, its parts. See programs.hpp.
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/async/system/system.hpp"
#include "launcher/edge/console.hpp"
#include "launcher/edge/layout.hpp"
#include "launcher/edge/link_server.hpp"
#include "launcher/edge/pod_watch.hpp"
#include "launcher/edge/programs.hpp"
#include "launcher/plan/domain.hpp"

namespace berth::launcher {
namespace {

namespace asio = boost::asio;

// "--name value", "--name=value", "--flag".
std::map<std::string, std::string> read_flags(int argc, char** argv) {
    std::map<std::string, std::string> out;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (!argument.starts_with("--")) continue;
        const std::size_t equals = argument.find('=');
        if (equals != argument.npos) {
            out[argument.substr(2, equals - 2)] = argument.substr(equals + 1);
        } else {
            const bool has_value = i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--");
            out[argument.substr(2)] = has_value ? argv[++i] : "";
        }
    }
    return out;
}

std::string environment(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

AcceleratorChoice accelerator_here() {
    AcceleratorFacts facts;
    facts.wish = environment("BERTH_ACCEL");
    std::ifstream cpuinfo("/proc/cpuinfo");
    facts.has_virtualization = shows_virtualization(std::string(std::istreambuf_iterator<char>(cpuinfo), {}));
    const int fd = ::open("/dev/kvm", O_RDWR | O_CLOEXEC);
    facts.kvm_opens = fd >= 0;
    if (fd >= 0) ::close(fd);
    return choose_accelerator(facts);
}

Options read_options(int argc, char** argv, Log& log) {
    std::map<std::string, std::string> flags = read_flags(argc, argv);
    Options out;
    out.name = flags["name"];
    out.ns = flags["namespace"];
    out.vmi_uid = {flags["uid"]};
    out.pod_uid = {environment("POD_UID")};
    if (const long long grace = std::atoll(flags["grace-period-seconds"].c_str()); grace > 0)
        out.grace = std::chrono::seconds(grace);
    if (const long long until = std::atoll(flags["stopping-until"].c_str()); until > 0)
        out.stopping_until = Monotonic(std::chrono::milliseconds(until));
    const AcceleratorChoice choice = accelerator_here();
    out.accelerator = choice.accelerator;
    log.info(
        "accelerator chosen",
        {
            {"accelerator", std::string(to_string(choice.accelerator))},
            {"why",         choice.why                                }
    }
    );
    return out;
}

Task<void> run_launcher(Launcher& launcher, int& code, asio::io_context& context) {
    code = co_await launcher.run();
    context.stop();
}

Task<void> hear_signals(asio::signal_set& signals, Launcher& launcher) {
    while (true) {
        boost::system::error_code error;
        co_await signals.async_wait(asio::redirect_error(asio::use_awaitable, error));
        if (error) co_return;
        launcher.stop();
    }
}

}  // namespace

int launcher_main(int argc, char** argv) {
    StderrLog log("launcher", LogLevel::info);
    SystemClock clock;
    asio::io_context context(1);
    // libvirtd serves five calls of one connection at a time: these two pools together.
    ThreadPool pool(2);
    ThreadPool disk_pool(3);
    Launcher launcher({context.get_executor(), pool, disk_pool, clock, log}, read_options(argc, argv, log));
    LinkServer link(context.get_executor(), launcher, clock, log);
    Console console(context.get_executor(), launcher, clock, log);
    asio::signal_set signals(context, SIGTERM, SIGINT);
    std::signal(SIGPIPE, SIG_IGN);

    int code = 1;
    const std::function<void()> look_again = [&launcher] { launcher.look_again(); };
    TaskGroup group(context.get_executor());
    group.spawn("signals", hear_signals(signals, launcher));
    group.spawn("libvirt", launcher.keep_connected());
    group.spawn("agent link", link.run(kLinkSocket));
    group.spawn("guest console", console.read_guest(std::string(kSerialSocket), std::string(kSerialLog)));
    group.spawn("console clients", console.serve(kConsoleSocket));
    group.spawn("folders", watch_folders({std::string(kContainerDisksDir), std::string(kHotplugDisksDir)}, look_again));
    group.spawn("mounts", watch_mounts(look_again));
    group.spawn("launcher", run_launcher(launcher, code, context));
    context.run();
    // Nothing is left to save, and a call that hangs in libvirt must not keep the pod.
    std::_Exit(code);
}

}  // namespace berth::launcher
