#include "roles/up/up.hpp"

#include <csignal>
#include <cstdio>
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "kube/http/kubeconfig.hpp"
#include "kube/http/listener.hpp"
#include "kube/http/pki.hpp"
#include "roles/up/cluster.hpp"

namespace berth::roles {
namespace {

namespace asio = boost::asio;
namespace http = kube::http;

constexpr std::size_t kThreads = 8;

struct Running {
    asio::io_context loop{1};
    ThreadPool blocking{kThreads};
    SystemClock clock;
    SystemEntropy entropy;
    Monotonic started = clock.monotonic();
    int exit_code = 0;
};

int complain(const std::string& message) {
    std::fprintf(stderr, "berth: up: %s\n", message.c_str());
    return 1;
}

// An address as a URL has it.
std::string url_of(const std::string& address, std::uint16_t port) {
    const bool is_v6 = address.find(':') != std::string::npos;
    const std::string host = address == "0.0.0.0" || address == "::" ? "127.0.0.1"
                             : is_v6                                 ? "[" + address + "]"
                                                                     : address;
    return "https://" + host + ":" + std::to_string(port);
}

Task<void> wait_for_signal(asio::io_context& loop) {
    asio::signal_set signals(loop, SIGINT, SIGTERM);
    co_await signals.async_wait(asio::use_awaitable);
}

Result<void> write_pid(const std::string& data_dir) {
    std::ofstream file(data_dir + "/up.pid");
    file << ::getpid() << "\n";
    if (!file.flush()) return fail(ErrorKind::io, "write \"" + data_dir + "/up.pid\"");
    return {};
}

Task<Result<void>> serve(Running& running, const UpOptions& options, solo::DataDir data, StderrLog& log) {
    const std::string path = data.paths().path;
    CO_TRY(
        const http::Pki pki,
        http::load_or_create_pki(
            path + "/pki", {options.address == "0.0.0.0" ? "127.0.0.1" : options.address}, running.clock.now()
        )
    );
    CO_TRY_DO(write_pid(path));
    Cluster cluster(running.loop.get_executor(), running.blocking, log, options, std::move(data));
    const Result<void> opened = co_await cluster.open(pki.authority_pem);
    CO_TRY_DO(opened);

    http::ListenerOptions listen;
    listen.address = options.address;
    listen.port = options.port;
    listen.certificate_pem = pki.server.certificate_pem;
    listen.private_key_pem = pki.server.key_pem;
    listen.client_ca_pem = pki.authority_pem;
    http::Listener listener(
        running.loop.get_executor(), cluster.handler(), running.clock, running.entropy, log, std::move(listen)
    );
    CO_TRY(const std::uint16_t port, listener.listen());

    http::ClientConfig config;
    config.server = url_of(options.address, port);
    config.ca_pem = pki.authority_pem;
    config.certificate_pem = pki.admin.certificate_pem;
    config.key_pem = pki.admin.key_pem;
    CO_TRY_DO(http::write_kubeconfig(path + "/kubeconfig", "berth", config));

    TaskGroup group(running.loop.get_executor());
    group.spawn("listener", listener.run());
    group.spawn("cluster", cluster.run());
    const double seconds = std::chrono::duration<double>(running.clock.monotonic() - running.started).count();
    std::printf(
        "berth ready in %.2f s: %s  export KUBECONFIG=%s/kubeconfig\n", seconds, config.server.c_str(), path.c_str()
    );
    std::fflush(stdout);
    co_await wait_for_signal(running.loop);
    std::printf("berth stops; guests go on running (`berth down --data-dir %s` stops them)\n", path.c_str());
    std::fflush(stdout);
    co_await listener.close();
    co_await group.close();
    co_await cluster.close();
    ::unlink((path + "/up.pid").c_str());
    co_return Result<void>();
}

Task<void> run(Running& running, const UpOptions& options, solo::DataDir data, StderrLog& log) {
    const Result<void> served = co_await serve(running, options, std::move(data), log);
    if (!served) running.exit_code = complain(served.error().message);
    running.loop.stop();
}

}  // namespace

int up(UpOptions options) {
    std::signal(SIGPIPE, SIG_IGN);
    ::umask(022);
    StderrLog log("up", options.is_verbose ? LogLevel::debug : LogLevel::warn);
    const launcher::AcceleratorChoice accelerator = accelerator_here(options.accelerator);
    // From here on it is what the nodes tell their launchers.
    options.accelerator = launcher::to_string(accelerator.accelerator);
    log.info(
        "accelerator chosen",
        {
            {"accelerator", options.accelerator},
            {"reason",      accelerator.why    }
    }
    );
    Result<solo::DataDir> data = solo::DataDir::open(options.data_dir, "/proc/self/exe");
    if (!data) return complain(data.error().message);
    Running running;
    TaskGroup group(running.loop.get_executor());
    group.spawn("up", run(running, options, std::move(*data), log));
    running.loop.run();
    return running.exit_code;
}

}  // namespace berth::roles
