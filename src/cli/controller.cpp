// berth controller: the rules of machines and disks as a process of their own, against any API server.
#include <csignal>
#include <cstdio>

#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "cli/client.hpp"
#include "controllers/datavolume.hpp"
#include "controllers/placement.hpp"

namespace berth::cli {
namespace {

Task<Result<void>> until_stopped(Client& client, bool is_verbose) {
    StderrLog log("controller", is_verbose ? LogLevel::debug : LogLevel::warn);
    SystemEntropy entropy;
    kube::Engine engine(client.loop().get_executor(), client.clock(), entropy, log, client.api());
    const placement::Config config = placement::solo_config();
    controllers::add_vm_controller(engine, config);
    controllers::add_vmi_controller(engine, config);
    controllers::add_datavolume_controllers(engine);
    TaskGroup group(client.loop().get_executor());
    group.spawn("engine", engine.run());
    co_await engine.synced();
    std::printf("berth controller ready\n");
    std::fflush(stdout);
    boost::asio::signal_set signals(client.loop(), SIGINT, SIGTERM);
    co_await signals.async_wait(boost::asio::use_awaitable);
    co_await group.close();
    co_return Result<void>();
}

}  // namespace

void add_controller(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("controller", "Run the controllers of machines and disks against an API server");
    const auto target = std::make_shared<Target>();
    const auto is_verbose = std::make_shared<bool>(false);
    add_target(*verb, *target);
    verb->add_flag("-v,--verbose", *is_verbose, "log every plan");
    verb->footer("Example:\n  berth controller --kubeconfig /var/lib/berth/kubeconfig");
    verb->callback([target, is_verbose, &work] {
        work = [target, is_verbose] {
            auto client = Client::open(*target);
            if (!client) return complain(client.error().message);
            const Result<void> done = (*client)->wait(until_stopped(**client, *is_verbose));
            return done ? static_cast<int>(kOk) : complain(done.error().message);
        };
    });
}

}  // namespace berth::cli
