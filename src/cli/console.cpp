// berth console: the serial console of a machine, in this terminal.
#include <cstdio>

#include <termios.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "cli/console_session.hpp"

namespace berth::cli {
namespace {

namespace asio = boost::asio;

constexpr char kLeave = 0x1d;  // Ctrl-]

struct Flags {
    Target target;
    std::string name;
    int timeout_minutes = 5;
};

// The terminal passes every key on while this lives.
class RawTerminal {
public:
    RawTerminal() : is_terminal_(::isatty(STDIN_FILENO) == 1 && ::tcgetattr(STDIN_FILENO, &before_) == 0) {
        if (!is_terminal_) return;
        termios raw = before_;
        ::cfmakeraw(&raw);
        ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    ~RawTerminal() {
        if (is_terminal_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    RawTerminal(const RawTerminal&) = delete;
    RawTerminal& operator=(const RawTerminal&) = delete;

private:
    termios before_{};
    bool is_terminal_;
};

Task<void> print_output(kube::Duplex& console) {
    for (;;) {
        const std::optional<std::string> bytes = co_await console.read();
        if (!bytes) co_return;
        std::fwrite(bytes->data(), 1, bytes->size(), stdout);
        std::fflush(stdout);
    }
}

Task<void> send_input(asio::io_context& loop, kube::Duplex& console) {
    asio::posix::stream_descriptor input(loop, ::dup(STDIN_FILENO));
    char bytes[1024];
    for (;;) {
        boost::system::error_code error;
        const std::size_t count = co_await input.async_read_some(asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, error));
        std::string text(bytes, count);
        const std::size_t leave = text.find(kLeave);
        if (leave != std::string::npos) text.resize(leave);
        if (!text.empty()) {
            const Result<void> sent = co_await console.write(std::move(text));
            if (!sent) co_return;
        }
        if (error || leave != std::string::npos) co_return;
    }
}

Task<Result<void>> talk(Client& client, std::string name, Duration patience) {
    CO_TRY(const std::unique_ptr<kube::Duplex> console, co_await open_console(client, name, patience));
    std::fprintf(stderr, "Successfully connected to %s console. The escape sequence is ^]\n", name.c_str());
    const RawTerminal terminal;
    co_await finishes_before(send_input(client.loop(), *console), print_output(*console));
    co_return Result<void>();
}

int run(const Flags& flags) {
    auto client = Client::open(flags.target);
    if (!client) return complain(client.error().message);
    const Result<void> talked = (*client)->wait(talk(**client, flags.name, std::chrono::minutes(flags.timeout_minutes)));
    if (!talked) return complain("console " + flags.name + ": " + talked.error().message, talked.error().kind == ErrorKind::timeout ? kTimedOut : kFailed);
    return kOk;
}

}  // namespace

Task<Result<std::unique_ptr<kube::Duplex>>> open_console(Client& client, std::string vmi, Duration patience, Absent absent) {
    const Monotonic end = client.clock().monotonic() + patience;
    const std::string path = "/apis/subresources.kubevirt.io/v1/namespaces/" + client.ns() + "/virtualmachineinstances/" + vmi + "/console";
    for (;;) {
        auto opened = co_await client.http().open_websocket(path, {}, "plain.kubevirt.io");
        if (opened) co_return std::move(*opened);
        const bool may_come = opened.error().code == 400 || (opened.error().code == 404 && absent == Absent::waits);
        if (!may_come) co_return std::unexpected(opened.error().error);
        if (client.clock().monotonic() > end) co_return fail(ErrorKind::timeout, "the machine does not run: " + opened.error().error.message);
        co_await client.clock().sleep_for(std::chrono::milliseconds(200));
    }
}

void add_console(CLI::App& app, Work& work) {
    auto* const verb = app.add_subcommand("console", "Connect to the serial console of a machine");
    const auto flags = std::make_shared<Flags>();
    verb->add_option("vmi", flags->name, "name of the machine")->required();
    verb->add_option("--timeout", flags->timeout_minutes, "minutes to wait until it runs")->capture_default_str();
    add_target(*verb, flags->target);
    verb->footer("Leave with Ctrl-]. Input that is not a terminal is typed as it is.\n\nExamples:\n  berth console db\n  echo uptime | berth console db");
    verb->callback([flags, &work] { work = [flags] { return run(*flags); }; });
}

}  // namespace berth::cli
