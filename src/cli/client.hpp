// The way from a verb to the API server: one connection, used from start to end of a command.
#pragma once

#include <optional>

#include <boost/asio/io_context.hpp>

#include "base/async/system/system.hpp"
#include "base/async/task_group.hpp"
#include "cli/command.hpp"
#include "kube/api.hpp"
#include "kube/http/client.hpp"

namespace berth::cli {

class Client {
public:
    /// Errors  not_found: no kubeconfig anywhere, with what was tried; invalid: it cannot be used
    static Result<std::unique_ptr<Client>> open(const Target& target);

    /// Runs a task to its end.
    template <class T>
    T wait(Task<T> task) {
        std::optional<T> out;
        group_.spawn("command", keep(std::move(task), out));
        while (!out && loop_.run_one() > 0) {
        }
        return std::move(*out);
    }

    [[nodiscard]] kube::Api api() { return {*http_, {}}; }
    [[nodiscard]] kube::http::Client& http() { return *http_; }
    [[nodiscard]] Clock& clock() { return clock_; }
    [[nodiscard]] boost::asio::io_context& loop() { return loop_; }
    /// The namespace to act in.
    [[nodiscard]] const std::string& ns() const { return ns_; }

private:
    explicit Client(std::string ns) : ns_(std::move(ns)), group_(loop_.get_executor()) {}

    template <class T>
    static Task<void> keep(Task<T> task, std::optional<T>& out) {
        T value = co_await std::move(task);
        out.emplace(std::move(value));
    }

    boost::asio::io_context loop_{1};
    SystemClock clock_;
    std::string ns_;
    std::unique_ptr<kube::http::Client> http_;
    TaskGroup group_;
};

/// Prints a document as -o asks for it.
void print_document(const json::Value& document, const std::string& output);

}  // namespace berth::cli
