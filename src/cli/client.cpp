#include "cli/client.hpp"

#include <csignal>
#include <cstdio>

#include <boost/asio/signal_set.hpp>

#include "base/async/system/system.hpp"
#include "base/async/task_group.hpp"
#include "base/check.hpp"
#include "kube/http/kubeconfig.hpp"

namespace berth::cli {

// Members are destroyed from the last to the first: the connections go before the loop that they run on.
struct Client::State {
    boost::asio::io_context io{1};
    SystemClock clock;
    std::string ns;
    std::string server;
    std::optional<boost::asio::signal_set> signals;
    bool was_stopped = false;
    TaskGroup* running = nullptr;
    std::vector<std::pair<std::string, Task<void>>> beside;
    std::unique_ptr<kube::http::Client> http;

    void await_signal() {
        signals->async_wait([this](const boost::system::error_code& error, int) {
            if (error) return;
            was_stopped = true;
            if (running != nullptr) running->cancel();
            await_signal();
        });
    }
};

Result<std::unique_ptr<Client>> Client::open(const Target& target) {
    kube::http::ConfigSearch search = kube::http::search_of_environment();
    search.path = target.kubeconfig;
    auto config = kube::http::find_client_config(search);
    if (!config) {
        Error error = std::move(config).error();
        if (error.kind == ErrorKind::not_found && target.kubeconfig.empty() && search.variable.empty()) {
            error.message += "; tried $KUBECONFIG (not set)";
            for (const std::filesystem::path& path : search.fallbacks) error.message += ", " + path.string();
        }
        return std::unexpected(std::move(error));
    }
    auto state = std::make_unique<State>();
    state->ns = !target.ns.empty() ? target.ns : config->ns.empty() ? "default" : config->ns;
    state->server = config->server;
    config->impersonates = target.impersonates;
    TRY(state->http, kube::http::Client::make(state->io.get_executor(), state->clock, *std::move(config)));
    return std::unique_ptr<Client>(new Client(std::move(state)));
}

Client::Client(std::unique_ptr<State> state) : state_(std::move(state)) {}
Client::~Client() = default;

void Client::run(Task<void> task) {
    TaskGroup group(state_->io.get_executor());
    TaskGroup beside(state_->io.get_executor());
    state_->running = &group;
    group.spawn("verb", std::move(task));
    for (auto& [name, other] : std::exchange(state_->beside, {})) beside.spawn(name, std::move(other));
    if (state_->was_stopped) group.cancel();
    state_->io.restart();
    while (group.size() > 0) CHECK(state_->io.run_one() > 0);
    beside.cancel();
    while (beside.size() > 0) CHECK(state_->io.run_one() > 0);
    state_->running = nullptr;
}

void Client::beside(std::string name, Task<void> task) {
    state_->beside.emplace_back(std::move(name), std::move(task));
}

void Client::stops_on_signals() {
    if (state_->signals) return;
    state_->signals.emplace(state_->io.get_executor(), SIGINT, SIGTERM);
    state_->await_signal();
}

bool Client::was_stopped() const { return state_->was_stopped; }
void Client::forget_stop() { state_->was_stopped = false; }
kube::Api Client::api() { return {*state_->http, {}}; }
kube::http::Client& Client::http() { return *state_->http; }
Clock& Client::clock() { return state_->clock; }
Executor Client::executor() { return state_->io.get_executor(); }
const std::string& Client::ns() const { return state_->ns; }
const std::string& Client::server() const { return state_->server; }

Task<Result<void>> put_verb(kube::Api api, std::string path, std::string body) {
    kube::Request request;
    request.method = "PUT";
    request.path = std::move(path);
    request.headers["content-type"] = "application/json";
    request.body = std::move(body);
    CO_TRY(const kube::Response response, co_await api.raw(std::move(request)));
    if (response.code >= 300) co_return std::unexpected(kube::error_of(response));
    for (const std::string& warning : response.warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
    co_return Result<void>{};
}

int complain_about(const std::string& what, const Error& error, const std::string& server) {
    std::string message = what + ": " + error.message;
    if (error.kind == ErrorKind::unavailable && !server.empty()) {
        message += " (" + server + " of the kubeconfig; start it with `berth up`, or give --kubeconfig)";
    }
    return complain(message, error.kind == ErrorKind::timeout ? kTimedOut : kFailed);
}

}  // namespace berth::cli
