#include "cli/console_link.hpp"
#include "cli/demo/acts.hpp"
#include "cli/demo/guest_shell.hpp"
#include "cli/demo/machine.hpp"

namespace berth::cli {
namespace {

constexpr Duration kPatience = std::chrono::minutes(5);
constexpr const char* kQuestion = "ls -l /dev/disk/by-id; cat /proc/partitions";

}  // namespace

Task<Result<void>> placement_act(Stage& stage, std::string url) {
    CO_TRY_DO(co_await stage.client().api().create(demo_machine(url)));
    const auto runs = [&stage] {
        const kube::Document machine = stage.find(api::kVirtualMachine, kDemoMachine);
        return machine && json::text_at(*machine, "/status/printableStatus") == "Running";
    };
    std::function<bool()> until = runs;
    co_await stage.show_until(std::move(until));
    CO_TRY(
        std::unique_ptr<kube::Duplex> console,
        co_await open_console(stage.client().http(), stage.client().clock(), "default", kDemoMachine, kPatience)
    );
    GuestShell shell(std::move(console), stage.client().clock());
    CO_TRY_DO(co_await shell.await_prompt());
    stage.say("guest shell answers");
    CO_TRY(const std::string answer, co_await shell.ask(kQuestion));
    stage.quote(kQuestion, answer);
    co_return Result<void>{};
}

Task<Result<void>> end_placement_act(Stage& stage) {
    api::Key key{&api::kVirtualMachine, "default", kDemoMachine};
    const Result<void> removed = co_await stage.client().api().remove(std::move(key));
    if (!removed && removed.error().kind != ErrorKind::not_found) co_return removed;
    std::function<bool()> until = [&stage] { return stage.is_empty(); };
    co_await stage.show_until(std::move(until));
    co_return Result<void>{};
}

}  // namespace berth::cli
