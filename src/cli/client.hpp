// The way from a verb to its API server: an event loop, a clock and a connection, run to the end of one task.
// A verb is a program of one thread that waits; it holds one of these and nothing else of the kind.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/async/clock.hpp"
#include "base/async/task.hpp"
#include "base/result.hpp"
#include "cli/command.hpp"
#include "kube/api.hpp"
#include "kube/http/client.hpp"

namespace berth::cli {

class Client {
public:
    /// Finds the kubeconfig: --kubeconfig, $KUBECONFIG, /var/lib/berth/kubeconfig, ~/.kube/config.
    /// Errors  not_found: there is none, with what was tried; invalid: it cannot be used
    static Result<std::unique_ptr<Client>> open(const Target& target);
    ~Client();

    /// Runs a task to its end. SIGINT and SIGTERM cancel it after stops_on_signals().
    /// Errors  the task's; timeout: it was cancelled by a signal
    template <class T>
    Result<T> wait(Task<Result<T>> task) {
        std::optional<Result<T>> out;
        run(keep<T>(&out, std::move(task)));
        if (!out) return fail(ErrorKind::timeout, "interrupted");
        return *std::move(out);
    }

    /// Something that runs beside the next wait() and is cancelled at its end.
    void beside(std::string name, Task<void> task);

    /// From now on SIGINT and SIGTERM cancel what wait() runs instead of ending the program.
    void stops_on_signals();
    /// A signal has come since stops_on_signals().
    [[nodiscard]] bool was_stopped() const;
    /// Lets wait() work again after a signal, for cleaning up.
    void forget_stop();

    [[nodiscard]] kube::Api api();
    [[nodiscard]] kube::http::Client& http();
    [[nodiscard]] Clock& clock();
    [[nodiscard]] Executor executor();
    /// Where the verb acts: --namespace, else the context's, else "default".
    [[nodiscard]] const std::string& ns() const;
    [[nodiscard]] const std::string& server() const;

private:
    struct State;
    explicit Client(std::unique_ptr<State> state);

    void run(Task<void> task);

    template <class T>
    static Task<void> keep(std::optional<Result<T>>* out, Task<Result<T>> task) {
        Result<T> result = co_await std::move(task);
        out->emplace(std::move(result));
    }

    std::unique_ptr<State> state_;
};

/// PUT to a subresource with a JSON body. Prints the warnings of the answer to standard error. Errors  as the server's
Task<Result<void>> put_verb(kube::Api api, std::string path, std::string body);

/// Says what went wrong and, when the server does not answer, where it was looked for. Returns the exit code.
int complain_about(const std::string& what, const Error& error, const std::string& server = "");

}  // namespace berth::cli
